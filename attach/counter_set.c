/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/counter_set.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
	const char *name;
	uint32_t type;
	uint64_t config;
} counters[COUNTER_KINDS] = {
	[COUNTER_CPU] = { "cpu", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK },
	[COUNTER_SWITCHES] = { "context-switches", PERF_TYPE_SOFTWARE,
			       PERF_COUNT_SW_CONTEXT_SWITCHES },
	[COUNTER_MIGRATIONS] = { "cpu-migrations", PERF_TYPE_SOFTWARE,
				 PERF_COUNT_SW_CPU_MIGRATIONS },
	[COUNTER_FAULTS] = { "page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
	[COUNTER_MAJOR_FAULTS] = { "major-faults", PERF_TYPE_SOFTWARE,
				   PERF_COUNT_SW_PAGE_FAULTS_MAJ },
	[COUNTER_INSTRUCTIONS] = { "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
	[COUNTER_CYCLES] = { "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	[COUNTER_CACHE_MISSES] = { "cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES },
};

/* As read_format asks for. */
struct reading {
	uint64_t value;
	uint64_t enabled_ns, running_ns;
};

const char *counter_name(enum counter_kind kind)
{
	return counters[kind].name;
}

int counter_find(const char *name, size_t length)
{
	for (int i = 0; i < COUNTER_KINDS; i++)
		if (strlen(counters[i].name) == length && !memcmp(counters[i].name, name, length))
			return i;
	return -1;
}

static int open_counter(enum counter_kind kind, pid_t tid)
{
	/* Time in the kernel is time of the thread, and switches happen there. */
	struct perf_event_attr attributes = {
		.size = sizeof(attributes),
		.type = counters[kind].type,
		.config = counters[kind].config,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
		.exclude_hv = 1,
	};
	long fd = syscall(SYS_perf_event_open, &attributes, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

int counter_set_open(struct counter_set *set, pid_t tid, unsigned kinds)
{
	struct counter_set opened;

	for (int i = 0; i < COUNTER_KINDS; i++)
		opened.fds[i] = -1;
	for (int i = 0; i < COUNTER_KINDS; i++) {
		int fd = kinds >> i & 1 ? open_counter((enum counter_kind)i, tid) : -1;

		if (fd < 0 && kinds >> i & 1) {
			counter_set_close(&opened);
			return fd;
		}
		opened.fds[i] = fd;
	}
	*set = opened;
	return 0;
}

void counter_set_close(struct counter_set *set)
{
	for (int i = 0; i < COUNTER_KINDS; i++) {
		if (set->fds[i] >= 0)
			close(set->fds[i]);
		set->fds[i] = -1;
	}
}

/* A counter of the PMU may have had to give way to others. */
static uint64_t scaled(const struct reading *reading)
{
	if (reading->running_ns >= reading->enabled_ns)
		return reading->value;
	return (uint64_t)((double)reading->value * (double)reading->enabled_ns /
			  (double)reading->running_ns);
}

void counter_set_read(const struct counter_set *set, uint64_t ret_values[static COUNTER_KINDS],
		      unsigned *ret_known)
{
	*ret_known = 0;
	for (int i = 0; i < COUNTER_KINDS; i++) {
		struct reading reading;

		ret_values[i] = 0;
		if (set->fds[i] < 0 ||
		    read(set->fds[i], &reading, sizeof(reading)) != (ssize_t)sizeof(reading))
			continue;
		/* It was enabled, and never there: not zero, but not known. */
		if (!reading.running_ns && reading.enabled_ns)
			continue;
		ret_values[i] = scaled(&reading);
		*ret_known |= 1u << i;
	}
}

int counter_set_check(unsigned kinds, struct error *error)
{
	for (int i = 0; i < COUNTER_KINDS; i++) {
		struct counter_set set;
		int failure = kinds >> i & 1 ? counter_set_open(&set, 0, 1u << i) : 0;

		if (!failure) {
			if (kinds >> i & 1)
				counter_set_close(&set);
			continue;
		}
		error_set(error, EXIT_PERMISSION, "the kernel has no counter of %s here: %s",
			  counters[i].name, strerror(-failure));
		if (counters[i].type == PERF_TYPE_HARDWARE &&
		    (failure == -ENOENT || failure == -EOPNOTSUPP))
			error_set_cure(error,
				       "It is one of the processor's PMU, which many virtual "
				       "machines do not have.");
		else
			error_set_cure(error, "Run it as root, or with CAP_PERFMON and "
					      "CAP_SYS_PTRACE.");
		return failure;
	}
	return 0;
}
