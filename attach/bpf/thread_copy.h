/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * For programs that run in the kernel: copies of what a thread's stacks are made of, put together
 * in a place that each processor has of its own.
 *
 *   its native stack, from below the stack pointer
 *   its PyThreadState --> frames: the data stack (3.11+), and each one outside of it
 */
#ifndef PIEPROFD_ATTACH_BPF_THREAD_COPY_H
#define PIEPROFD_ATTACH_BPF_THREAD_COPY_H

#include "attach/bpf/clock_record.h"
#include "attach/bpf/python_thread.h"

#include <asm/ptrace.h>

#define PROCESSORS_MAX 1024 /* the daemon sets how many there are */

/* What a sample is put together in, one a processor. */
struct scratch {
	struct clock_record record;
	__u8 pieces[CLOCK_PIECES_BYTES];
};

struct processor {
	__u64 fired_ns; /* the clock, last */
	__u32 used;     /* bytes of scratch.pieces */
	__u32 busy;     /* where programs may be preempted: one is at work */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, PROCESSORS_MAX);
	__type(key, __u32);
	__type(value, struct scratch);
} scratches SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, PROCESSORS_MAX);
	__type(key, __u32);
	__type(value, struct processor);
} processors SEC(".maps");

static __always_inline struct scratch *own_scratch(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&scratches, &cpu);
}

static __always_inline struct processor *own_processor(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&processors, &cpu);
}

/* Appends at most a page. 0; or it is not there, or there is no room. */
static __noinline int append(__u64 address, __u32 bytes, __u32 kind)
{
	struct scratch *scratch = own_scratch();
	struct processor *own = own_processor();
	struct clock_piece piece = { .address = address, .bytes = bytes, .kind = kind };
	__u64 size = bytes;
	__u32 at;

	/* What the verifier sees checked is what is used, and not a copy of the compiler's. */
	barrier_var(size);
	if (!scratch || !own || size > CLOCK_PAGE_BYTES || bytes == 0)
		return -1;
	at = own->used;
	if (at > CLOCK_PIECES_BYTES - CLOCK_PAGE_BYTES - sizeof(piece)) {
		scratch->record.flags |= CLOCK_CUT_SHORT;
		return -1;
	}
	if (bpf_probe_read_user(scratch->pieces + at + sizeof(piece), size, (void *)address))
		return -1;
	__builtin_memcpy(scratch->pieces + at, &piece, sizeof(piece));
	own->used = at + (__u32)sizeof(piece) + ((bytes + 7) & ~7u);
	return 0;
}

/* ---- stacks ---- */

struct stretch {
	__u64 address;
	__u64 end;
	__u32 kind;
	__u32 unused;
};

/* A page of it, the first one to its end. */
static long stretch_step(__u32 index, struct stretch *stretch)
{
	__u32 bytes = CLOCK_PAGE_BYTES - (stretch->address & (CLOCK_PAGE_BYTES - 1));

	if (stretch->address >= stretch->end)
		return 1;
	if (bytes > stretch->end - stretch->address)
		bytes = stretch->end - stretch->address;
	/* Below the stack pointer, nothing may have been touched yet. */
	if (append(stretch->address, bytes, stretch->kind) &&
	    (index || stretch->kind != CLOCK_PIECE_STACK))
		return 1;
	stretch->address += bytes;
	return 0;
}

struct walk {
	__u64 link;
	__u64 first, end; /* copied already */
	__u32 bytes;      /* of one */
	__u32 previous;   /* where the next link is */
};

static long frame_step(__u32 index, struct walk *walk)
{
	if (!walk->link)
		return 1;
	if ((walk->link < walk->first || walk->link >= walk->end) &&
	    append(walk->link, walk->bytes, CLOCK_PIECE_DATA))
		return 1;
	walk->link = user_word(walk->link + walk->previous);
	return 0;
}

static long cframe_step(__u32 index, struct walk *walk)
{
	if (!walk->link || append(walk->link, walk->bytes, CLOCK_PIECE_DATA))
		return 1;
	walk->link = user_word(walk->link + walk->previous);
	return 0;
}

