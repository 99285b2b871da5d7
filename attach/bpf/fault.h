/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Part of mpi.bpf.c: page faults of traced processes, from when the kernel begins to serve one
 * until the page is there. The kernel's own counters call these programs, on every processor:
 *
 *   a fault begins         in a process that is traced: the time is noted by thread
 *   a page is there        a record, with whether it had to be read in, and the Python lines
 *
 * What ends otherwise, say by a signal, is no page that was served: the next one takes its place.
 */
#ifndef PIEPROFD_ATTACH_BPF_FAULT_H
#define PIEPROFD_ATTACH_BPF_FAULT_H

#include "attach/bpf/span_record.h"
#include "attach/bpf/switch.h"

#include <linux/bpf_perf_event.h>

#define FAULTING_MAX 16384

/* As switch_targets. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MPI_TARGETS_MAX);
	__type(key, __u32);
	__type(value, __u32);
} fault_targets SEC(".maps");

struct faulting {
	__u64 begin_ns;
	__u32 place; /* of fault_targets */
	__u32 tid;   /* the daemon's number */
};

/* By the machine's number of the thread. Of one that ended in a fault, it goes when it is full. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, FAULTING_MAX);
	__type(key, __u32);
	__type(value, struct faulting);
} faulting SEC(".maps");

SEC("perf_event")
int on_fault_begin(struct bpf_perf_event_data *context)
{
	__u32 key = (__u32)bpf_get_current_pid_tgid(), slot;
	struct bpf_pidns_info info = { 0 };
	__u32 *place = place_of_current(&fault_targets, &info);
	struct faulting begun = { 0 };
	struct mpi_target *target;

	if (!place)
		return 0;
	slot = COOKIE_SLOT(*place);
	target = bpf_map_lookup_elem(&targets, &slot);
	if (!target || !target->recording)
		return 0;
	begun.begin_ns = bpf_ktime_get_ns();
	begun.place = *place;
	begun.tid = info.pid;
	(void)bpf_map_update_elem(&faulting, &key, &begun, BPF_ANY);
	return 0;
}

SEC("perf_event")
int on_fault_end(struct bpf_perf_event_data *context)
{
	__u32 key = (__u32)bpf_get_current_pid_tgid(), span;
	struct faulting *begun = bpf_map_lookup_elem(&faulting, &key);
	struct span_record record = { 0 };
	struct span_config *config;
	struct span_counts *counts;

	if (!begun)
		return 0;
	record.kind = MPI_RECORD_SPAN;
	record.slot = (__u16)COOKIE_SLOT(begun->place);
	record.span = (__u16)COOKIE_FUNCTION(begun->place);
	record.tid = begun->tid;
	record.begin_ns = begun->begin_ns;
	record.detail = (__s32)bpf_get_attach_cookie(context);
	(void)bpf_map_delete_elem(&faulting, &key);
	span = record.span;
	config = bpf_map_lookup_elem(&span_configs, &span);
	counts = span_counts_of(record.slot, span);
	if (!config || !counts)
		return 0;
	__sync_fetch_and_add(&counts->begun, 1);
	__sync_fetch_and_add(&counts->ended, 1);
	record.end_ns = bpf_ktime_get_ns();
	if (!may_note(counts, record.end_ns))
		record.flags = SPAN_IS_OVER;
	else if (record.end_ns - record.begin_ns >= config->least_ns)
		record.path = note_path(record.slot, record.tid);
	send_counted(&record, counts, config->least_ns);
	return 0;
}

#endif
