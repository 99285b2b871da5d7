/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/detect/redundancy.h"

#include "attach/lookahead.h"
#include "attach/trap_instruction.h"
#include "common/block_cache.h"
#include "common/clock.h"
#include "daemon/detect/object_head.h"
#include "daemon/detect/same_call.h"
#include "daemon/detect/sampled_access.h"
#include "daemon/detect/slot_policy.h"
#include "daemon/detect/verdict.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Accesses passed over at random, so that the clock's skid does not always choose the same one. */
#define SKIP_RANGE 8
/* Accesses that do not count, as those to an object's head, passed on the way to one that does. */
#define PASSED_ACCESSES_MAX 4
/* Stops on the way to an access that could not be told from where the clock stopped. */
#define STEPS_MAX 4
/* The boundary's address is reached by deeper calls too: that often, then the sample is given up.
 */
#define BOUNDARY_PASSED_MAX 16
/* Traps by the interpreter, or by stores while a load is awaited. */
#define TRAPS_PASSED_MAX 24
/* No thread's stack is larger; nor is a thread's control block. */
#define STACK_BYTES_MAX     (1ull << 30)
#define CONTROL_BLOCK_BYTES 4096
/* What glibc sets aside for libraries is 1.6 KiB; programs rarely have more than a page. */
#define THREAD_LOCAL_BYTES_MAX 8192
/* Traps by other calls of the same function until the one that is awaited. */
#define LATER_TRAPS_MAX 5
/* Of a call that goes on for less there is nothing to learn by looking again at its end. */
#define SETTLING_CALL_MIN_NS (10 * NS_PER_US)
/* A step is a matter of microseconds, a native call may last. */
#define STEPPING_TIMEOUT_NS (100 * NS_PER_MS)
#define BOUNDARY_TIMEOUT_NS (10 * NS_PER_SECOND)

enum watch_phase {
	WATCH_FREE,
	WATCH_STEPPING,
	WATCH_BOUNDARY,
	WATCH_WATCHING,
	WATCH_SETTLING, /* decided, but what the later call leaves in the end is looked at too */
	WATCH_LENT,     /* to another purpose */
	WATCH_DECIDED,  /* until the later context is known */
};

/* One memory sample and the debug register it uses. */
struct watch {
	enum watch_phase phase;
	enum pair_kind kind;
	const struct cct_node *first;  /* calling context of the earlier access */
	const struct cct_node *second; /* of the later one, once it settles */
	bool wants_context;            /* this stop's context is the earlier one */
	unsigned steps;
	unsigned skip;           /* accesses still to be passed over at random */
	unsigned later;          /* traps after the verdict */
	unsigned passed;         /* stops that were not the one awaited */
	remote_addr boundary;    /* where its native call returns to ... */
	remote_addr boundary_sp; /* ... and with which stack pointer */
	struct access access;
	struct address_range watched;
	struct address_range compared; /* of it, what the later access touched */
	uint8_t value[8];
	uint64_t armed_ns;   /* when the present phase began */
	uint64_t running_ns; /* the same in the event's on-CPU time */
	struct pair_evidence evidence;
	bool judged;      /* verdict and second are known, but there is more to learn */
	bool overwritten; /* a store that is no native library's changed it meanwhile */
	enum access_verdict verdict;
};

struct redundancy_thread {
	struct watch watches[SLOT_POLICY_SLOTS];
	struct slot_policy policy;
	uint64_t random;
	enum pair_kind next_kind;
};

struct redundancy {
	struct redundancy_options options;
	struct target *target;
	struct pair_table *pairs;
	struct losses *losses;
	struct trap_decoder *decoder;
	struct object_types types;
	struct block_cache memory; /* of the stop in hand: what lies ahead of the thread */
	uint32_t generation;       /* of the mappings the decoder's cache belongs to */
	/*
	 * The least on-CPU time ever seen from a stop to a boundary: what the
	 * kernel needs to resume a thread. Subtracted from the durations of calls.
	 */
	uint64_t resume_ns;
};

struct redundancy *redundancy_create(const struct redundancy_options *options,
				     struct target *target, struct pair_table *pairs,
				     struct losses *losses)
{
	struct redundancy *redundancy = calloc(1, sizeof(*redundancy));

