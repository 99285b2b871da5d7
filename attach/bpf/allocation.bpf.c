/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Runs in the kernel when a process enters one of its allocator's functions, while probes are
 * there: counts the call, and of one in so many bytes copies what its thread's stacks are made of.
 * Of a sampled block the address is noted when the call returns; when that is given back while the
 * probes are there, this is reported, too.
 *
 * Arguments, and what they point to, are the target's: hostile. What cannot be read is passed over.
 *
 * It may be preempted by another thread that enters: the processor's place for a sample is then
 * taken, and that one is missed.
 */
#include "attach/bpf/allocation_record.h"
#include "attach/bpf/thread_copy.h"

#define RING_BYTES          (1u << 20) /* replaced by the clock's */
#define CALLS_MAX           4096       /* sampled and not returned */
#define CHUNK_HEADER        8
#define CHUNK_FLAGS         7u
#define CHUNK_MAPPED        2u
#define SKIP_RETURN         1
#define ALLOCATION_CPU_BITS 10 /* PROCESSORS_MAX */

struct call {
	__u64 sp; /* where the return address lies */
	__u64 return_to;
	__u64 out;    /* where the block's address will be; 0: it is returned */
	__u32 number; /* of the sample */
	__u32 window;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct allocation_target);
} target_of SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, RING_BYTES);
} ring SEC(".maps");

/* By thread. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, CALLS_MAX);
	__type(key, __u32);
	__type(value, struct call);
} calls SEC(".maps");

/* By address. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, ALLOCATION_BLOCKS_MAX);
	__type(key, __u64);
	__type(value, struct allocation_block);
} blocks SEC(".maps");

static __always_inline void add(__u64 *count, __u64 more)
{
	__sync_fetch_and_add(count, more);
}

/* All are read, and one is chosen: of an address into the registers, the verifier wants to know
 * which. */
static __always_inline __u64 argument(const struct pt_regs *context, __u32 number)
{
	__u64 rdi = context->rdi, rsi = context->rsi, rdx = context->rdx, rcx = context->rcx,
	      rax = context->rax;

	barrier_var(rdi);
	barrier_var(rsi);
	barrier_var(rdx);
	barrier_var(rcx);
	barrier_var(rax);
	return number == 0 ? rdi : number == 1 ? rsi : number == 2 ? rdx : number == 3 ? rcx : rax;
}

static __always_inline void take_registers_of(struct clock_record *record,
					      const struct pt_regs *context)
{
	struct pt_regs registers;

	__builtin_memcpy(&registers, context, sizeof(registers));
	take_registers(record, &registers);
}

/* 0: it is another function's, which is probed, too. */
static __always_inline __u64 size_of(const struct pt_regs *context, __u64 cookie)
{
	__u64 size = argument(context, ALLOCATION_SIZE(cookie)), most = ALLOCATION_MOST(cookie);
	__u32 count = ALLOCATION_COUNT(cookie);

	if (count != ALLOCATION_NONE)
		size *= argument(context, count);
	return most && size > most ? 0 : size;
}

/* Of a block that becomes larger, by how much. */
static __always_inline __u64 growth_of(__u64 address, __u64 size, __u64 cookie)
{
	__u64 word, held;

	if (!address || !ALLOCATION_HEADER(cookie))
		return size;
	word = user_word(address - CHUNK_HEADER);
	held = word & ~(__u64)CHUNK_FLAGS;
	held = held > 2 * CHUNK_HEADER ? held - CHUNK_HEADER : 0;
	if (word & CHUNK_MAPPED && held)
		held -= CHUNK_HEADER;
	return size > held ? size - held : 0;
}

/* Of bytes: for how many a sample of them stands. */
static __always_inline __u64 stands_for(const struct allocation_target *target, __u64 bytes)
{
	__u64 weight = bytes + target->object_bytes;

	/* The product would be too large for what a process cannot have. */
	return weight >= target->interval_bytes || bytes >> 32 || !weight
		       ? bytes
		       : bytes * target->interval_bytes / weight;
}

static __always_inline int is_sampled(const struct allocation_target *target, __u64 bytes)
{
	__u64 weight = bytes + target->object_bytes;

	return bytes &&
	       (weight >= target->interval_bytes || bpf_get_prandom_u32() < weight * target->scale);
}

static __always_inline int send(struct allocation_target *target, struct scratch *scratch,
				const struct processor *own)
{
	return own->used <= CLOCK_PIECES_BYTES &&
	       !bpf_ringbuf_output(&ring, scratch, sizeof(scratch->record) + own->used,
				   BPF_RB_NO_WAKEUP);
}

