/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Runs in the kernel whenever a processor's sampling clock fires, or so many page faults have been
 * served on it: when a thread of the target is on it, copies what its stacks are made of, and goes
 * on. Nobody is stopped, woken or signalled.
 *
 *   the thread's registers; its native stack, from below the stack pointer
 *   its PyThreadState --> frames: the data stack (3.11+), and each one outside of it
 *
 * The daemon makes of the copies what it makes of a stopped thread's memory. All that is read
 * here is the target's: hostile, so every length is bounded and every link followed so many
 * times at most. Memory that is not there is passed over.
 */
#include "attach/bpf/clock_record.h"
#include "attach/bpf/thread_copy.h"

#include <linux/bpf_perf_event.h>

#define RING_BYTES       (1u << 20) /* the daemon makes each as large as it likes */
#define USER_MODE        3
#define FAULT_HALVES_MAX 16
#define FAULTS_SETTLE_NS 100000000ull

/*
 * A fault that fills a huge page counts as much as 512 others, and one such line between others
 * that fill small pages was met by no sample, or by one that stood for all of them. Which it is
 * shows only later; but a huge page is filled by the first fault in its place. So those are counted
 * and sampled by themselves.
 */
enum fault_kind {
	FAULT_FOLLOWING,
	FAULT_FIRST, /* or a while after the last one: the memory may be new again */
	FAULT_KINDS
};

#define HUGE_PAGE_BITS  21
#define HUGE_PLACES_MAX 16384
#define FAULT_WHILE_NS  1000000ull

/* Of one process on one processor. */
struct fault_count {
	__u64 faulted_ns;    /* when a fault was sampled, last */
	__u32 faults;        /* of the process since then */
	__u32 faults_wanted; /* until the next one */
	__u32 faults_mean;   /* which is about that */
	__u32 unused;
	__u64 mean_ns; /* when that was changed */
};

struct fault_counts {
	struct fault_count kinds[FAULT_KINDS];
};

struct huge_place {
	__u64 number;
	__u32 slot, unused;
};

/* In a section of its own: the daemon fills it before the program is loaded. */
SEC(".rodata.config") const volatile struct clock_machine machine;

/* A process's number in the daemon's namespace --> its place in the maps below. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, CLOCK_TARGETS_MAX);
	__type(key, __u32);
	__type(value, __u32);
} slots SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, CLOCK_TARGETS_MAX);
	__type(key, __u32);
	__type(value, struct clock_target);
} targets SEC(".maps");

struct ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, RING_BYTES);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, CLOCK_TARGETS_MAX);
	__type(key, __u32);
	__array(values, struct ring);
} rings SEC(".maps");

/* By place, then processor. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, PROCESSORS_MAX);
	__type(key, __u32);
	__type(value, struct fault_counts);
} fault_counts SEC(".maps");

/* When there was a fault, last. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, HUGE_PLACES_MAX);
	__type(key, struct huge_place);
	__type(value, __u64);
} huge_places SEC(".maps");

/*
 * The kernel's own stack, where the clock met the thread in it. Addresses, which the daemon has
 * named by on_symbol, and forgets.
 */
static __always_inline void append_kernel(struct bpf_perf_event_data *context,
					  struct scratch *scratch, struct processor *own)
{
	struct clock_piece piece = { .kind = CLOCK_PIECE_KERNEL };
	__u32 at = own->used;
	long bytes;

	if (at > CLOCK_PIECES_BYTES - CLOCK_PAGE_BYTES - sizeof(piece))
		return;
	bytes = bpf_get_stack(context, scratch->pieces + at + sizeof(piece),
			      CLOCK_KERNEL_MAX * sizeof(__u64), 0);
	if (bytes <= 0 || bytes > (long)(CLOCK_KERNEL_MAX * sizeof(__u64)))
		return;
	piece.bytes = (__u32)bytes;
	__builtin_memcpy(scratch->pieces + at, &piece, sizeof(piece));
	own->used = at + (__u32)sizeof(piece) + (piece.bytes & ~7u);
}

