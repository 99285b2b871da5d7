/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread's clock that runs in some parts of its time only, drawn at random, and the samples taken
 * in these stand for all:
 *
 *   the thread runs   |--------|--------|--------|--------|
 *   its clock                           |-s--s-s-|              of 4 parts in one
 *                                         each stands for some 4 intervals
 *
 * In these they may look more often: nearly as many samples are taken as would be without pauses.
 *
 * How long the thread has run meanwhile says the scheduler, so that its whole time stays known. A
 * slice stands for what has run since the one before it, and on average for half of what comes
 * until the next: so all together stand for the time that the thread has run, however much of it
 * was in which.
 */
#ifndef PIEPROFD_ATTACH_CLOCK_PAUSE_H
#define PIEPROFD_ATTACH_CLOCK_PAUSE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* All zeros: it runs all the time. */
struct clock_pause {
	unsigned parts;     /* in one of so many it runs; 0: as 1 */
	unsigned density;   /* its intervals are the period's part of that; 0: as 1 */
	bool paused;        /* now */
	uint64_t began_ns;  /* how long the thread had run when the pause began; 0: unknown */
	uint64_t passed_ns; /* it has run for in pauses that are over */
	double stretch;     /* for how many times its time the slice stands; 0: as 1 */
	/* By the clock, how long the thread had run when the slice began, */
	uint64_t slice_began_ns;
	double represented_ns; /* for how much all that was until then stands, */
	double slice_ns;       /* and what a slice is about; 0: unknown */
};

/* The clock was stopped just now, by which the thread has run for clock_ns. */
void clock_pause_begin(struct clock_pause *pause, pid_t tid, uint64_t clock_ns);
/* It is about to go on. */
void clock_pause_end(struct clock_pause *pause, pid_t tid);
/* A slice begins, after a pause or without one, of which there is one in so many. */
void clock_pause_slice(struct clock_pause *pause, uint64_t clock_ns, unsigned parts);

/* When the thread has run for clock_ns by the clock, all slices stand for: */
uint64_t clock_pause_represented_ns(const struct clock_pause *pause, uint64_t clock_ns);

/* How long the thread has run in pauses, the one in force included. */
uint64_t clock_pause_passed_ns(const struct clock_pause *pause, pid_t tid);

/* What a sample stands for whose interval was that. */
uint64_t clock_pause_stretch(const struct clock_pause *pause, uint64_t interval_ns);

/* How long its intervals are on average, where they were to be that long. */
uint64_t clock_pause_period(const struct clock_pause *pause, uint64_t period_ns);

#endif