	if (!redundancy)
		return NULL;
	redundancy->options = *options;
	redundancy->target = target;
	redundancy->pairs = pairs;
	redundancy->losses = losses;
	redundancy->resume_ns = UINT64_MAX;
	block_cache_init(&redundancy->memory, &target->reader);
	redundancy->decoder = trap_decoder_create(&target->code);
	if (!redundancy->decoder) {
		free(redundancy);
		return NULL;
	}
	return redundancy;
}

void redundancy_destroy(struct redundancy *redundancy)
{
	if (!redundancy)
		return;
	trap_decoder_destroy(redundancy->decoder);
	free(redundancy);
}

struct redundancy_thread *redundancy_thread_create(struct redundancy *redundancy, pid_t tid)
{
	struct redundancy_thread *thread = calloc(1, sizeof(*thread));

	if (!thread)
		return NULL;
	thread->random = redundancy->options.seed * 2654435761u + (uint64_t)tid + 1;
	thread->next_kind = redundancy->options.loads ? PAIR_LOAD : PAIR_STORE;
	slot_policy_init(&thread->policy, redundancy->options.breakpoints, thread->random);
	return thread;
}

void redundancy_thread_destroy(struct redundancy_thread *thread)
{
	free(thread);
}

static void lose(struct redundancy *redundancy, enum loss loss)
{
	redundancy->losses->counts[loss]++;
}

static void watch_free(struct redundancy_thread *thread, int slot)
{
	thread->watches[slot] = (struct watch){ .phase = WATCH_FREE };
	slot_policy_release(&thread->policy, slot);
}

static void watch_end(struct redundancy_thread *thread, struct tracee *tracee, int slot)
{
	breakpoint_disarm(&tracee->events, (unsigned)slot);
	watch_free(thread, slot);
}

/* The pair of a watch that has its verdict and both contexts. */
static void watch_count(struct redundancy *redundancy, const struct watch *watch)
{
	if (!watch->first || !watch->second ||
	    pair_table_add(redundancy->pairs, watch->kind, watch->first, watch->second,
			   watch->verdict, &watch->evidence))
		lose(redundancy, LOSS_TREE_FULL);
}

static int watch_arm(struct redundancy_thread *thread, struct tracee *tracee, int slot,
		     enum breakpoint_type type, remote_addr address, size_t length)
{
	struct watch *watch = &thread->watches[slot];
	int error = breakpoint_arm(&tracee->events, (unsigned)slot, type, address, length);

	watch->passed = 0;
	watch->armed_ns = clock_now_ns();
	watch->running_ns = error ? 0 : breakpoint_running_ns(&tracee->events, (unsigned)slot);
	return error;
}

/* Ends a watch before its time; what it has found counts. */
static void watch_give_up(struct redundancy *redundancy, struct redundancy_thread *thread,
			  struct tracee *tracee, int slot, enum loss loss)
{
	if (thread->watches[slot].judged && thread->watches[slot].second)
		watch_count(redundancy, &thread->watches[slot]);
	else
		lose(redundancy, loss);
	watch_end(thread, tracee, slot);
}

/* A slot for a new sample, its old watch ended; SLOT_NONE: the reservoir keeps what it has. */
static int watch_claim(struct redundancy *redundancy, struct redundancy_thread *thread,
		       struct tracee *tracee)
{
	int slot = slot_policy_choose(&thread->policy);

	if (slot == SLOT_NONE)
		return SLOT_NONE;
	if (thread->watches[slot].phase != WATCH_FREE)
		watch_give_up(redundancy, thread, tracee, slot, LOSS_WATCH_EVICTED);
	slot_policy_take(&thread->policy, slot);
	return slot;
}

/* Everything that is known of an access but where it will be watched. */
struct search {
	enum pair_kind kind;
	unsigned skip;
	unsigned steps;
	int slot; /* SLOT_NONE: none claimed yet */
};

static void search_fail(struct redundancy *redundancy, struct redundancy_thread *thread,
			struct tracee *tracee, const struct search *search, enum loss loss)
{
	lose(redundancy, loss);
	if (search->slot != SLOT_NONE)
		watch_end(thread, tracee, search->slot);
}

static enum module_kind kind_at(const struct target *target, remote_addr address)
{
	return target_module_kind(target, module_find(target->modules, address));
}

