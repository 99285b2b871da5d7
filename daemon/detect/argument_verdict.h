/* SPDX-License-Identifier: Apache-2.0 */
/* What the arguments of a sampled call say of it; argument_rule.h finds it out. */
#ifndef PIEPROFD_DAEMON_DETECT_ARGUMENT_VERDICT_H
#define PIEPROFD_DAEMON_DETECT_ARGUMENT_VERDICT_H

enum argument_verdict {
	ARGUMENT_UNKNOWN,   /* nothing could be compared */
	ARGUMENT_NEEDED,    /* compared, and different: cleared */
	ARGUMENT_INVARIANT, /* in its loop */
	ARGUMENT_REPEATED,  /* a function of the program's own, or called outside of a loop */
	ARGUMENT_FEW,       /* sets of arguments, in turn */
	ARGUMENT_GROWING,
	ARGUMENT_ELEMENTS,
	ARGUMENT_SCALARS,  /* accumulated by library calls on single numbers */
	ARGUMENT_SEARCHED, /* a list, from its beginning */
	ARGUMENT_CUT,      /* a sequence, of which what is left is copied */
	ARGUMENT_SLOW,     /* a function that has a faster counterpart (slow_call.h) */
	ARGUMENT_SORTED,   /* all of it, again in each call */
	ARGUMENT_END,      /* all is sorted, and one end of it is taken */
	ARGUMENT_IN_TURN,  /* as FEW, of arguments that are no keys of a cache */
	ARGUMENT_FEW_HELD, /* as FEW, beside one that is no key, and stays what it is */
	ARGUMENT_SCANNED,  /* a list, for what is below or above something, again for each value */
	ARGUMENT_COMMON,   /* computed before, from the same variables */
	ARGUMENT_VERDICT_COUNT
};

#endif
