/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much CPU time lies between two samples: what was asked for, or longer where
 * stops are dear. Pure.
 */
#ifndef PIEPROFD_DAEMON_SESSION_PERIOD_H
#define PIEPROFD_DAEMON_SESSION_PERIOD_H

#include <stdbool.h>
#include <stdint.h>

struct period {
	uint64_t wanted_ns, longest_ns;
	bool planned; /* it has been set by what stops cost, and no longer by a guess */
	/* The last look back. */
	uint64_t balanced_ns;
	uint64_t offers, skipped;
};

struct period_figures {
	uint64_t suggested_ns; /* by what stops cost (governor_period()); 0: not known yet */
	uint64_t offers;       /* samples so far whose accesses could be followed */
	uint64_t skipped;      /* of them refused, as the limit was used up */
	bool follows_accesses; /* else time alone is sampled */
};

void period_init(struct period *period, uint64_t wanted_ns);

/* One step, to make room. */
uint64_t period_longer(uint64_t period_ns);

/*
 * What it should be instead of period_ns. Where stops are dear, those of the clock
 * alone may use up all that is allowed, and hardly a memory access is followed.
 * Fewer samples then find more: each of them may be followed. So the period is set
 * by what the first stops cost, and from then on by whether most offers had to be
 * refused; only stops in user code are any: counting the kernel's samples among
 * them kept the period of a program short that spends much time there, and it
 * hardly had an access followed. Where time alone is sampled, what stops cost
 * decides. Those of the first moment may have been cheap: once a second it is asked again.
 */
uint64_t period_balance(struct period *period, uint64_t period_ns,
			const struct period_figures *figures, uint64_t now_ns);

#endif