/* The process that is on this processor, if it is one of those. */
static __always_inline struct clock_target *running_target(__u32 *ret_slot)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct clock_target *target;
	__u32 inner, number, *slot;

	number = number_of(BPF_CORE_READ(task, group_leader, thread_pid), machine.namespace_inode,
			   &inner);
	slot = number ? bpf_map_lookup_elem(&slots, &number) : NULL;
	if (!slot)
		return NULL;
	*ret_slot = *slot;
	target = bpf_map_lookup_elem(&targets, ret_slot);
	return target && target->enabled ? target : NULL;
}

static __always_inline int take_context(struct bpf_perf_event_data *context,
					struct clock_record *record)
{
	struct pt_regs registers;

	if ((context->regs.cs & USER_MODE) == USER_MODE) {
		__builtin_memcpy(&registers, &context->regs, sizeof(registers));
	} else {
		struct task_struct *task = bpf_get_current_task_btf();

		record->flags = CLOCK_IN_KERNEL;
		if (bpf_probe_read_kernel(&registers, sizeof(registers),
					  (void *)bpf_task_pt_regs(task)))
			return 0;
		/* The instruction leaves these two so; faults and interrupts do not. */
		if (registers.rcx == registers.rip && registers.r11 == registers.eflags)
			record->system_call = (__s64)registers.orig_rax;
	}
	take_registers(record, &registers);
	return 1;
}

/* False: the ring had no room. */
static __noinline int copy_and_send(__u32 slot)
{
	struct clock_target *target = bpf_map_lookup_elem(&targets, &slot);
	void *ring = bpf_map_lookup_elem(&rings, &slot);
	struct processor *own = own_processor();
	struct scratch *scratch = own_scratch();
	struct clock_record *record;

	if (!scratch || !own || !target || !ring)
		return 1;
	record = &scratch->record;
	copy_thread(&target->config, record, target->stack_pages);
	if (own->used <= CLOCK_PIECES_BYTES &&
	    !bpf_ringbuf_output(ring, scratch, sizeof(scratch->record) + own->used,
				BPF_RB_NO_WAKEUP))
		return 1;
	__sync_fetch_and_add(&target->dropped, 1);
	return 0;
}

SEC("perf_event")
int on_clock(struct bpf_perf_event_data *context)
{
	__u64 now_ns = bpf_ktime_get_ns(), since_ns;
	struct processor *own = own_processor();
	struct scratch *scratch = own_scratch();
	struct clock_target *target;
	__u32 slot;

	if (!own || !scratch)
		return 0;
	since_ns = own->fired_ns && now_ns > own->fired_ns ? now_ns - own->fired_ns : 0;
	own->fired_ns = now_ns;
	target = running_target(&slot);
	if (!target || (target->share != CLOCK_SHARE_ALL && bpf_get_prandom_u32() > target->share))
		return 0;
	begin_record(&scratch->record, own, machine.namespace_inode, now_ns);
	scratch->record.since_ns = since_ns;
	if (!take_context(context, &scratch->record))
		return 0;
	if (scratch->record.flags & CLOCK_IN_KERNEL && target->kernel_frames)
		append_kernel(context, scratch, own);
	(void)copy_and_send(slot);
	return 0;
}

/*
 * How many faults until the next sample: as few as can be, but in a burst so many that samples are
 * not closer than they may be; and at random around that, so that what a program touches in a
 * rhythm is met anywhere. It doubles at once and is halved slowly: a sample stands for all faults
 * since the last one, and where lines take turns, each would give what it leaves to the next line
 * by a number of its own.
 */
static __always_inline void next_faults(struct fault_count *own, __u64 least_ns, __u64 now_ns)
{
	__u64 since_ns = now_ns - own->faulted_ns, settled_ns = now_ns - own->mean_ns;

	if (since_ns < least_ns && own->faults_mean < CLOCK_FAULTS_MAX) {
		own->faults_mean *= 2;
		own->mean_ns = now_ns;
	} else if (since_ns > 4 * least_ns && settled_ns > FAULTS_SETTLE_NS) {
		for (__u32 i = 0; i < FAULT_HALVES_MAX && settled_ns > FAULTS_SETTLE_NS; i++) {
			own->faults_mean /= 2;
			settled_ns -= FAULTS_SETTLE_NS;
		}
		own->mean_ns = now_ns;
	}
	if (own->faults_mean < CLOCK_FAULT_PERIOD)
		own->faults_mean = CLOCK_FAULT_PERIOD;
	own->faulted_ns = now_ns;
	own->faults = 0;
	own->faults_wanted = own->faults_mean / 2 + bpf_get_prandom_u32() % own->faults_mean;
}

