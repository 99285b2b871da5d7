/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What it takes of the daemon's own CPU time to attach to a process, sample it for a moment and
 * let it go: for each of the processes given, one after the other, as `serve --all-python` does.
 *
 *     attach_cost [-k] [-r ROUNDS] PID...
 *
 * -k: the kernel's engine, without stops. The first process has a session all the time, and the
 * clocks are held, so that what sessions share (attach/clock_hub.h) is there. Prints a line for
 * each session, in microseconds: opened, started, sampled, finished, profiled, destroyed.
 */
#include "attach/clock_hub.h"
#include "attach/impersonator.h"
#include "common/clock.h"
#include "daemon/session/session.h"
#include "symbolize/layout_cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PERIOD_NS  10000000
#define SAMPLED_NS (100 * 1000000)

enum step {
	OPENED,
	STARTED,
	SAMPLED,
	FINISHED,
	PROFILED,
	DESTROYED,
	STEPS
};

static uint64_t spent_ns(uint64_t *since_ns)
{
	uint64_t now_ns = clock_read_ns(CLOCK_PROCESS_CPUTIME_ID), spent = now_ns - *since_ns;

	*since_ns = now_ns;
	return spent;
}

static int attach(const struct session_options *options, uint64_t ret_ns[STEPS])
{
	struct timespec while_sampled = { .tv_nsec = SAMPLED_NS };
	uint64_t since_ns = clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);
	struct profile *profile;
	struct session *session;
	struct error error;

	session = session_create(options, &error);
	ret_ns[OPENED] = spent_ns(&since_ns);
	if (!session || session_start(session, &error)) {
		fprintf(stderr, "%s\n", error.cause);
		session_destroy(session);
		return -1;
	}
	ret_ns[STARTED] = spent_ns(&since_ns);
	(void)nanosleep(&while_sampled, NULL);
	ret_ns[SAMPLED] = spent_ns(&since_ns);
	session_finish(session);
	ret_ns[FINISHED] = spent_ns(&since_ns);
	profile = session_profile_for_merge(session, "bench");
	profile_destroy(profile);
	ret_ns[PROFILED] = spent_ns(&since_ns);
	session_destroy(session);
	ret_ns[DESTROYED] = spent_ns(&since_ns);
	return 0;
}

int main(int count, char **words)
{
	struct session_options options = {
		.period_ns = PERIOD_NS,
		.waits = true,
		.max_overhead = 0.02,
		.python_required = true,
		.node_limit = 25000,
		.pair_limit = 5000,
	};
	int rounds = 1, first = 1, failed = 0;
	struct session *kept;
	struct error error;

	for (; first < count && words[first][0] == '-'; first++)
		if (!strcmp(words[first], "-k"))
			options.engine = ENGINE_KERNEL;
		else if (!strcmp(words[first], "-r") && first + 1 < count)
			rounds = atoi(words[++first]);
	clock_hub_hold();
	options.impersonator = impersonator_create();
	options.layouts = layout_cache_create();
	options.pid = first < count ? atoi(words[first++]) : 0;
	kept = session_create(&options, &error);
	if (!kept || session_start(kept, &error)) {
		fprintf(stderr, "%s\n", error.cause);
		session_destroy(kept);
		return 1;
	}
	puts("pid      opened started sampled finished profiled destroyed  us in all");
	for (int round = 0; round < rounds; round++)
		for (int i = first; i < count; i++) {
			uint64_t ns[STEPS] = { 0 }, sum_ns = 0;

			options.pid = atoi(words[i]);
			failed |= attach(&options, ns);
			printf("%-8s", words[i]);
			for (int step = 0; step < STEPS; step++) {
				printf(" %7.0f", (double)ns[step] / 1e3);
				sum_ns += ns[step];
			}
			printf("  %7.0f\n", (double)sum_ns / 1e3);
		}
	session_destroy(kept);
	clock_hub_release();
	layout_cache_destroy(options.layouts);
	impersonator_destroy(options.impersonator);
	return failed ? 1 : 0;
}