/*
 * The thread's own stack, from its pointer upwards. A thread's stack ends at
 * its control block, to which glibc points fs; it may share its mapping with
 * other memory, so the mapping tells only the main thread's end.
 */
static bool on_own_stack(const struct target *target, const struct registers *registers,
			 remote_addr address)
{
	remote_addr start = registers->general[REGISTER_RSP] - STACK_RED_ZONE_BYTES;
	const struct mapping *mapping;

	if (address < start)
		return false;
	if (registers->fs_base > start && registers->fs_base - start < STACK_BYTES_MAX)
		return address < registers->fs_base + CONTROL_BLOCK_BYTES;
	mapping = mapping_find(&target->mappings, start);
	return mapping && address < mapping->end;
}

/*
 * The main thread's static thread-local variables lie just below its control
 * block, in a mapping of their own. (Those of other threads end their stacks.)
 */
static bool in_thread_block(const struct target *target, const struct registers *registers,
			    remote_addr address)
{
	const struct mapping *mapping = mapping_find(&target->mappings, registers->fs_base);

	return mapping && address >= mapping->start && address < mapping->end &&
	       address + THREAD_LOCAL_BYTES_MAX >= registers->fs_base &&
	       address < registers->fs_base + CONTROL_BLOCK_BYTES;
}

/* LOSS_COUNT: an access to watch. */
static enum loss access_filter(struct redundancy *redundancy, const struct capture *capture,
			       const struct access *access)
{
	struct target *target = redundancy->target;

	switch (kind_at(target, access->instruction)) {
	case MODULE_INTERPRETER:
		return LOSS_FILTER_INTERPRETER;
	case MODULE_LOADER:
		return LOSS_FILTER_LOADER;
	default:
		break;
	}
	if (on_own_stack(target, &capture->registers, access->address))
		return LOSS_FILTER_STACK;
	if (in_thread_block(target, &capture->registers, access->address))
		return LOSS_FILTER_TLS;
	if (object_head_at(&redundancy->types, target, access->address, access->size))
		return LOSS_FILTER_OBJECT_HEAD;
	return LOSS_COUNT;
}

static bool same_function(struct target *target, remote_addr a, remote_addr b)
{
	struct address_range range;

	return a == b || (!unwinder_function_range(target->unwinder, a, &range) &&
			  address_range_contains(range, b));
}

/* Stops the thread again at an instruction it will reach presently. */
static void search_run_to(struct redundancy *redundancy, struct redundancy_thread *thread,
			  struct tracee *tracee, struct search *search, remote_addr address)
{
	struct watch *watch;

	if (search->steps >= STEPS_MAX) {
		search_fail(redundancy, thread, tracee, search, LOSS_NO_ACCESS);
		return;
	}
	if (search->slot == SLOT_NONE)
		search->slot = watch_claim(redundancy, thread, tracee);
	if (search->slot == SLOT_NONE) {
		lose(redundancy, LOSS_WATCH_EVICTED);
		return;
	}
	watch = &thread->watches[search->slot];
	watch->phase = WATCH_STEPPING;
	watch->kind = search->kind;
	watch->steps = search->steps + 1;
	watch->skip = search->skip;
	thread->policy.fixed[search->slot] = true;
	if (watch_arm(thread, tracee, search->slot, BREAKPOINT_EXECUTE, address, 8))
		search_fail(redundancy, thread, tracee, search, LOSS_NO_BREAKPOINT);
}

static void search_await_boundary(struct redundancy *redundancy, struct redundancy_thread *thread,
				  struct tracee *tracee, struct search *search,
				  const struct capture *capture, const struct access *access)
{
	/* capture_unwind_call() ended at the evaluation loop that made the native call. */
	const struct native_frame *eval = &capture->native[capture->native_count - 1];
	struct watch *watch;

	if (search->slot == SLOT_NONE)
		search->slot = watch_claim(redundancy, thread, tracee);
	if (search->slot == SLOT_NONE) {
		lose(redundancy, LOSS_WATCH_EVICTED);
		return;
	}
	watch = &thread->watches[search->slot];
	*watch = (struct watch){
		.phase = WATCH_BOUNDARY,
		.kind = search->kind,
		.wants_context = true,
		.boundary = eval->pc,
		.boundary_sp = eval->sp,
		.access = *access,
		.watched = verdict_watch_range(access->address, access->size),
	};
	thread->policy.fixed[search->slot] = false;
	if (watch_arm(thread, tracee, search->slot, BREAKPOINT_EXECUTE, eval->pc, 8))
		search_fail(redundancy, thread, tracee, search, LOSS_NO_BREAKPOINT);
}

