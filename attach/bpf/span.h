/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Part of mpi.bpf.c: calls of functions that are not MPI's, and what lies between two places of the
 * code. They may lie in each other, and in calls of MPI: each is known by its place on the stack.
 */
#ifndef PIEPROFD_ATTACH_BPF_SPAN_H
#define PIEPROFD_ATTACH_BPF_SPAN_H

#include "attach/bpf/span_record.h"

/* Under way at a time; calls that are left otherwise than by returning go when it is full. */
#define SPANS_OPEN_MAX 16384

struct span_key {
	__u32 tid; /* the machine's */
	__u32 span;
	__u64 sp; /* where the return address lies; 0: a span between places */
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, SPANS_OPEN_MAX);
	__type(key, struct span_key);
	__type(value, struct span_record);
} spans SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SPANS_MAX);
	__type(key, __u32);
	__type(value, struct span_config);
} span_configs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MPI_TARGETS_MAX *SPANS_MAX);
	__type(key, __u32);
	__type(value, struct span_counts);
} span_counters SEC(".maps");

static __always_inline struct span_counts *span_counts_of(__u32 slot, __u32 span)
{
	__u32 key = slot * SPANS_MAX + span;

	return span < SPANS_MAX ? bpf_map_lookup_elem(&span_counters, &key) : NULL;
}

SEC("kprobe")
int on_span_begin(struct pt_regs *context)
{
	__u64 cookie = bpf_get_attach_cookie(context), id = bpf_get_current_pid_tgid();
	__u32 slot = COOKIE_SLOT(cookie), span = COOKIE_FUNCTION(cookie);
	struct mpi_target *target = bpf_map_lookup_elem(&targets, &slot);
	struct span_counts *counts = span_counts_of(slot, span);
	struct span_key key = { (__u32)id, span, cookie & SPAN_AT_PLACES ? 0 : context->rsp };
	struct span_record record = { 0 };

	if (!target || !counts || !target->recording)
		return 0;
	__sync_fetch_and_add(&counts->begun, 1);
	record.kind = MPI_RECORD_SPAN;
	record.slot = (__u16)slot;
	record.span = (__u16)span;
	record.tid = own_number(id);
	record.begin_ns = bpf_ktime_get_ns();
	(void)bpf_map_update_elem(&spans, &key, &record, BPF_ANY);
	return 0;
}

/* Its caller is where it was when it began: it is asked for now, as short ones need none. */
static __always_inline int send_span(struct span_record *record)
{
	record->path = note_path(record->slot, record->tid);
	return !bpf_ringbuf_output(&ring, record, sizeof(*record), BPF_RB_NO_WAKEUP);
}

SEC("kprobe")
int on_span_end(struct pt_regs *context)
{
	__u64 now_ns = bpf_ktime_get_ns();
	__u64 cookie = bpf_get_attach_cookie(context), sp = context->rsp - 8;
	__u32 slot = COOKIE_SLOT(cookie), span = COOKIE_FUNCTION(cookie);
	struct mpi_target *target = bpf_map_lookup_elem(&targets, &slot);
	struct span_config *config = bpf_map_lookup_elem(&span_configs, &span);
	struct span_counts *counts = span_counts_of(slot, span);
	struct span_key key = { (__u32)bpf_get_current_pid_tgid(), span,
				cookie & SPAN_AT_PLACES ? 0 : sp };
	struct span_record *record = bpf_map_lookup_elem(&spans, &key);
	__u64 ns;

	/* It began before it was recorded. */
	if (!target || !config || !counts || !record || record->slot != slot)
		return 0;
	ns = now_ns - record->begin_ns;
	record->end_ns = now_ns;
	__sync_fetch_and_add(&counts->ended, 1);
	if (ns < config->least_ns) {
		__sync_fetch_and_add(&counts->short_ones, 1);
		__sync_fetch_and_add(&counts->short_ns, ns);
	} else if (!within_limit(target, now_ns) || !send_span(record)) {
		__sync_fetch_and_add(&counts->over_limit, 1);
		__sync_fetch_and_add(&counts->over_ns, ns);
	}
	(void)bpf_map_delete_elem(&spans, &key);
	return 0;
}

#endif
