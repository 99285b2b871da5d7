/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The samples of one process by sampling clocks, one a processor, with a program in the kernel that
 * copies what there is to know of its thread that runs there (bpf/clock.bpf.c). Clocks and program
 * serve all processes of the daemon (clock_hub.h), each of which has a ring of its own. No thread
 * is stopped, woken or signalled, and nothing is in the target: it is not even traced.
 *
 *   a processor's clock fires --> the program: is a thread of the target on it? copies --> ring
 *   kernel_clocks_read(), whenever it is convenient        <-------------------------------'
 *
 * Clocks are perf events, and the program lives as long as they and its descriptors do: when the
 * daemon dies, the kernel removes it all. One clock a processor costs the target nothing when its
 * threads begin, end and switch, sees those that live for a moment, and needs no list of threads.
 *
 * The clock never has an event limit: on Linux 6.17.1 that hangs a processor.
 */
#ifndef PIEPROFD_ATTACH_KERNEL_CLOCKS_H
#define PIEPROFD_ATTACH_KERNEL_CLOCKS_H

#include "attach/clock_sample.h"
#include "common/error.h"

struct kernel_clocks;

/*
 * For one process, not yet sampled. config: where its interpreter keeps what. NULL with *error
 * filled: not permitted (CAP_BPF and CAP_PERFMON), the kernel lacks something (5.17, with BTF), or
 * there are CLOCK_TARGETS_MAX processes already.
 */
struct kernel_clocks *kernel_clocks_create(pid_t pid, const struct clock_config *config,
					   uint64_t period_ns, struct error *error);
void kernel_clocks_destroy(struct kernel_clocks *clocks);

/*
 * Page faults are sampled, too, those served in the kernel's own code among them: on each
 * processor one in so many that samples are at least interval_ns apart, on average. Before
 * kernel_clocks_enable(). 0 or a negative errno: they are not, and the clocks are as they were.
 */
__attribute__((warn_unused_result)) int kernel_clocks_add_faults(struct kernel_clocks *clocks,
								 uint64_t interval_ns);
/* The interval from now on. */
void kernel_clocks_set_fault_interval(struct kernel_clocks *clocks, uint64_t interval_ns);

/* Whether the kernel's own stack is copied, too, of threads that are in it. At first it is not. */
void kernel_clocks_set_kernel_frames(struct kernel_clocks *clocks, bool wanted);

/*
 * What the kernel calls an address of its code: "name+0x1a/0x90 [module]", or whatever it prints of
 * one without a name. The program asks, in the kernel: neither /proc/kallsyms nor the right to read
 * it is needed. For one thread at a time. 0 or a negative errno.
 */
__attribute__((warn_unused_result)) int kernel_clocks_symbol(struct kernel_clocks *clocks,
							     uint64_t address, char *ret_text,
							     size_t size);

void kernel_clocks_enable(struct kernel_clocks *clocks, bool enable);

/*
 * Of wall time of each processor, on average. To be called now and then, as by that the interval
 * is drawn anew, at random.
 */
void kernel_clocks_set_period(struct kernel_clocks *clocks, uint64_t period_ns);

/* How much is copied of stacks from now on: at most CLOCK_STACK_PAGES_MAX pages. */
void kernel_clocks_set_stack(struct kernel_clocks *clocks, unsigned pages);

/* A thread's PyThreadState, so that it need not be searched for. */
void kernel_clocks_add_thread(struct kernel_clocks *clocks, pid_t tid, remote_addr state);

/* The ring, for others that write such records: borrowed. */
int kernel_clocks_ring(const struct kernel_clocks *clocks);

/* Takes samples, oldest first, at most so many; each is valid during its call. How many it took. */
unsigned kernel_clocks_read(struct kernel_clocks *clocks,
			    void (*take)(void *context, const struct clock_sample *sample),
			    void *context, unsigned maximum);

/* Samples for which there was no room, since the beginning. */
uint64_t kernel_clocks_dropped(const struct kernel_clocks *clocks);
/* Page faults for which they would have stood. */
uint64_t kernel_clocks_dropped_faults(const struct kernel_clocks *clocks);

/* In a copy of the process, or at its end in a hurry: closes what keeps the clocks alive. */
void kernel_clocks_let_go(struct kernel_clocks *clocks);

#endif
