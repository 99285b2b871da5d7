/* SPDX-License-Identifier: Apache-2.0 */
/* What a session (session.h) is to do. */
#ifndef PIEPROFD_DAEMON_SESSION_SESSION_OPTIONS_H
#define PIEPROFD_DAEMON_SESSION_SESSION_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct access_patterns;
struct impersonator;
struct layout_cache;

/* Who takes samples of time. */
enum session_engine {
	ENGINE_AUTO,   /* the kernel, where it may and can and time alone is asked for */
	ENGINE_PTRACE, /* stops: memory accesses and waiting, too */
	ENGINE_KERNEL, /* daemon/sample/clock_sampler.h, or refuse */
};

struct session_options {
	pid_t pid;
	enum session_engine engine;
	uint64_t period_ns; /* CPU time between two samples of a thread */
	bool waits;         /* look at threads that sleep, too */
	bool memory;        /* sample page faults, and look at what is resident */
	bool allocations;   /* windows of probes at the allocators */
	bool loads;         /* follow memory loads; neither: time alone */
	bool stores;
	bool breakpoints_required;              /* refuse rather than profile time alone */
	double max_overhead;                    /* stopped share of a thread's time, 0.02 */
	int stop_signal;                        /* 0: choose */
	uint64_t timeout_ns;                    /* of a watch */
	const struct access_patterns *patterns; /* whose accesses count; borrowed */
	bool native_lines;                      /* source lines of native frames */
	bool start_frames;                      /* reports have those of the interpreter's start */
	bool no_kernel_frames;                  /* the kernel's own stacks are not copied */
	bool no_source;                         /* source files are not read */
	bool python_required; /* refuse an interpreter that cannot be read, rather than go without
			       */
	bool count_forks;     /* see session_progress */
	bool download;        /* debug files from the network */
	struct impersonator *impersonator; /* borrowed, see target_init() */
	struct layout_cache *layouts;      /* likewise */
	uint64_t
		idle_tick_ns; /* between looks at a target that does nothing, at most; 0: as ever */
	size_t node_limit;    /* of the tree; 0: as large as a recording needs */
	size_t pair_limit;    /* likewise */
	/*
	 * The tracer's thread is held up in the kernel while threads of the target wait
	 * for it, or does not come to its end: to be called from another thread, must end
	 * the process. NULL: that alone (attach/watchdog.h).
	 */
	void (*last_resort)(void *context);
	void *last_resort_context;
};

#endif