static __always_inline enum fault_kind kind_of(__u32 slot, __u64 address, __u64 now_ns)
{
	struct huge_place place = { .number = address >> HUGE_PAGE_BITS, .slot = slot };
	__u64 *known_ns = bpf_map_lookup_elem(&huge_places, &place), last_ns;

	if (!known_ns) {
		(void)bpf_map_update_elem(&huge_places, &place, &now_ns, BPF_ANY);
		return FAULT_FIRST;
	}
	last_ns = *known_ns;
	*known_ns = now_ns;
	return now_ns - last_ns > FAULT_WHILE_NS ? FAULT_FIRST : FAULT_FOLLOWING;
}

/*
 * Of a fault that was met: for how many it stands; 0: it is not sampled. Firsts are few, and come
 * in rows of a few, so each is drawn by itself and stands for what the chance was: what were left
 * over of a row would go to the next line, and may be huge pages.
 */
static __always_inline __u32 draw_fault(const struct fault_count *own)
{
	__u32 mean = own->faults_mean;

	if (mean <= CLOCK_FAULT_PERIOD)
		return CLOCK_FAULT_PERIOD;
	return bpf_get_prandom_u32() % mean < CLOCK_FAULT_PERIOD ? mean : 0;
}

static __always_inline __u32 count_fault(struct fault_count *own)
{
	own->faults += CLOCK_FAULT_PERIOD;
	return own->faults < own->faults_wanted ? 0 : own->faults;
}

/*
 * The same, whichever kind it is, and when the next one will be. With a frame of its own: 6.1 takes
 * no program whose calls have more than 512 bytes of stack, which on_fault() with what it calls
 * has.
 */
static __noinline __u32 choose_fault(__u32 slot, __u64 address, __u64 now_ns)
{
	__u32 place = slot * machine.processors + bpf_get_smp_processor_id(), faults;
	struct clock_target *target = bpf_map_lookup_elem(&targets, &slot);
	struct fault_counts *counts = bpf_map_lookup_elem(&fault_counts, &place);
	struct fault_count *count;

	if (!target || !counts || !target->wants_faults)
		return 0;
	if (kind_of(slot, address, now_ns) == FAULT_FIRST) {
		count = &counts->kinds[FAULT_FIRST];
		faults = draw_fault(count);
	} else {
		count = &counts->kinds[FAULT_FOLLOWING];
		faults = count_fault(count);
	}
	/* Both may come all the time. */
	if (faults)
		next_faults(count, target->fault_interval_us * 1000ull * FAULT_KINDS, now_ns);
	return faults;
}

/* A page was touched that was not there, by the program or by the kernel on its behalf. */
SEC("perf_event")
int on_fault(struct bpf_perf_event_data *context)
{
	__u64 now_ns = bpf_ktime_get_ns();
	struct processor *own = own_processor();
	struct scratch *scratch = own_scratch();
	struct clock_target *target;
	struct clock_record *record;
	__u32 slot, faults;

	if (!own || !scratch)
		return 0;
	target = running_target(&slot);
	faults = target ? choose_fault(slot, context->addr, now_ns) : 0;
	if (!faults)
		return 0;
	record = &scratch->record;
	begin_record(record, own, machine.namespace_inode, now_ns);
	record->fault = context->addr;
	record->faults = faults;
	if (!take_context(context, record))
		return 0;
	record->flags |= CLOCK_FAULT;
	if (!copy_and_send(slot))
		__sync_fetch_and_add(&target->faults_dropped, record->faults);
	return 0;
}

/*
 * Never attached to anything: the daemon runs it to have one address named, which needs no right
 * beside those for the clocks. The kernel prints the address itself where it knows no name.
 */
SEC("raw_tp")
int on_symbol(struct bpf_raw_tracepoint_args *context)
{
	static const char format[] = "%pS";
	__u32 slot = (__u32)context->args[0];
	struct clock_target *target = bpf_map_lookup_elem(&targets, &slot);
	__u64 address;

	if (!target)
		return 0;
	address = target->asked;
	target->symbol[0] = '\0';
	(void)bpf_snprintf(target->symbol, sizeof(target->symbol), format, &address,
			   sizeof(address));
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