/* What search_ahead() asks of an access. */
struct ahead_filter {
	struct redundancy *redundancy;
	const struct capture *capture;
	unsigned passed;
	enum loss loss; /* of the last one asked about; LOSS_COUNT: none */
};

/* Of accesses that do not count, only those to heads of objects and to the stack are passed over,
 * and only a few. */
static bool ahead_counts(void *context, const struct access *access)
{
	struct ahead_filter *filter = context;

	filter->loss = access_filter(filter->redundancy, filter->capture, access);
	if ((filter->loss != LOSS_FILTER_OBJECT_HEAD && filter->loss != LOSS_FILTER_STACK) ||
	    filter->passed == PASSED_ACCESSES_MAX)
		return true;
	filter->passed++;
	return false;
}

/* The next access that counts, from rip on, or where that can be told. */
static enum loss search_ahead(struct redundancy *redundancy, const struct capture *capture,
			      struct search *search, struct lookahead *ret)
{
	struct target *target = redundancy->target;
	struct memory_reader memory = block_cache_reader(&redundancy->memory);
	struct ahead_filter asked = {
		.redundancy = redundancy,
		.capture = capture,
		.loss = LOSS_COUNT,
	};
	struct lookahead_filter filter = { .counts = ahead_counts, .context = &asked };

	/* The thread ran since the last stop. */
	block_cache_forget(&redundancy->memory);
	lookahead_next(&capture->registers, search->kind == PAIR_LOAD ? ACCESS_LOAD : ACCESS_STORE,
		       search->skip, &target->code, &capture->stack, &memory, &filter, ret);
	search->skip += asked.passed;
	switch (ret->end) {
	case LOOKAHEAD_RUN_TO:
		return LOSS_COUNT;
	case LOOKAHEAD_FOUND:
		return asked.loss;
	default:
		return asked.passed ? asked.loss : LOSS_NO_ACCESS;
	}
}

/* From a stop inside a native call to the access to follow, or to another stop nearer to it. */
static void search_access(struct redundancy *redundancy, struct redundancy_thread *thread,
			  struct tracee *tracee, struct search *search, struct capture *capture)
{
	struct target *target = redundancy->target;
	remote_addr rip = capture->registers.rip;
	struct lookahead ahead;
	enum loss loss;

	/*
	 * Also when it works on a library's behalf (parses arguments, makes objects). To
	 * let it run on to where the library goes on was tried: the further stop takes
	 * as much of the budget as the access found there is worth.
	 */
	switch (kind_at(target, rip)) {
	case MODULE_INTERPRETER:
		search_fail(redundancy, thread, tracee, search, LOSS_FILTER_INTERPRETER);
		return;
	case MODULE_LOADER:
		search_fail(redundancy, thread, tracee, search, LOSS_FILTER_LOADER);
		return;
	default:
		break;
	}
	if (capture_unwind_call(capture, target)) {
		search_fail(redundancy, thread, tracee, search, LOSS_NO_BOUNDARY);
		return;
	}
	if (!capture_in_library(capture, target)) {
		search_fail(redundancy, thread, tracee, search, LOSS_FILTER_INTERPRETER);
		return;
	}
	loss = search_ahead(redundancy, capture, search, &ahead);
	if (loss != LOSS_COUNT) {
		search_fail(redundancy, thread, tracee, search, loss);
		return;
	}
	if (ahead.end == LOOKAHEAD_RUN_TO) {
		search->skip -= ahead.skipped;
		search_run_to(redundancy, thread, tracee, search, ahead.run_to);
		return;
	}
	search->skip = 0;
	/* Found in a function that was called or returned to on the way: stop there for its stack.
	 */
	if (!same_function(target, rip, ahead.access.instruction))
		search_run_to(redundancy, thread, tracee, search, ahead.access.instruction);
	else
		search_await_boundary(redundancy, thread, tracee, search, capture, &ahead.access);
}

