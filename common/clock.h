/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PIEPROFD_COMMON_CLOCK_H
#define PIEPROFD_COMMON_CLOCK_H

#include <stdint.h>
#include <time.h>

#define NS_PER_SECOND 1000000000ull
#define NS_PER_MS     1000000ull
#define NS_PER_US     1000ull

/* 0: the clock cannot be read. */
uint64_t clock_read_ns(clockid_t clock);

/* CLOCK_MONOTONIC in nanoseconds; the perf events' records use the same clock. */
uint64_t clock_now_ns(void);

/* What the calling thread has used. */
uint64_t clock_thread_cpu_ns(void);

/* For calls that wait for so long, or until then. */
struct timespec clock_timespec(uint64_t ns);

#endif
