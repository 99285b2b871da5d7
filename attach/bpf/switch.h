/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Part of mpi.bpf.c: threads of traced processes that leave the processor, and come back to it.
 *
 *   leaves as it waits:   the system call and the Python lines are noted, in the thread itself
 *   is woken:             when
 *   runs again:           a record of what it waited for, and one of how long it then was ready
 *
 * These run at each switch and wakeup of the machine, so others are told by one look at a map. The
 * kernel holds its run queue's lock meanwhile: beyond SWITCH_LIMIT nothing is read.
 */
#ifndef PIEPROFD_ATTACH_BPF_SWITCH_H
#define PIEPROFD_ATTACH_BPF_SWITCH_H

#include "attach/bpf/span_record.h"

#define SWITCHED_MAX 16384
#define IS_DEAD      0x80u /* TASK_DEAD */

/* By process, as the daemon's namespace or the machine numbers it: its place, and the span's. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MPI_TARGETS_MAX);
	__type(key, __u32);
	__type(value, __u32);
} switch_targets SEC(".maps");

/* By the machine's number of the thread. One that ends runs once more, and is taken out. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, SWITCHED_MAX);
	__type(key, __u32);
	__type(value, struct switched);
} switched SEC(".maps");

static __always_inline int may_note(struct span_counts *counts, __u64 now_ns)
{
	if (now_ns - counts->window_ns >= MPI_WINDOW_NS) {
		counts->window_ns = now_ns;
		counts->in_window = 0;
	}
	return counts->in_window++ < SWITCH_LIMIT;
}

/* Of the current thread. */
static __always_inline __s32 waits_in(struct task_struct *task)
{
	__u64 number = 0;
	void *registers = (void *)bpf_task_pt_regs(task);

	/* Interrupts and faults have none: -1. */
	if (bpf_probe_read_kernel(&number, sizeof(number),
				  registers + __builtin_offsetof(struct pt_regs, orig_rax)) ||
	    number >= SWITCH_CALLS_MAX)
		return SWITCH_WAITING;
	return (__s32)number;
}

/* What a map has of the current process, by the daemon's number or the machine's. */
static __always_inline __u32 *place_of_current(void *places, struct bpf_pidns_info *ret_numbers)
{
	__u64 id = bpf_get_current_pid_tgid();
	__u32 number;

	if (bpf_get_ns_current_pid_tgid(machine.namespace_device, machine.namespace_inode,
					ret_numbers, sizeof(*ret_numbers))) {
		ret_numbers->pid = (__u32)id;
		ret_numbers->tgid = id >> 32;
	}
	number = ret_numbers->tgid;
	return bpf_map_lookup_elem(places, &number);
}

static __always_inline void leave_processor(int preempted, struct task_struct *task)
{
	struct bpf_pidns_info info = { 0 };
	__u32 key = (__u32)bpf_get_current_pid_tgid(), state = task->__state, slot;
	struct switched off = { 0 };
	struct span_counts *counts;
	struct mpi_target *target;
	__u32 *place;

	place = place_of_current(&switch_targets, &info);
	if (!place || state & IS_DEAD)
		return;
	slot = COOKIE_SLOT(*place);
	target = bpf_map_lookup_elem(&targets, &slot);
	counts = span_counts_of(slot, COOKIE_FUNCTION(*place));
	if (!target || !counts || !target->recording)
		return;
	__sync_fetch_and_add(&counts->begun, 1);
	off.record.kind = MPI_RECORD_SPAN;
	off.record.slot = (__u16)slot;
	off.record.span = (__u16)COOKIE_FUNCTION(*place);
	off.record.tid = info.pid;
	off.record.begin_ns = bpf_ktime_get_ns();
	off.record.detail = preempted || !state ? SWITCH_PREEMPTED : waits_in(task);
	if (!may_note(counts, off.record.begin_ns))
		off.record.flags = SPAN_IS_OVER;
	else if (off.record.detail != SWITCH_PREEMPTED)
		off.record.path = note_path(slot, info.pid);
	(void)bpf_map_update_elem(&switched, &key, &off, BPF_ANY);
}

/* It has ended: as a record, or counted alone. */
static __always_inline void send_counted(struct span_record *record, struct span_counts *counts,
					 __u64 least_ns)
{
	__u64 ns = record->end_ns - record->begin_ns;

	if (record->end_ns <= record->begin_ns)
		return;
	if (ns < least_ns) {
		__sync_fetch_and_add(&counts->short_ones, 1);
		__sync_fetch_and_add(&counts->short_ns, ns);
	} else if (record->flags & SPAN_IS_OVER ||
		   bpf_ringbuf_output(&ring, record, sizeof(*record), BPF_RB_NO_WAKEUP)) {
		__sync_fetch_and_add(&counts->over_limit, 1);
		__sync_fetch_and_add(&counts->over_ns, ns);
	}
}

static __always_inline void enter_processor(struct task_struct *task)
{
	__u32 key = (__u32)task->pid, span;
	struct switched *off = bpf_map_lookup_elem(&switched, &key);
	struct span_config *config;
	struct span_counts *counts;
	__u64 now_ns, woken_ns;

	if (!off)
		return;
	span = off->record.span;
	config = bpf_map_lookup_elem(&span_configs, &span);
	counts = span_counts_of(off->record.slot, span);
	if (config && counts) {
		now_ns = bpf_ktime_get_ns();
		woken_ns = off->woken_ns;
		__sync_fetch_and_add(&counts->ended, 1);
		off->record.end_ns = woken_ns ? woken_ns : now_ns;
		send_counted(&off->record, counts, config->least_ns);
		off->record.begin_ns = off->record.end_ns;
		off->record.end_ns = now_ns;
		off->record.detail = SWITCH_READY;
		send_counted(&off->record, counts, config->least_ns);
	}
	(void)bpf_map_delete_elem(&switched, &key);
}

SEC("tp_btf/sched_switch")
int on_switch(__u64 *context)
{
	int preempted = (int)context[0] & 1;
	struct task_struct *before = (struct task_struct *)context[1];
	struct task_struct *after = (struct task_struct *)context[2];

	leave_processor(preempted, before);
	enter_processor(after);
	return 0;
}

SEC("tp_btf/sched_wakeup")
int on_wakeup(__u64 *context)
{
	struct task_struct *task = (struct task_struct *)context[0];
	__u32 key = (__u32)task->pid;
	struct switched *off = bpf_map_lookup_elem(&switched, &key);

	if (off && !off->woken_ns && off->record.detail != SWITCH_PREEMPTED)
		off->woken_ns = bpf_ktime_get_ns();
	return 0;
}

#endif