static void follow_mappings(struct redundancy *redundancy)
{
	if (redundancy->generation == redundancy->target->mappings.generation)
		return;
	redundancy->generation = redundancy->target->mappings.generation;
	trap_decoder_flush(redundancy->decoder);
}

void redundancy_sample(struct redundancy *redundancy, struct redundancy_thread *thread,
		       struct tracee *tracee, struct capture *capture)
{
	struct search search = {
		.kind = thread->next_kind,
		.skip = (unsigned)(slot_policy_random(&thread->random) >> 32) % SKIP_RANGE,
		.slot = SLOT_NONE,
	};

	if (redundancy->options.loads && redundancy->options.stores)
		thread->next_kind = thread->next_kind == PAIR_LOAD ? PAIR_STORE : PAIR_LOAD;
	follow_mappings(redundancy);
	search_access(redundancy, thread, tracee, &search, capture);
}

/* LOSS_COUNT: the access is one to watch, and the capture's stack is that of its call. */
static enum loss check_sampled_access(struct redundancy *redundancy, struct capture *capture,
				      const struct event_record *record, enum pair_kind kind,
				      struct access *ret_access)
{
	struct target *target = redundancy->target;

	/* The thread has run on since. */
	if (!same_function(target, capture->registers.rip, record->ip))
		return LOSS_SKID;
	if (sampled_access(&target->code, &capture->registers, record, ret_access) ||
	    ret_access->stack || ret_access->thread_local_storage || ret_access->indirect_branch ||
	    (kind == PAIR_LOAD) != (ret_access->kinds == ACCESS_LOAD))
		return LOSS_NO_ACCESS;
	if (capture_unwind_call(capture, target))
		return LOSS_NO_BOUNDARY;
	if (!capture_in_library(capture, target))
		return LOSS_FILTER_INTERPRETER;
	return access_filter(redundancy, capture, ret_access);
}

void redundancy_sample_access(struct redundancy *redundancy, struct redundancy_thread *thread,
			      struct tracee *tracee, struct capture *capture,
			      const struct event_record *record)
{
	struct search search = {
		.kind = record->kinds & ACCESS_STORE ? PAIR_STORE : PAIR_LOAD,
		.slot = SLOT_NONE,
	};
	struct access access;
	enum loss loss;

	if (!(search.kind == PAIR_LOAD ? redundancy->options.loads : redundancy->options.stores))
		return;
	follow_mappings(redundancy);
	loss = check_sampled_access(redundancy, capture, record, search.kind, &access);
	if (loss != LOSS_COUNT)
		lose(redundancy, loss);
	else
		search_await_boundary(redundancy, thread, tracee, &search, capture, &access);
}

static void on_step(struct redundancy *redundancy, struct redundancy_thread *thread,
		    struct tracee *tracee, int slot, struct capture *capture)
{
	struct watch *watch = &thread->watches[slot];
	struct search search = {
		.kind = watch->kind,
		.skip = watch->skip,
		.steps = watch->steps,
		.slot = slot,
	};

	search_access(redundancy, thread, tracee, &search, capture);
}

static bool at_boundary(const struct watch *watch, const struct registers *registers)
{
	return registers->rip == watch->boundary &&
	       registers->general[REGISTER_RSP] == watch->boundary_sp;
}

static void on_boundary(struct redundancy *redundancy, struct redundancy_thread *thread,
			struct tracee *tracee, int slot, const struct event_record *record,
			const struct registers *registers)
{
	struct watch *watch = &thread->watches[slot];
	size_t length = (size_t)(watch->watched.end - watch->watched.start);
	uint64_t elapsed_ns;

	if (!at_boundary(watch, registers)) {
		if (++watch->passed > BOUNDARY_PASSED_MAX) {
			lose(redundancy, LOSS_BOUNDARY_MISSED);
			watch_end(thread, tracee, slot);
		}
		return;
	}
	elapsed_ns =
		record->running_ns > watch->running_ns ? record->running_ns - watch->running_ns : 1;
	if (elapsed_ns < redundancy->resume_ns)
		redundancy->resume_ns = elapsed_ns;
	watch->evidence.call_ns = elapsed_ns - redundancy->resume_ns + 1;
	/* The native call may have freed and unmapped it. */
	if (memory_read(&redundancy->target->reader, watch->watched.start, watch->value, length)) {
		lose(redundancy, LOSS_BOUNDARY_MISSED);
		watch_end(thread, tracee, slot);
		return;
	}
	watch->phase = WATCH_WATCHING;
	if (watch_arm(thread, tracee, slot,
		      watch->kind == PAIR_LOAD ? BREAKPOINT_READ_WRITE : BREAKPOINT_WRITE,
		      watch->watched.start, length)) {
		lose(redundancy, LOSS_NO_BREAKPOINT);
		watch_end(thread, tracee, slot);
	}
}

