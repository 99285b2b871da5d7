/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that are about to begin, one after the other (argument_watch.h). */
#include "attach/lookahead.h"
#include "daemon/detect/argument_compared.h"
#include "daemon/detect/argument_element.h"
#include "daemon/detect/argument_note.h"
#include "daemon/detect/argument_sampler.h"
#include "daemon/detect/argument_sampler_internal.h"

#include <stdlib.h>

/*
 * The interpreter reads an instruction ahead: it may have pushed nothing yet of
 * what the one before leaves on the evaluation stack.
 */
static bool stores_to_come(const struct argument_sampler *sampler, const struct capture *capture,
			   struct operand_store ret_stores[LOOKAHEAD_STORES_MAX], size_t *ret_count)
{
	struct lookahead_store stores[LOOKAHEAD_STORES_MAX];

	if (lookahead_stores(&capture->registers, &sampler->target->code, &capture->stack,
			     &sampler->target->reader, stores, ret_count))
		return false;
	for (size_t i = 0; i < *ret_count; i++)
		ret_stores[i] = (struct operand_store){ stores[i].address, stores[i].size,
							stores[i].value, stores[i].known };
	return true;
}

/* Where a call begins, what an iterator goes over was looked into, or enough of it to tell of the
 * rest. What lies too deep in it, as a list in zip() in a generator, may be any. */
static bool are_iterators_known(const struct argument_site *site)
{
	for (size_t i = 0; i < site->operand_count; i++) {
		const struct argument_operand *operand = &site->operands[i];

		if ((operand->kind == CONTENT_ITERATOR || operand->kind == CONTENT_GENERATOR) &&
		    !operand->whole && !operand->spread)
			return false;
	}
	return true;
}

/* As note_frame() does, of the innermost frame's. False: some cannot be compared. */
static bool compare_values(struct argument_sampler *sampler, const struct capture *capture,
			   uint8_t kind, struct values values,
			   struct argument_contents *ret_contents)
{
	struct argument_frame noted = { .contents = capture->python.frames[0].code->id };
	struct argument_site site = { .kind = kind,
				      .operand_count = values.count < ARGUMENT_OPERANDS_MAX
							       ? values.count
							       : ARGUMENT_OPERANDS_MAX };
	size_t object = 0, first;

	argument_sampler_read_contents(sampler, &values, 1, true);
	argument_sampler_note_query(sampler, &site, &values, object);
	for (size_t k = 0; k < site.operand_count; k++)
		argument_sampler_note_value(sampler, &noted, &site, &values, k, &object);
	argument_note_range(&noted, &site);
	first = argument_first_given(&site);
	*ret_contents = (struct argument_contents){
		noted.contents, noted.objects,
		noted.largest,  noted.sketch,
		noted.part,     first < site.operand_count ? noted.operands[first] : 0,
	};
	return !argument_is_foreign(&site) && !argument_calls_cache(&site) &&
	       are_iterators_known(&site) && noted.flags & ARGUMENT_DATA &&
	       !(noted.flags & ARGUMENT_OPAQUE);
}

bool argument_sampler_read_next(struct argument_sampler *sampler, const struct capture *capture,
				int offset, struct argument_contents *ret_contents)
{
	const struct python_frame *frame = &capture->python.frames[0];
	struct operand_store stores[LOOKAHEAD_STORES_MAX];
	struct operand_sample *sample = &sampler->operand_samples[0];
	size_t store_count;

	if (!stores_to_come(sampler, capture, stores, &store_count) ||
	    operand_reader_read_next(sampler->operands, frame, offset, stores, store_count,
				     sample) ||
	    sample->error)
		return false;
	return compare_values(
		sampler, capture, sample->kind,
		(struct values){ .items = sample->operands, .count = sample->operand_count },
		ret_contents);
}

bool argument_sampler_is_called_from(const struct argument_sampler *sampler,
				     const struct capture *capture, uint32_t id)
{
	const struct argument_site *site = &sampler->log.sites[id];
	const struct python_frame *caller = &capture->python.frames[1];

	/* Who awaits has called elsewhere. */
	if (site->offset == ARGUMENT_ENTRY || site->awaits)
		return true;
	return capture->python.count > 1 && caller->code == site->code &&
	       caller->instruction_offset == site->offset;
}

bool argument_sampler_read_entry(struct argument_sampler *sampler, const struct capture *capture,
				 struct argument_contents *ret_contents)
{
	struct operand_sample *sample = &sampler->operand_samples[0];
	const size_t innermost = 0;

	if (operand_reader_read(sampler->operands, &capture->python, &innermost, 1, sample) ||
	    !sample->argument_count)
		return false;
	return compare_values(sampler, capture, OPERATION_CALL,
			      (struct values){ .items = sample->arguments,
					       .count = sample->argument_count,
					       .callee = capture->python.frames[innermost].code },
			      ret_contents);
}

void argument_sampler_compared(struct argument_sampler *sampler, uint32_t id,
			       struct argument_contents contents, struct argument_contents before)
{
	argument_site_compared(&sampler->log.sites[id], contents, before);
}

static int compare_gaps(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The middle one: a pass that ends within the row makes one of them long. */
static uint64_t middle_gap(const uint64_t *running_ns, unsigned count)
{
	uint64_t gaps[ARGUMENT_ROW_MAX] = { 0 };

	for (unsigned i = 1; i < count; i++)
		gaps[i - 1] = running_ns[i] - running_ns[i - 1];
	qsort(gaps, count - 1, sizeof(*gaps), compare_gaps);
	return gaps[(count - 1) / 2];
}

void argument_sampler_row(struct argument_sampler *sampler, uint32_t site,
			  const struct argument_contents *contents, const uint64_t *running_ns,
			  unsigned count)
{
	struct argument_site *row = &sampler->log.sites[site];
	unsigned half = (count > ARGUMENT_ROW ? ARGUMENT_ROW_MAX : ARGUMENT_ROW) / 2;
	uint32_t alike = 0;

	for (unsigned i = 0; i < count; i++) {
		bool hit = false;

		for (unsigned k = 0; k < i; k++) {
			bool same = contents[i].number == contents[k].number;
			bool held = contents[i].objects == contents[k].objects;
			bool far = i - k >= half;

			alike += same;
			hit |= same;
			row->row_far_pairs += far;
			row->row_far_alike += far && same;
			row->row_held += same && held;
			row->row_changed += held && !same;
		}
		row->row_hits += hit;
		if (i)
			argument_sampler_compared(sampler, site, contents[i], contents[i - 1]);
	}
	row->row_calls += count;
	row->row_gaps_ns += middle_gap(running_ns, count);
	row->row_gaps++;
	row->row_pairs += count * (count - 1) / 2;
	row->row_alike += alike;
	row->row_recurring += alike > 0;
}