static __always_inline void copy_stack(__u32 pages, __u64 stack_pointer)
{
	struct stretch stretch = {
		.address = stack_pointer - CLOCK_RED_ZONE_BYTES,
		.kind = CLOCK_PIECE_STACK,
	};

	if (pages > CLOCK_STACK_PAGES_MAX)
		pages = CLOCK_STACK_PAGES_MAX;
	stretch.end = stretch.address + pages * CLOCK_PAGE_BYTES;
	bpf_loop(pages + 1, stretch_step, &stretch, 0);
}

static __always_inline void copy_frames(const struct clock_config *config, __u64 thread)
{
	struct stretch chunk = { .kind = CLOCK_PIECE_DATA };
	struct walk walk = { .bytes = config->frame_bytes, .previous = config->frame_previous };

	if (append(thread, config->state_bytes, CLOCK_PIECE_STATE))
		return;
	for (__u32 i = 0; i < CLOCK_WORDS_MAX; i++)
		if (i < config->word_count)
			(void)append(config->words[i].address, config->words[i].bytes,
				     CLOCK_PIECE_DATA);
	if (config->thread_chunk != CLOCK_ABSENT) {
		chunk.address = user_word(thread + config->thread_chunk);
		chunk.end = user_word(thread + config->thread_chunk_top);
		if (chunk.end - chunk.address > CLOCK_CHUNK_PAGES_MAX * CLOCK_PAGE_BYTES)
			chunk.address = chunk.end - CLOCK_CHUNK_PAGES_MAX * CLOCK_PAGE_BYTES;
		walk.first = chunk.address;
		bpf_loop(CLOCK_CHUNK_PAGES_MAX + 1, stretch_step, &chunk, 0);
		walk.end = chunk.address;
	}
	if (config->thread_cframe != CLOCK_ABSENT) {
		struct walk cframes = {
			.link = user_word(thread + config->thread_cframe),
			.bytes = config->cframe_bytes,
			.previous = config->cframe_previous,
		};

		bpf_loop(CFRAMES_MAX, cframe_step, &cframes, 0);
	}
	walk.link = innermost_frame(config, thread);
	bpf_loop(CLOCK_FRAMES_MAX, frame_step, &walk, 0);
}

static __always_inline void take_registers(struct clock_record *record, const struct pt_regs *from)
{
	__u64 *to = record->registers;

	to[0] = from->rax;
	to[1] = from->rcx;
	to[2] = from->rdx;
	to[3] = from->rbx;
	to[4] = from->rsp;
	to[5] = from->rbp;
	to[6] = from->rsi;
	to[7] = from->rdi;
	to[8] = from->r8;
	to[9] = from->r9;
	to[10] = from->r10;
	to[11] = from->r11;
	to[12] = from->r12;
	to[13] = from->r13;
	to[14] = from->r14;
	to[15] = from->r15;
	to[16] = from->rip;
}

static __always_inline void begin_record(struct clock_record *record, struct processor *own,
					 __u32 namespace_inode, __u64 now_ns)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u32 inner;

	own->used = 0;
	record->flags = 0;
	record->system_call = -1;
	record->time_ns = now_ns;
	record->since_ns = record->fault = record->faults = 0;
	record->cpu = bpf_get_smp_processor_id();
	record->tid = number_of(BPF_CORE_READ(task, thread_pid), namespace_inode, &inner);
	record->inner_tid = inner;
	record->started_ns = BPF_CORE_READ(task, start_time);
	record->state = 0;
	bpf_get_current_comm(record->comm, sizeof(record->comm));
}

/* The frames, then the stack. */
static __always_inline void copy_thread(const struct clock_config *config,
					struct clock_record *record, __u32 stack_pages)
{
	struct task_struct *task = bpf_get_current_task_btf();

	if (config->has_python) {
		record->state =
			find_state(config, record->tid,
				   identity_of(config, task, record->inner_tid), record->time_ns);
		if (record->state)
			copy_frames(config, record->state);
	}
	copy_stack(stack_pages, record->registers[CLOCK_REGISTER_SP]);
	record->cost_ns = bpf_ktime_get_ns() - record->time_ns;
}

#endif