static void pass_over(struct redundancy *redundancy, struct redundancy_thread *thread,
		      struct tracee *tracee, int slot)
{
	struct watch *watch = &thread->watches[slot];
	uint8_t now[8];
	size_t length = (size_t)(watch->watched.end - watch->watched.start);

	/* Another value in between makes the later store of the first one necessary. */
	if (watch->kind == PAIR_STORE &&
	    (memory_read(&redundancy->target->reader, watch->watched.start, now, length) ||
	     memcmp(now, watch->value, length) != 0))
		watch->overwritten = true;
	if (++watch->passed > TRAPS_PASSED_MAX)
		watch_give_up(redundancy, thread, tracee, slot, LOSS_WATCH_BUDGET);
}

/* The bytes both accesses touched, as far as the later one's are known. */
static struct address_range overlap(struct address_range watched,
				    const struct trap_instruction *later)
{
	remote_addr end = later->operand + later->size;

	if (!later->operand_known || later->operand >= watched.end || end <= watched.start)
		return watched;
	return (struct address_range){
		.start = later->operand > watched.start ? later->operand : watched.start,
		.end = end < watched.end ? end : watched.end,
	};
}

/*
 * A call that works in place, or in memory of its own, stores many values at
 * one address one after the other; the first of them, and what is loaded
 * meanwhile, differs from what such a call left there in the end, even when all
 * of its work is done again on unchanged input. So where the same call finds or
 * stores another value, what it leaves in the end is compared as well. A
 * library's function may consist of several calls: then the watch goes on until
 * the one that left the value is made again.
 */
static bool same_call(const struct watch *watch, const struct capture *capture)
{
	const struct native_frame *eval = &capture->native[capture->native_count - 1];

	return eval->pc == watch->boundary && eval->sp == watch->boundary_sp &&
	       same_call_python(watch->first, capture);
}

/* False: the breakpoint cannot be set; the watch is as it was, but disarmed. */
static bool settle(struct redundancy_thread *thread, struct tracee *tracee, int slot)
{
	struct watch *watch = &thread->watches[slot];

	if (watch_arm(thread, tracee, slot, BREAKPOINT_EXECUTE, watch->boundary, 8))
		return false;
	watch->phase = WATCH_SETTLING;
	/* It comes at once, and its verdict would be lost; only those of new values are. */
	thread->policy.fixed[slot] = true;
	return true;
}

/* A later access after the one that gave the verdict. */
static void on_later_trap(struct redundancy *redundancy, struct redundancy_thread *thread,
			  struct tracee *tracee, int slot, const struct capture *capture)
{
	struct watch *watch = &thread->watches[slot];

	if (same_call(watch, capture) && settle(thread, tracee, slot))
		return;
	if (++watch->later < LATER_TRAPS_MAX && watch->phase == WATCH_WATCHING &&
	    !same_call(watch, capture))
		return;
	watch_give_up(redundancy, thread, tracee, slot, LOSS_WATCH_BUDGET);
}

/* A verdict was given: is there more to learn? */
static void look_further(struct redundancy_thread *thread, struct tracee *tracee, int slot,
			 const struct capture *capture)
{
	struct watch *watch = &thread->watches[slot];

	if (watch->verdict == VERDICT_NEW && watch->evidence.call_ns >= SETTLING_CALL_MIN_NS) {
		if (same_call(watch, capture)) {
			watch->judged = watch->wants_context = settle(thread, tracee, slot);
			if (watch->judged)
				return;
		} else if (watch->kind == PAIR_STORE && same_call_user(watch->first, capture)) {
			/*
			 * Not of loads: until that call comes, the memory may have
			 * another part in it, and a store tells that it writes there.
			 */
			watch->judged = watch->wants_context = true;
			return;
		}
	}
	breakpoint_disarm(&tracee->events, (unsigned)slot);
	watch->phase = WATCH_DECIDED;
}

