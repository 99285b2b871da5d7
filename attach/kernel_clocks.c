/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/kernel_clocks.h"

#include "attach/clock_hub.h"
#include "attach/clock_ring.h"
#include "attach/procfs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct kernel_clocks {
	struct clock_hub *hub; /* NULL: not in it */
	unsigned slot;
	struct clock_target *target; /* the program's, mapped */
	struct clock_ring *ring;
	struct clock_sample sample;
	void (*take)(void *context, const struct clock_sample *sample);
	void *take_context;
	unsigned taken, take_maximum;
	uint64_t unreadable;
};

static void explain(int failure, struct error *error)
{
	switch (-failure) {
	case EPERM:
	case EACCES:
		error_set(error, EXIT_PERMISSION, "no program may be loaded into the kernel: %s",
			  strerror(-failure));
		error_set_cure(error,
			       "Run as root, or give CAP_BPF and CAP_PERFMON: setcap "
			       "cap_bpf,cap_perfmon,cap_sys_ptrace+ep; docker run --cap-add "
			       "BPF --cap-add PERFMON; Kubernetes: securityContext: "
			       "{capabilities: {add: [\"BPF\", \"PERFMON\"]}}%s",
			       procfs_read_setting("/proc/sys/kernel/perf_event_paranoid", 2) > 2
				       ? "; or sysctl kernel.perf_event_paranoid=2: above it, "
					 "Debian's kernels ask for CAP_SYS_ADMIN."
				       : "");
		break;
	case EUSERS:
		error_set(error, EXIT_PERMISSION,
			  "the kernel samples at most %u processes for one daemon",
			  CLOCK_TARGETS_MAX);
		error_set_cure(error, "Leave out --engine: the others are stopped for samples.");
		break;
	default:
		error_set(error, EXIT_PERMISSION,
			  "the kernel does not take the sampling program: %s", strerror(-failure));
		error_set_cure(error, "It needs Linux 5.17 or later with CONFIG_BPF_EVENTS and "
				      "CONFIG_DEBUG_INFO_BTF; --engine ptrace does without.");
	}
}

static int take_record(void *context, void *data, size_t size)
{
	struct kernel_clocks *clocks = context;
	uint32_t share = __atomic_load_n(&clocks->target->share, __ATOMIC_RELAXED);

	if (clock_sample_parse(data, size, &clocks->sample)) {
		clocks->unreadable++;
	} else {
		/* Also for the ticks that it did not get. */
		if (share && share != CLOCK_SHARE_ALL && !clocks->sample.allocation)
			clocks->sample.stands_for_ns =
				(uint64_t)((double)clocks->sample.stands_for_ns * CLOCK_SHARE_ALL /
					   share);
		clocks->take(clocks->take_context, &clocks->sample);
	}
	/* The record is taken out in either case; what is negative ends the round. */
	return ++clocks->taken == clocks->take_maximum ? -ECANCELED : 0;
}

int kernel_clocks_add_faults(struct kernel_clocks *clocks, uint64_t interval_ns)
{
	kernel_clocks_set_fault_interval(clocks, interval_ns);
	return clock_hub_add_faults(clocks->hub, clocks->slot);
}

void kernel_clocks_set_fault_interval(struct kernel_clocks *clocks, uint64_t interval_ns)
{
	uint64_t interval_us = interval_ns / 1000;

	__atomic_store_n(&clocks->target->fault_interval_us,
			 interval_us < UINT32_MAX ? (uint32_t)interval_us : UINT32_MAX,
			 __ATOMIC_RELAXED);
}

void kernel_clocks_set_kernel_frames(struct kernel_clocks *clocks, bool wanted)
{
	__atomic_store_n(&clocks->target->kernel_frames, wanted, __ATOMIC_RELAXED);
}

int kernel_clocks_symbol(struct kernel_clocks *clocks, uint64_t address, char *ret_text,
			 size_t size)
{
	return clock_hub_symbol(clocks->hub, clocks->slot, address, ret_text, size);
}

struct kernel_clocks *kernel_clocks_create(pid_t pid, const struct clock_config *config,
					   uint64_t period_ns, struct error *error)
{
	struct kernel_clocks *clocks = calloc(1, sizeof(*clocks));
	int failure;

	if (!clocks) {
		error_set(error, EXIT_INTERNAL, "out of memory");
		return NULL;
	}
	failure = clock_ring_open(clock_hub_ring_bytes(), &clocks->ring);
	if (!failure)
		failure = clock_hub_enter(pid, config, period_ns, clock_ring_fd(clocks->ring),
					  &clocks->hub, &clocks->slot);
	if (!failure) {
		clocks->target = clock_hub_target(clocks->hub, clocks->slot);
		return clocks;
	}
	kernel_clocks_destroy(clocks);
	explain(failure, error);
	return NULL;
}

void kernel_clocks_destroy(struct kernel_clocks *clocks)
{
	if (!clocks)
		return;
	if (clocks->hub)
		clock_hub_leave(clocks->hub, clocks->slot);
	clock_ring_close(clocks->ring);
	free(clocks);
}

void kernel_clocks_let_go(struct kernel_clocks *clocks)
{
	clock_hub_let_go(clocks->hub);
}

void kernel_clocks_enable(struct kernel_clocks *clocks, bool enable)
{
	clock_hub_enable(clocks->hub, clocks->slot, enable);
}

void kernel_clocks_set_period(struct kernel_clocks *clocks, uint64_t period_ns)
{
	clock_hub_set_period(clocks->hub, clocks->slot, period_ns);
}

void kernel_clocks_set_stack(struct kernel_clocks *clocks, unsigned pages)
{
	__atomic_store_n(&clocks->target->stack_pages,
			 pages < CLOCK_STACK_PAGES_MAX ? pages : CLOCK_STACK_PAGES_MAX,
			 __ATOMIC_RELAXED);
}

void kernel_clocks_add_thread(struct kernel_clocks *clocks, pid_t tid, remote_addr state)
{
	clock_hub_add_thread(clocks->hub, tid, state);
}

int kernel_clocks_ring(const struct kernel_clocks *clocks)
{
	return clock_ring_fd(clocks->ring);
}

unsigned kernel_clocks_read(struct kernel_clocks *clocks,
			    void (*take)(void *context, const struct clock_sample *sample),
			    void *context, unsigned maximum)
{
	clocks->take = take;
	clocks->take_context = context;
	clocks->taken = 0;
	clocks->take_maximum = maximum;
	clock_ring_read(clocks->ring, take_record, clocks);
	return clocks->taken;
}

uint64_t kernel_clocks_dropped(const struct kernel_clocks *clocks)
{
	return __atomic_load_n(&clocks->target->dropped, __ATOMIC_RELAXED) + clocks->unreadable;
}

uint64_t kernel_clocks_dropped_faults(const struct kernel_clocks *clocks)
{
	return __atomic_load_n(&clocks->target->faults_dropped, __ATOMIC_RELAXED);
}
