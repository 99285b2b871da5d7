/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is left of the time of a finding when it is mended, where that depends on how much
 * there is to do: a loop over twelve numbers gains little from one call for all of them.
 * Measured, on CPython 3.11 with numpy 2.4 (docs/MEASURED.md, "Loops over few elements"). Pure.
 */
#ifndef PIEPROFD_DAEMON_DETECT_ARGUMENT_PART_H
#define PIEPROFD_DAEMON_DETECT_ARGUMENT_PART_H

#include "daemon/detect/argument_log.h"

/* Of the time that a verdict speaks for, what its fix saves; low and high: with the error of that.
 */
struct saved_part {
	double middle, low, high;
};

/* Of a site that takes elements one by one, in loops of so many rounds each (innermost first; 0:
 * unknown). */
struct saved_part argument_part_of_elements(const struct argument_site *site,
					    const uint64_t trips[OPERAND_LOOPS_MAX]);

/* Of a library's call on single numbers, made for each element of loops of so many rounds. */
struct saved_part argument_part_of_scalars(const uint64_t trips[OPERAND_LOOPS_MAX]);

/* Of a slow call; 0: none. */
struct saved_part argument_part_of_slow(uint8_t slow);

/* Of calls of which such a share, of so many that were compared, repeats the one before, or all in
 * a loop of so many rounds do; 0: not known. */
struct saved_part argument_part_of_repeats(double repeated, uint32_t compared, uint64_t trips);

/*
 * Of calls that come back after others, as rows of them show: all but the first of each, where they
 * come back from as far as a row reaches; those that were met again, where they come back at once
 * and no later.
 */
struct saved_part argument_part_of_few(const struct argument_site *site);

#endif