/* The later call has returned. */
static void on_settled(struct redundancy *redundancy, struct redundancy_thread *thread,
		       struct tracee *tracee, int slot, const struct registers *registers)
{
	struct watch *watch = &thread->watches[slot];
	size_t length = (size_t)(watch->compared.end - watch->compared.start);
	uint8_t value[8];

	if (!at_boundary(watch, registers) && ++watch->passed <= BOUNDARY_PASSED_MAX)
		return;
	if (at_boundary(watch, registers) &&
	    !memory_read(&redundancy->target->reader, watch->compared.start, value, length)) {
		watch->evidence.settled = true;
		watch->evidence.settled_same =
			!memcmp(watch->value + (watch->compared.start - watch->watched.start),
				value, length);
	}
	watch_count(redundancy, watch);
	watch_end(thread, tracee, slot);
}

static void on_trap(struct redundancy *redundancy, struct redundancy_thread *thread,
		    struct tracee *tracee, int slot, const struct event_record *record,
		    struct capture *capture)
{
	struct target *target = redundancy->target;
	struct watch *watch = &thread->watches[slot];
	struct trap_instruction later = { 0 };
	struct address_range function, compared;
	uint8_t value[8];
	int error;

	if (!capture || capture_unwind_call(capture, target) ||
	    !capture_in_library(capture, target)) {
		pass_over(redundancy, thread, tracee, slot);
		return;
	}
	if (watch->judged) {
		on_later_trap(redundancy, thread, tracee, slot, capture);
		return;
	}
	/* rip is behind the access, and may be behind the function's end. */
	error = unwinder_function_range(target->unwinder, capture->registers.rip - 1, &function);
	if (!error)
		error = trap_decode(redundancy->decoder, &capture->registers, function,
				    watch->watched, &later);
	if (watch->kind == PAIR_LOAD && (error || later.kinds != ACCESS_LOAD)) {
		/* A store is no verdict on loads: V1 stays, the next load is compared with it. */
		if (error)
			lose(redundancy, LOSS_TRAP_UNDECODED);
		pass_over(redundancy, thread, tracee, slot);
		return;
	}
	compared = overlap(watch->watched, &later);
	if (memory_read(&target->reader, compared.start, value,
			(size_t)(compared.end - compared.start))) {
		lose(redundancy, LOSS_WATCH_BUDGET);
		watch_end(thread, tracee, slot);
		return;
	}
	watch->evidence.same_instruction = later.address == watch->access.instruction;
	watch->evidence.bytes = (uint32_t)(compared.end - compared.start);
	watch->evidence.distance_ns =
		record->running_ns > watch->running_ns ? record->running_ns - watch->running_ns : 1;
	watch->verdict = verdict_compare(watch->value + (compared.start - watch->watched.start),
					 value, (size_t)(compared.end - compared.start),
					 watch->access.element_size);
	if (watch->overwritten)
		watch->verdict = VERDICT_NEW;
	watch->compared = compared;
	look_further(thread, tracee, slot, capture);
}

bool redundancy_wants_capture(const struct redundancy *redundancy,
			      const struct redundancy_thread *thread,
			      const struct event_record *record, const struct registers *registers)
{
	enum module_kind kind;

	if (record->source >= SLOT_POLICY_SLOTS)
		return false;
	switch (thread->watches[record->source].phase) {
	case WATCH_STEPPING:
		return true;
	case WATCH_WATCHING:
		kind = kind_at(redundancy->target, registers->rip);
		return kind != MODULE_INTERPRETER && kind != MODULE_LOADER;
	default:
		return false;
	}
}

void redundancy_breakpoint(struct redundancy *redundancy, struct redundancy_thread *thread,
			   struct tracee *tracee, const struct event_record *record,
			   struct capture *capture, const struct registers *registers)
{
	int slot = (int)record->source;

