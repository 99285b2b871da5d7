/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples of a thread's page faults in user code: one in so many stops it, like its clock, and
 * writes into the clock's ring. How many follows from how fast they come.
 */
#ifndef PIEPROFD_ATTACH_FAULT_SAMPLER_H
#define PIEPROFD_ATTACH_FAULT_SAMPLER_H

#include "attach/event_ring.h"
#include "common/address.h"

#include <sys/types.h>

struct fault_sampler {
	int fd; /* valid if opened */
	bool opened;
	uint64_t id;
	uint64_t faults;     /* until the last record */
	uint64_t period;     /* about as many are between two records */
	uint64_t running_ns; /* of the last record */
	uint64_t varied_ns;  /* likewise: when the period was changed */
	uint64_t random;
};

struct fault_sample {
	unsigned cpu;
	remote_addr ip;
	remote_addr address; /* that was touched */
	uint64_t time_ns;    /* CLOCK_MONOTONIC */
	uint64_t running_ns; /* how long the thread has run on a CPU while this was enabled */
	uint64_t faults;     /* for which it stands */
};

/* Tells its records from others in the ring. */
#define FAULT_RECORD_BYTES 64

/* Stopped. ring_fd: an event of the thread that has a ring. 0 or a negative errno. */
__attribute__((warn_unused_result)) int fault_sampler_open(struct fault_sampler *sampler, pid_t tid,
							   int ring_fd, int signal);
/* As the next one, of one that was never opened, too. */
void fault_sampler_close(struct fault_sampler *sampler);
void fault_sampler_enable(struct fault_sampler *sampler, bool enable);

/* False: it is not this one's. */
bool fault_sampler_parse(struct fault_sampler *sampler, const struct event_ring_record *record,
			 struct fault_sample *ret_sample);

/*
 * After a sample: when the next one is to come. By a random number of faults, halved and doubled so
 * that there is about one in interval_ns of the thread's CPU time at most.
 */
void fault_sampler_vary(struct fault_sampler *sampler, uint64_t running_ns, uint64_t interval_ns);

#endif
