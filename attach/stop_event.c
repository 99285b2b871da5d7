/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/stop_event.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void stop_event_attributes(struct perf_event_attr *attributes)
{
	*attributes = (struct perf_event_attr){
		.size = sizeof(*attributes),
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TIME |
			       PERF_SAMPLE_CPU | PERF_SAMPLE_READ,
		.read_format = PERF_FORMAT_TOTAL_TIME_RUNNING,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.disabled = 1,
		.wakeup_events = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
}

int stop_event_open(struct perf_event_attr *attributes, pid_t tid, int output_fd)
{
	unsigned long flags = PERF_FLAG_FD_CLOEXEC | (output_fd >= 0 ? PERF_FLAG_FD_OUTPUT : 0);
	long fd = syscall(SYS_perf_event_open, attributes, tid, -1, output_fd, flags);

	return fd < 0 ? -errno : (int)fd;
}

int stop_event_direct(int fd, pid_t tid, int signal)
{
	struct f_owner_ex owner = { .type = F_OWNER_TID, .pid = tid };
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETOWN_EX, &owner) || fcntl(fd, F_SETSIG, signal) ||
	    fcntl(fd, F_SETFL, flags | O_ASYNC))
		return -errno;
	return 0;
}

int stop_event_id(int fd, uint64_t *ret_id)
{
	return ioctl(fd, PERF_EVENT_IOC_ID, ret_id) ? -errno : 0;
}
