/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/detect/argument_vote.h"

struct saved_part argument_summary_part(const struct argument_summary *summary,
					enum argument_verdict verdict)
{
	switch (verdict) {
	case ARGUMENT_ELEMENTS:
	case ARGUMENT_SCALARS:
		return summary->elements.middle > 0 ? summary->elements
						    : argument_part_of_repeats(0, 0, 0);
	case ARGUMENT_SLOW:
		return summary->slow.middle > 0 ? summary->slow : argument_part_of_repeats(0, 0, 0);
	case ARGUMENT_INVARIANT:
	case ARGUMENT_REPEATED:
		return argument_part_of_repeats(summary->repeated, summary->repeated_of,
						summary->trips);
	case ARGUMENT_FEW:
		return summary->few.middle > 0 ? summary->few : argument_part_of_repeats(0, 0, 0);
	default:
		return argument_part_of_repeats(0, 0, 0);
	}
}
