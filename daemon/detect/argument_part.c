/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/detect/argument_part.h"

#include "daemon/detect/interval.h"
#include "daemon/detect/slow_call.h"

#include <math.h>
#include <string.h>

/*
 * One call of numpy for a whole array costs as much as the same on so many single elements; the
 * middle, and the ends of what was seen.
 */
#define ELEMENTS_A_CALL      8.0
#define ELEMENTS_A_CALL_LOW  5.0
#define ELEMENTS_A_CALL_HIGH 15.0
/* Of an element and an array each round is such a call already: the innermost loop's go. */
#define ROUNDS_A_CALL      1.7
#define ROUNDS_A_CALL_LOW  1.0
#define ROUNDS_A_CALL_HIGH 4.0
/* On single numbers it is hardly more than such a call. */
#define SCALARS_A_CALL 1.5
/* Of how often calls repeat: four times of five the share lies in the interval. */
#define REPEATS_QUANTILE 1.2815515655446004
/* Equal calls so far apart as half a row are no fewer than chance would have it. */
#define NONE_FAR_CHANCE 0.05
/* Something is saved in any case, or nobody would write it so. */
#define PART_MIN 0.05

static double part_of(double calls, double rounds)
{
	return fmax(PART_MIN, 1 - calls / rounds);
}

/* Single elements of the standard library's arrays: min(), sum() and comprehensions over a slice
 * still make an object of each. */
static const struct saved_part part_of_buffer = { 0.6, 0.2, 0.9 };
static const struct saved_part all_of_it = { 1, 1, 1 };

static bool is_buffer(const struct argument_site *site)
{
	for (size_t i = 0; i < site->operand_count; i++) {
		const struct argument_operand *operand = &site->operands[i];

		if (operand->role == OPERAND_CONTAINER &&
		    (operand->kind == CONTENT_BYTES || operand->kind == CONTENT_BYTEARRAY ||
		     operand->kind == CONTENT_BUFFER))
			return true;
	}
	return false;
}

/* x[i] * array */
static bool works_on_array(const struct argument_site *site)
{
	for (size_t i = 0; site->kind == OPERATION_BINARY && i < site->operand_count; i++)
		if (site->operands[i].kind == CONTENT_ARRAY)
			return true;
	return false;
}

/* x[i, j] takes an element for each round of two loops. */
static size_t index_count(const struct argument_site *site)
{
	for (size_t i = 0; i < site->operand_count; i++)
		if (site->operands[i].role == OPERAND_INDEX &&
		    site->operands[i].kind == CONTENT_TUPLE && site->operands[i].size)
			return site->operands[i].size;
	return 1;
}

static double all_rounds(const uint64_t trips[OPERAND_LOOPS_MAX], size_t loops)
{
	double rounds = 1;

	for (size_t i = 0; i < loops && i < OPERAND_LOOPS_MAX && trips[i]; i++)
		rounds *= (double)trips[i];
	return rounds;
}

struct saved_part argument_part_of_elements(const struct argument_site *site,
					    const uint64_t trips[OPERAND_LOOPS_MAX])
{
	double inner = all_rounds(trips, index_count(site));
	double nest = all_rounds(trips, OPERAND_LOOPS_MAX);

	if (is_buffer(site))
		return part_of_buffer;
	if (!trips[0])
		return all_of_it;
	if (works_on_array(site))
		return (struct saved_part){
			.middle = part_of(ROUNDS_A_CALL, (double)trips[0]),
			.low = part_of(ROUNDS_A_CALL_HIGH, (double)trips[0]),
			.high = part_of(ROUNDS_A_CALL_LOW, (double)trips[0]),
		};
	/* Whether one call can do the work of the loops around, too, is not known. */
	return (struct saved_part){
		.middle = (part_of(ELEMENTS_A_CALL, inner) + part_of(ELEMENTS_A_CALL, nest)) / 2,
		.low = part_of(ELEMENTS_A_CALL_HIGH, inner),
		.high = part_of(ELEMENTS_A_CALL_LOW, nest),
	};
}

struct saved_part argument_part_of_scalars(const uint64_t trips[OPERAND_LOOPS_MAX])
{
	double part = trips[0] ? part_of(SCALARS_A_CALL, (double)trips[0]) : 1;

	return (struct saved_part){ part, part, part };
}

struct saved_part argument_part_of_slow(uint8_t slow)
{
	double part = slow ? slow_call_get(slow)->saved : 1;

	if (part >= 1)
		return all_of_it;
	/* As far from nothing as from all: what the other way costs differs. */
	return (struct saved_part){ part, part * part, sqrt(part) };
}

struct saved_part argument_part_of_repeats(double repeated, uint32_t compared, uint64_t trips)
{
	double part = repeated > 0 ? repeated : trips ? 1 - 1 / (double)trips : 1;
	struct interval chance = { part, part };

	if (repeated > 0 && compared)
		chance = interval_score((uint64_t)llround(repeated * compared), compared,
					REPEATS_QUANTILE);
	return (struct saved_part){ part, fmin(chance.low, part), fmax(chance.high, part) };
}

/* The chance that of alike equal pairs so few are far apart, did distance not matter. */
static double chance_of_so_few(uint32_t far_alike, uint32_t alike, double far_part)
{
	double chance = 0, term = pow(1 - far_part, alike);

	for (uint32_t k = 0; k <= far_alike; k++) {
		chance += term;
		term *= (double)(alike - k) / (k + 1) * far_part / (1 - far_part);
	}
	return chance;
}

struct saved_part argument_part_of_few(const struct argument_site *site)
{
	double far_part = site->row_pairs ? (double)site->row_far_pairs / site->row_pairs : 0;
	struct saved_part part;

	if (!site->row_calls || far_part <= 0 ||
	    chance_of_so_few(site->row_far_alike, site->row_alike, far_part) >= NONE_FAR_CHANCE)
		return all_of_it;
	part = argument_part_of_repeats((double)site->row_hits / site->row_calls, site->row_calls,
					0);
	/* Later than a row reaches they may come back, too. */
	part.high = 1;
	return part;
}
