/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One perf event of one thread that stops it by a signal, and only in user code, so that no system
 * call is ever interrupted.
 */
#ifndef PIEPROFD_ATTACH_STOP_EVENT_H
#define PIEPROFD_ATTACH_STOP_EVENT_H

#include <linux/perf_event.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * What they have in common: off, and records of id, ip, time, cpu, count and time running. Type,
 * config and period are to be filled in.
 */
void stop_event_attributes(struct perf_event_attr *attributes);

/* output_fd: whose ring it writes to; -1: one of its own. A descriptor or a negative errno. */
int stop_event_open(struct perf_event_attr *attributes, pid_t tid, int output_fd);

/* The overflow signals the thread itself, which stops it for its tracer. 0 or a negative errno. */
__attribute__((warn_unused_result)) int stop_event_direct(int fd, pid_t tid, int signal);

/* What its records are known by. Likewise. */
__attribute__((warn_unused_result)) int stop_event_id(int fd, uint64_t *ret_id);

#endif