/* Its number; 0: it is missed. */
static __noinline __u32 take_sample(struct pt_regs *context, __u64 bytes)
{
	__u64 now_ns = bpf_ktime_get_ns();
	__u32 zero = 0, number = 0;
	struct allocation_target *target = bpf_map_lookup_elem(&target_of, &zero);
	struct processor *own = own_processor();
	struct scratch *scratch = own_scratch();

	if (!target || !own || !scratch || own->busy || target->samples >= target->samples_most)
		return 0;
	own->busy = 1;
	barrier();
	begin_record(&scratch->record, own, target->namespace_inode, now_ns);
	take_registers_of(&scratch->record, context);
	scratch->record.flags = CLOCK_ALLOCATION;
	add(&target->samples, 1);
	/* Never again in this run: a processor's own numbers. */
	number = (__u32)(++own->fired_ns << ALLOCATION_CPU_BITS) | bpf_get_smp_processor_id();
	scratch->record.since_ns = number;
	scratch->record.fault = bytes;
	scratch->record.faults = stands_for(target, bytes);
	copy_thread(&target->config, &scratch->record, target->stack_pages);
	add(&target->counts.cost_ns, scratch->record.cost_ns);
	if (!send(target, scratch, own))
		number = 0;
	barrier();
	own->busy = 0;
	return number;
}

static __always_inline void send_release(__u32 number)
{
	struct clock_record *record = bpf_ringbuf_reserve(&ring, sizeof(*record), 0);

	if (!record)
		return;
	__builtin_memset(record, 0, sizeof(*record));
	record->flags = CLOCK_RELEASE;
	record->system_call = -1;
	record->time_ns = bpf_ktime_get_ns();
	record->since_ns = number;
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
}

/* The block's number, which is forgotten; 0: it was not sampled in this window. */
static __always_inline __u32 forget_block(const struct allocation_target *target, __u64 address)
{
	struct allocation_block *block = bpf_map_lookup_elem(&blocks, &address);
	__u32 number;

	if (!block)
		return 0;
	number = block->window == target->window ? block->number : 0;
	(void)bpf_map_delete_elem(&blocks, &address);
	return number;
}

static __always_inline void note_block(const struct pt_regs *context, const struct call *call)
{
	struct allocation_block block = { call->number, call->window };
	__u64 address = call->out ? user_word(call->out) : context->rax;

	if (address)
		(void)bpf_map_update_elem(&blocks, &address, &block, BPF_ANY);
}

/* Whether its return is to be seen. */
static __always_inline int note_call(const struct allocation_target *target,
				     const struct pt_regs *context, __u32 tid, __u32 number,
				     __u64 out)
{
	struct call call = {
		.sp = context->rsp,
		.return_to = user_word(context->rsp),
		.out = out,
		.number = number,
		.window = target->window,
	};

	return !bpf_map_update_elem(&calls, &tid, &call, BPF_ANY);
}

/* Whether the return is to be seen. */
static __always_inline int enter(struct allocation_target *target, struct pt_regs *context,
				 __u32 tid, __u64 cookie)
{
	__u32 operation = ALLOCATION_OPERATION(cookie), number;
	__u64 pointer = argument(context, ALLOCATION_POINTER(cookie)), bytes;

	add(&target->counts.hits, 1);
	if (cookie & ALLOCATION_STEPPED)
		add(&target->counts.stepped, 1);
	if (operation == ALLOCATION_RELEASE) {
		number = pointer ? forget_block(target, pointer) : 0;
		if (number)
			send_release(number);
		return 0;
	}
	bytes = size_of(context, cookie);
	if (operation == ALLOCATION_RESIZE && pointer) {
		number = forget_block(target, pointer);
		bytes = growth_of(pointer, bytes, cookie);
		add(&target->counts.bytes, bytes);
		/* It is the same block wherever it lies. */
		if (number)
			return note_call(target, context, tid, number, 0);
	} else {
		add(&target->counts.objects, bytes > 0);
		add(&target->counts.bytes, bytes);
	}
	if (!is_sampled(target, bytes))
		return 0;
	number = take_sample(context, bytes);
	if (!number) {
		add(&target->counts.missed, 1);
		add(&target->counts.missed_bytes, stands_for(target, bytes));
		return 0;
	}
	add(&target->counts.samples, 1);
	return note_call(target, context, tid, number, operation == ALLOCATION_ALIGN ? pointer : 0);
}

/* Of a function, when it is entered and when it returns. */
SEC("kprobe")
int on_allocation(struct pt_regs *context)
{
	__u64 cookie = bpf_get_attach_cookie(context);
	__u32 zero = 0, tid = (__u32)bpf_get_current_pid_tgid();
	struct allocation_target *target = bpf_map_lookup_elem(&target_of, &zero);
	struct call *call;
	int seen;

	if (!target)
		return 0;
	if (!target->recording) {
		add(&target->counts.idle_hits, 1);
		return target->at_entry_alone ? SKIP_RETURN : 0;
	}
	call = bpf_map_lookup_elem(&calls, &tid);
	if (call && context->rsp == call->sp + sizeof(__u64) && context->rip == call->return_to) {
		if (call->window == target->window)
			note_block(context, call);
		(void)bpf_map_delete_elem(&calls, &tid);
		return 0;
	}
	/* Returns of others, where all are seen. */
	if (cookie & ALLOCATION_AT_RETURN)
		return 0;
	seen = enter(target, context, tid, cookie);
	return target->at_entry_alone && !seen ? SKIP_RETURN : 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