	/* The signal was blocked, or came behind another's: these registers are not the event's. */
	if (record->ip != registers->rip) {
		if (thread->watches[slot].phase != WATCH_FREE &&
		    thread->watches[slot].phase != WATCH_DECIDED)
			watch_give_up(redundancy, thread, tracee, slot, LOSS_EVENT_LATE);
		return;
	}
	switch (thread->watches[slot].phase) {
	case WATCH_STEPPING:
		if (capture)
			on_step(redundancy, thread, tracee, slot, capture);
		break;
	case WATCH_BOUNDARY:
		on_boundary(redundancy, thread, tracee, slot, record, registers);
		break;
	case WATCH_WATCHING:
		on_trap(redundancy, thread, tracee, slot, record, capture);
		break;
	case WATCH_SETTLING:
		on_settled(redundancy, thread, tracee, slot, registers);
		break;
	case WATCH_FREE:
	case WATCH_LENT:
	case WATCH_DECIDED:
		/* Fired twice, or before it was disarmed. */
		break;
	}
}

bool redundancy_wants_context(const struct redundancy_thread *thread)
{
	for (int slot = 0; slot < SLOT_POLICY_SLOTS; slot++)
		if (thread->watches[slot].wants_context ||
		    thread->watches[slot].phase == WATCH_DECIDED)
			return true;
	return false;
}

void redundancy_resumed(struct redundancy *redundancy, struct redundancy_thread *thread,
			const struct cct_node *context)
{
	for (int slot = 0; slot < SLOT_POLICY_SLOTS; slot++) {
		struct watch *watch = &thread->watches[slot];

		if (watch->wants_context && watch->judged) {
			watch->wants_context = false;
			watch->second = context;
		} else if (watch->wants_context) {
			watch->wants_context = false;
			watch->first = context;
			watch->evidence.memory = object_memory_class(
				&redundancy->types, redundancy->target, watch->access.address);
		}
		if (watch->phase != WATCH_DECIDED)
			continue;
		watch->second = context;
		watch_count(redundancy, watch);
		watch_free(thread, slot);
	}
}

void redundancy_expire(struct redundancy *redundancy, struct redundancy_thread *thread,
		       struct tracee *tracee, uint64_t now_ns)
{
	for (int slot = 0; slot < SLOT_POLICY_SLOTS; slot++) {
		struct watch *watch = &thread->watches[slot];
		uint64_t age_ns = now_ns > watch->armed_ns ? now_ns - watch->armed_ns : 0;

		if (watch->phase == WATCH_STEPPING && age_ns > STEPPING_TIMEOUT_NS) {
			lose(redundancy, LOSS_NO_ACCESS);
			watch_end(thread, tracee, slot);
		} else if (watch->phase == WATCH_BOUNDARY && age_ns > BOUNDARY_TIMEOUT_NS) {
			lose(redundancy, LOSS_BOUNDARY_MISSED);
			watch_end(thread, tracee, slot);
		} else if (watch->phase == WATCH_SETTLING && age_ns > BOUNDARY_TIMEOUT_NS) {
			watch_give_up(redundancy, thread, tracee, slot, LOSS_TREE_FULL);
		} else if (watch->phase == WATCH_WATCHING &&
			   age_ns > redundancy->options.timeout_ns) {
			if (watch->judged)
				watch_count(redundancy, watch);
			else if (!watch->first ||
				 pair_table_add_never(redundancy->pairs, watch->kind, watch->first,
						      &watch->evidence))
				lose(redundancy, LOSS_TREE_FULL);
			watch_end(thread, tracee, slot);
		}
	}
}

int redundancy_lend_slot(struct redundancy *redundancy, struct redundancy_thread *thread,
			 struct tracee *tracee)
{
	int slot = watch_claim(redundancy, thread, tracee);

	if (slot == SLOT_NONE)
		return SLOT_NONE;
	thread->watches[slot].phase = WATCH_LENT;
	thread->policy.fixed[slot] = true;
	return slot;
}

void redundancy_return_slot(struct redundancy_thread *thread, int slot)
{
	watch_free(thread, slot);
}

void redundancy_cancel(struct redundancy_thread *thread, struct tracee *tracee)
{
	for (int slot = 0; slot < SLOT_POLICY_SLOTS; slot++)
		if (thread->watches[slot].phase != WATCH_FREE)
			watch_end(thread, tracee, slot);
}
