/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program in the kernel (bpf/clock.bpf.c) and the clocks of the processors that run it: one
 * of each for all processes that the daemon samples, since each clock interrupts whatever its
 * processor does.
 *
 *   clocks, a processor each --> program: which process is on it? --> that one's ring
 *                                slots: number of the process --> place in targets, rings
 *
 * It is there while any process is in it, or it is held. The clocks tick at the shortest of the
 * periods that are wanted; a process that wants a longer one gets a part of the ticks, at random.
 *
 * Any thread may call any of these.
 */
#ifndef PIEPROFD_ATTACH_CLOCK_HUB_H
#define PIEPROFD_ATTACH_CLOCK_HUB_H

#include "attach/bpf/clock_record.h"
#include "common/address.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct clock_hub;

/* Bytes of a ring for one process more: less of them where there are many. */
size_t clock_hub_ring_bytes(void);

/*
 * Takes a process in, not yet sampled: its samples will go to the ring, a map of the kernel's.
 * Loads the program and opens the clocks for the first one. 0 or a negative errno; -EUSERS: there
 * are CLOCK_TARGETS_MAX already.
 */
__attribute__((warn_unused_result)) int clock_hub_enter(pid_t pid,
							const struct clock_config *config,
							uint64_t period_ns, int ring_fd,
							struct clock_hub **ret_hub,
							unsigned *ret_slot);
/* The last one takes program and clocks with it. */
void clock_hub_leave(struct clock_hub *hub, unsigned slot);

/*
 * For a daemon whose processes come and go: what is loaded for the first one stays, with its clocks
 * at rest, when none is in it, since to load the program takes as long as several attaches; and
 * rings serve one process after the other (clock_ring.h). Held once, however often it is called.
 */
void clock_hub_hold(void);
/* Back to what it was; what nobody is in goes now. */
void clock_hub_release(void);

/* What the program reads and counts of it; until it leaves. */
struct clock_target *clock_hub_target(const struct clock_hub *hub, unsigned slot);

void clock_hub_enable(struct clock_hub *hub, unsigned slot, bool enable);

/*
 * On average. To be called now and then: the time to the next tick is drawn anew, at random. It
 * waits for nobody: while another process comes or goes, nothing happens until the next call.
 */
void clock_hub_set_period(struct clock_hub *hub, unsigned slot, uint64_t period_ns);

/* Page faults of it, too. 0 or a negative errno: they are not sampled. */
__attribute__((warn_unused_result)) int clock_hub_add_faults(struct clock_hub *hub, unsigned slot);

void clock_hub_add_thread(struct clock_hub *hub, pid_t tid, remote_addr state);

/* See kernel_clocks_symbol(); for one thread at a time of each process that is sampled. */
__attribute__((warn_unused_result)) int clock_hub_symbol(struct clock_hub *hub, unsigned slot,
							 uint64_t address, char *ret_text,
							 size_t size);

/* In a copy of the process, or at its end: closes what keeps the clocks alive. */
void clock_hub_let_go(struct clock_hub *hub);

#endif
