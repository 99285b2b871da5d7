/* SPDX-License-Identifier: Apache-2.0 */
/* What sampler.c and window.c share. */
#ifndef PIEPROFD_DAEMON_SERVE_SAMPLER_PARTS_H
#define PIEPROFD_DAEMON_SERVE_SAMPLER_PARTS_H

#include "daemon/report/profile_merge.h"
#include "daemon/serve/window.h"

#include <pthread.h>

struct window {
	struct sampler *sampler;
	uint64_t opened_ns;
	struct session_mark *mark;    /* NULL: all of the session */
	struct profile_merge *merged; /* of earlier sessions; NULL: none */
	bool failed;                  /* out of memory, a part is missing */
	bool over;                    /* set with both locks held: for good */
	bool live;                    /* the session is one of its own; under work */
};

struct sampler {
	struct sampler_options options;
	/* Guards the session and all that follows; held while a profile is made. */
	pthread_mutex_t work;
	struct session *session; /* NULL: none yet; it may have ended */
	uint64_t start_time;     /* of the process, by which it is known again; 0: never seen */
	uint64_t began_ns;       /* the session */
	uint64_t counted_ns;     /* it was looked at for its size */
	uint64_t retry_ns;       /* when to begin again; 0: nothing to retry */
	struct session_counters past;
	uint64_t rotations;
	struct window *windows[WINDOWS_MAX];
	bool refusing;
	bool start_wanted; /* by others than who polls */
	bool start_failed; /* the last that was wanted */
	struct error start_error;
	pthread_cond_t started; /* start_wanted was met, or is refused */
	/* Never held for long; taken after work. */
	pthread_mutex_t lock;
	pthread_cond_t changed; /* a window is over */
	/* Atomic. */
	int state;
};

/* The end of the session for this window: what it has seen is kept with it. work is held. */
void window_keep_part(struct window *window);

/* Has its thread go on. */
void window_end(struct window *window);

#endif
