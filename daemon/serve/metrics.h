/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What /metrics answers, in Prometheus' text format 0.0.4. Counters go on over
 * rotations of the session. Labels are ours, but for those of containers and services, which
 * whoever starts a container or a process may choose: 32 at a time, escaped.
 */
#ifndef PIEPROFD_DAEMON_SERVE_METRICS_H
#define PIEPROFD_DAEMON_SERVE_METRICS_H

#include "daemon/push/push_options.h"
#include "daemon/serve/heap_looks.h"
#include "daemon/serve/sampler.h"

#define METRICS_ENDPOINTS_MAX 24
#define METRICS_CODES         13

/* Requests answered; an atomic each. */
struct request_counts {
	uint64_t by_code[METRICS_ENDPOINTS_MAX][METRICS_CODES];
	uint64_t bytes;
	uint64_t connections; /* now */
	uint64_t cut;         /* connections that were too slow */
};

void request_count(struct request_counts *counts, size_t endpoint, unsigned code, size_t bytes);

struct metrics {
	const struct sampler_counters *counters;
	enum sampler_state state;
	double overhead_limit;
	uint64_t resident_bytes; /* of all processes that are sampled now */
	const struct heap_looks_counters *heap;
	const struct request_counts *requests;
	const struct push_counts *push; /* NULL: nothing is pushed */
	const char *const *endpoints;   /* names, by index */
	size_t endpoint_count;
};

void metrics_write(const struct metrics *metrics, FILE *file);

#endif
