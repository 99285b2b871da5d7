/* SPDX-License-Identifier: Apache-2.0 */
/* A process's memory over a run, as sampling gathers it and a profile shows it. */
#ifndef PIEPROFD_DAEMON_SAMPLE_RESIDENT_FIGURES_H
#define PIEPROFD_DAEMON_SAMPLE_RESIDENT_FIGURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RESIDENT_POINTS_MAX 200

/* What was resident at a time since the run began. */
struct resident_point {
	uint64_t time_ns;
	uint64_t bytes;
};

/* Sums over processes. */
struct resident_counts {
	uint64_t start_bytes, end_bytes; /* resident when the run began, and when it ended */
	uint64_t faults;                 /* page faults meanwhile, by the kernel's own count */
	uint64_t faults_sampled;         /* of them, those that samples stand for */
	uint64_t faults_dropped;         /* of them, those of samples that were lost */
	uint64_t samples;
	uint64_t huge_samples;    /* of huge pages */
	uint64_t unknown_samples; /* of pages of unknown size: they count as small ones */
};

struct resident_figures {
	struct resident_counts counts;
	uint64_t peak_bytes;
	bool peak_exact;  /* the kernel's own; else of those times when it was looked at */
	bool kernel_seen; /* faults in the kernel's code are among the samples */
	/* By time. */
	const struct resident_point *points;
	size_t point_count;
};

#endif
