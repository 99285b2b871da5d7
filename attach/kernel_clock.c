/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/kernel_clock.h"

#include "common/clock.h"

#include <asm/perf_regs.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* A record as asked for by sample_type below; the registers in the order of their numbers. */
struct kernel_record {
	struct perf_event_header header;
	uint64_t time;
	uint64_t count;
	uint64_t running_ns;
	uint64_t abi;
	uint64_t sp;
	uint64_t ip;
};

/*
 * To set another interval starts it anew, and the part of the old one that has
 * passed is lost: half a period in so many.
 */
#define VARY_EVERY 64

int kernel_clock_open(struct kernel_clock *clock, pid_t tid, uint64_t period_ns,
		      struct sampling_rest rest)
{
	struct sampling_interval interval;
	struct perf_event_attr attributes = {
		.size = sizeof(attributes),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_READ | PERF_SAMPLE_REGS_USER,
		.read_format = PERF_FORMAT_TOTAL_TIME_RUNNING,
		.sample_regs_user = 1u << PERF_REG_X86_SP | 1u << PERF_REG_X86_IP,
		.exclude_user = 1,
		.exclude_hv = 1,
		.disabled = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
	long fd;
	int error;

	sampling_interval_start(&interval, period_ns, clock_now_ns() ^ (uint64_t)tid << 40);
	sampling_interval_continue(&interval, rest);
	attributes.sample_period = interval.ns;
	fd = syscall(SYS_perf_event_open, &attributes, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	*clock = (struct kernel_clock){ .fd = fd < 0 ? -1 : (int)fd, .interval = interval };
	if (fd < 0)
		return -errno;
	error = event_ring_map(&clock->ring, clock->fd);
	if (error)
		kernel_clock_close(clock);
	return error;
}

struct sampling_rest kernel_clock_rest(const struct kernel_clock *clock, uint64_t running_ns)
{
	return clock->fd >= 0 && running_ns ? sampling_interval_rest(&clock->interval, running_ns)
					    : (struct sampling_rest){ 0 };
}

void kernel_clock_close(struct kernel_clock *clock)
{
	/* Before the close: a mapping keeps its event alive. */
	event_ring_unmap(&clock->ring);
	if (clock->fd >= 0)
		close(clock->fd);
	clock->fd = -1;
}

void kernel_clock_enable(struct kernel_clock *clock, bool enable)
{
	/* Fails only when the thread is gone. */
	if (clock->fd >= 0)
		(void)ioctl(clock->fd, enable ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

void kernel_clock_set_period(struct kernel_clock *clock, uint64_t period_ns)
{
	struct sampling_interval next = clock->interval;

	sampling_interval_next(&next, period_ns, 0);
	if (clock->fd < 0 || ioctl(clock->fd, PERF_EVENT_IOC_PERIOD, &next.ns))
		return;
	clock->interval = next;
	clock->asked = 0;
}

void kernel_clock_direct(struct kernel_clock *clock, pid_t tid, int signal)
{
	struct f_owner_ex owner = { .type = F_OWNER_TID, .pid = tid };
	int flags;

	if (clock->fd < 0)
		return;
	flags = fcntl(clock->fd, F_GETFL);
	if (flags < 0)
		return;
	flags = signal ? flags | O_ASYNC : flags & ~O_ASYNC;
	/* Where that fails, the samples are found with the other clock's. */
	if (!signal ||
	    (!fcntl(clock->fd, F_SETOWN_EX, &owner) && !fcntl(clock->fd, F_SETSIG, signal)))
		(void)fcntl(clock->fd, F_SETFL, flags);
}

bool kernel_clock_due(struct kernel_clock *clock)
{
	return clock->fd >= 0 && (clock->interval.first || ++clock->asked >= VARY_EVERY);
}

bool kernel_clock_next(struct kernel_clock *clock, struct kernel_sample *ret_sample)
{
	struct event_ring_record raw;
	struct kernel_record record = { 0 };

	while (event_ring_next(&clock->ring, &raw)) {
		/* Without user registers it ends behind abi. */
		if (raw.type != PERF_RECORD_SAMPLE ||
		    raw.size < offsetof(struct kernel_record, sp) || raw.size > sizeof(record))
			continue;
		memcpy(&record, raw.bytes, raw.size);
		*ret_sample = (struct kernel_sample){
			.time_ns = record.time,
			.running_ns = record.running_ns,
			.stands_for_ns = sampling_interval_charge(&clock->interval,
								  record.running_ns, false),
		};
		if (!ret_sample->stands_for_ns)
			continue;
		if (record.abi == PERF_SAMPLE_REGS_ABI_64 && raw.size == sizeof(record)) {
			ret_sample->user_ip = record.ip;
			ret_sample->user_sp = record.sp;
		}
		return true;
	}
	return false;
}
