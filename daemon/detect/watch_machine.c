/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/detect/watch_machine.h"

#include "common/clock.h"
#include "daemon/detect/same_call.h"
#include "daemon/detect/verdict.h"

#include <string.h>

/* Stops on the way to an access that could not be told from where the clock stopped. */
#define STEPS_MAX 4
/* The boundary's address is reached by deeper calls too: that often, then the sample is given up.
 */
#define BOUNDARY_PASSED_MAX 16
/* Traps by the interpreter, or by stores while a load is awaited. */
#define TRAPS_PASSED_MAX 24
/* Traps by other calls of the same function until the one that is awaited. */
#define LATER_TRAPS_MAX 5
/* Of a call that goes on for less there is nothing to learn by looking again at its end. */
#define SETTLING_CALL_MIN_NS (10 * NS_PER_US)
/* A step is a matter of microseconds, a native call may last. */
#define STEPPING_TIMEOUT_NS (100 * NS_PER_MS)
#define BOUNDARY_TIMEOUT_NS (10 * NS_PER_SECOND)

static int read_memory(const struct watch_process *process, struct address_range range,
		       uint8_t *buffer)
{
	return process->hooks.read(process->hooks.context, range.start, buffer,
				   (size_t)(range.end - range.start));
}

/* slot SLOT_NONE: none was claimed yet. */
static void sample_fail(struct watch_process *process, struct watch_thread *thread, int slot,
			enum loss loss)
{
	watch_lose(process, loss);
	if (slot != SLOT_NONE)
		watch_end(process, thread, slot);
}

/* Stops the thread again at an instruction it will reach presently. False: given up, and counted.
 */
static bool run_to(struct watch_process *process, struct watch_thread *thread, int slot,
		   const struct access_sought *sought, remote_addr address)
{
	struct watch *watch;

	if (sought->steps >= STEPS_MAX) {
		sample_fail(process, thread, slot, LOSS_NO_ACCESS);
		return false;
	}
	if (slot == SLOT_NONE)
		slot = watch_claim(process, thread);
	if (slot == SLOT_NONE) {
		watch_lose(process, LOSS_WATCH_EVICTED);
		return false;
	}
	watch = &thread->watches[slot];
	watch->phase = WATCH_STEPPING;
	watch->sought = *sought;
	watch->sought.steps++;
	thread->policy.fixed[slot] = true;
	if (!watch_arm(process, thread, slot, BREAKPOINT_EXECUTE, address, 8))
		return true;
	sample_fail(process, thread, slot, LOSS_NO_BREAKPOINT);
	return false;
}

static bool await_boundary(struct watch_process *process, struct watch_thread *thread, int slot,
			   enum pair_kind kind, const struct access *access,
			   const struct capture *capture)
{
	/* The frames end at the evaluation loop that made the native call. */
	const struct native_frame *eval = &capture->native[capture->native_count - 1];

	if (slot == SLOT_NONE)
		slot = watch_claim(process, thread);
	if (slot == SLOT_NONE) {
		watch_lose(process, LOSS_WATCH_EVICTED);
		return false;
	}
	thread->watches[slot] = (struct watch){
		.phase = WATCH_BOUNDARY,
		.sought = { .kind = kind },
		.wants_context = true,
		.boundary = eval->pc,
		.boundary_sp = eval->sp,
		.access = *access,
		.watched = verdict_watch_range(access->address, access->size),
	};
	thread->policy.fixed[slot] = false;
	if (!watch_arm(process, thread, slot, BREAKPOINT_EXECUTE, eval->pc, 8))
		return true;
	sample_fail(process, thread, slot, LOSS_NO_BREAKPOINT);
	return false;
}

/* From a stop inside a native call to the access to follow, or to another stop nearer to it. */
static bool search_access(struct watch_process *process, struct watch_thread *thread, int slot,
			  struct access_sought sought, struct capture *capture)
{
	struct access_found found;
	enum loss loss = process->hooks.search(process->hooks.context, capture, &sought, &found);

	if (loss == LOSS_COUNT)
		return found.further ? run_to(process, thread, slot, &sought, found.run_to)
				     : await_boundary(process, thread, slot, sought.kind,
						      &found.access, capture);
	sample_fail(process, thread, slot, loss);
	return false;
}

bool watch_machine_sample(struct watch_process *process, struct watch_thread *thread,
			  struct access_sought sought, struct capture *capture)
{
	return search_access(process, thread, SLOT_NONE, sought, capture);
}

bool watch_machine_access(struct watch_process *process, struct watch_thread *thread,
			  enum pair_kind kind, const struct access *access,
			  const struct capture *capture)
{
	return await_boundary(process, thread, SLOT_NONE, kind, access, capture);
}

static bool at_boundary(const struct watch *watch, const struct registers *registers)
{
	return registers->rip == watch->boundary &&
	       registers->general[REGISTER_RSP] == watch->boundary_sp;
}

static void on_boundary(struct watch_process *process, struct watch_thread *thread, int slot,
			const struct event_record *record, const struct registers *registers)
{
	struct watch *watch = &thread->watches[slot];
	size_t length = (size_t)(watch->watched.end - watch->watched.start);
	uint64_t elapsed_ns;

	if (!at_boundary(watch, registers)) {
		if (++watch->passed > BOUNDARY_PASSED_MAX) {
			watch_lose(process, LOSS_BOUNDARY_MISSED);
			watch_end(process, thread, slot);
		}
		return;
	}
	elapsed_ns =
		record->running_ns > watch->running_ns ? record->running_ns - watch->running_ns : 1;
	if (elapsed_ns < process->resume_ns)
		process->resume_ns = elapsed_ns;
	watch->evidence.call_ns = elapsed_ns - process->resume_ns + 1;
	/* The native call may have freed and unmapped it. */
	if (read_memory(process, watch->watched, watch->value)) {
		watch_lose(process, LOSS_BOUNDARY_MISSED);
		watch_end(process, thread, slot);
		return;
	}
	watch->phase = WATCH_WATCHING;
	if (watch_arm(process, thread, slot,
		      watch->sought.kind == PAIR_LOAD ? BREAKPOINT_READ_WRITE : BREAKPOINT_WRITE,
		      watch->watched.start, length)) {
		watch_lose(process, LOSS_NO_BREAKPOINT);
		watch_end(process, thread, slot);
	}
}

static void pass_over(struct watch_process *process, struct watch_thread *thread, int slot)
{
	struct watch *watch = &thread->watches[slot];
	uint8_t now[8];
	size_t length = (size_t)(watch->watched.end - watch->watched.start);

	/* Another value in between makes the later store of the first one necessary. */
	if (watch->sought.kind == PAIR_STORE &&
	    (read_memory(process, watch->watched, now) || memcmp(now, watch->value, length) != 0))
		watch->overwritten = true;
	if (++watch->passed > TRAPS_PASSED_MAX)
		watch_give_up(process, thread, slot, LOSS_WATCH_BUDGET);
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
static bool settle(struct watch_process *process, struct watch_thread *thread, int slot)
{
	struct watch *watch = &thread->watches[slot];

	if (watch_arm(process, thread, slot, BREAKPOINT_EXECUTE, watch->boundary, 8))
		return false;
	watch->phase = WATCH_SETTLING;
	/* It comes at once, and its verdict would be lost; only those of new values are. */
	thread->policy.fixed[slot] = true;
	return true;
}

/* A later access after the one that gave the verdict. */
static void on_later_trap(struct watch_process *process, struct watch_thread *thread, int slot,
			  const struct capture *capture)
{
	struct watch *watch = &thread->watches[slot];

	if (same_call(watch, capture) && settle(process, thread, slot))
		return;
	if (++watch->later < LATER_TRAPS_MAX && watch->phase == WATCH_WATCHING &&
	    !same_call(watch, capture))
		return;
	watch_give_up(process, thread, slot, LOSS_WATCH_BUDGET);
}

/* A verdict was given: is there more to learn? */
static void look_further(struct watch_process *process, struct watch_thread *thread, int slot,
			 const struct capture *capture)
{
	struct watch *watch = &thread->watches[slot];

	if (watch->verdict == VERDICT_NEW && watch->evidence.call_ns >= SETTLING_CALL_MIN_NS) {
		if (same_call(watch, capture)) {
			watch->judged = watch->wants_context = settle(process, thread, slot);
			if (watch->judged)
				return;
		} else if (watch->sought.kind == PAIR_STORE &&
			   same_call_user(watch->first, capture)) {
			/*
			 * Not of loads: until that call comes, the memory may have
			 * another part in it, and a store tells that it writes there.
			 */
			watch->judged = watch->wants_context = true;
			return;
		}
	}
	process->hooks.disarm(process->hooks.context, (unsigned)slot);
	watch->phase = WATCH_DECIDED;
}

/* The later call has returned. */
static void on_settled(struct watch_process *process, struct watch_thread *thread, int slot,
		       const struct registers *registers)
{
	struct watch *watch = &thread->watches[slot];
	size_t length = (size_t)(watch->compared.end - watch->compared.start);
	uint8_t value[8];

	if (!at_boundary(watch, registers) && ++watch->passed <= BOUNDARY_PASSED_MAX)
		return;
	if (at_boundary(watch, registers) && !read_memory(process, watch->compared, value)) {
		watch->evidence.settled = true;
		watch->evidence.settled_same =
			!memcmp(watch->value + (watch->compared.start - watch->watched.start),
				value, length);
	}
	watch_count(process, watch);
	watch_end(process, thread, slot);
}

static void on_trap(struct watch_process *process, struct watch_thread *thread, int slot,
		    const struct event_record *record, struct capture *capture)
{
	const struct watch_hooks *hooks = &process->hooks;
	struct watch *watch = &thread->watches[slot];
	struct trap_instruction later = { 0 };
	struct address_range compared;
	uint8_t value[8];
	int error;

	if (!capture || hooks->filter_call(hooks->context, capture) != LOSS_COUNT) {
		pass_over(process, thread, slot);
		return;
	}
	if (watch->judged) {
		on_later_trap(process, thread, slot, capture);
		return;
	}
	error = hooks->trap(hooks->context, capture, watch->watched, &later);
	if (watch->sought.kind == PAIR_LOAD && (error || later.kinds != ACCESS_LOAD)) {
		/* A store is no verdict on loads: V1 stays, the next load is compared with it. */
		if (error)
			watch_lose(process, LOSS_TRAP_UNDECODED);
		pass_over(process, thread, slot);
		return;
	}
	compared = overlap(watch->watched, &later);
	if (read_memory(process, compared, value)) {
		watch_lose(process, LOSS_WATCH_BUDGET);
		watch_end(process, thread, slot);
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
	look_further(process, thread, slot, capture);
}

bool watch_machine_wants_capture(const struct watch_process *process,
				 const struct watch_thread *thread,
				 const struct event_record *record,
				 const struct registers *registers)
{
	const struct watch_hooks *hooks = &process->hooks;

	if (record->source >= SLOT_POLICY_SLOTS)
		return false;
	switch (thread->watches[record->source].phase) {
	case WATCH_STEPPING:
		return true;
	case WATCH_WATCHING:
		return hooks->filter_code(hooks->context, registers->rip) == LOSS_COUNT;
	default:
		return false;
	}
}

void watch_machine_breakpoint(struct watch_process *process, struct watch_thread *thread,
			      const struct event_record *record, struct capture *capture,
			      const struct registers *registers)
{
	int slot = (int)record->source;

	/* The signal was blocked, or came behind another's: these registers are not the event's. */
	if (record->ip != registers->rip) {
		if (thread->watches[slot].phase != WATCH_FREE &&
		    thread->watches[slot].phase != WATCH_DECIDED)
			watch_give_up(process, thread, slot, LOSS_EVENT_LATE);
		return;
	}
	switch (thread->watches[slot].phase) {
	case WATCH_STEPPING:
		if (capture)
			(void)search_access(process, thread, slot, thread->watches[slot].sought,
					    capture);
		break;
	case WATCH_BOUNDARY:
		on_boundary(process, thread, slot, record, registers);
		break;
	case WATCH_WATCHING:
		on_trap(process, thread, slot, record, capture);
		break;
	case WATCH_SETTLING:
		on_settled(process, thread, slot, registers);
		break;
	case WATCH_FREE:
	case WATCH_LENT:
	case WATCH_DECIDED:
		/* Fired twice, or before it was disarmed. */
		break;
	}
}

bool watch_machine_wants_context(const struct watch_thread *thread)
{
	for (int slot = 0; slot < SLOT_POLICY_SLOTS; slot++)
		if (thread->watches[slot].wants_context ||
		    thread->watches[slot].phase == WATCH_DECIDED)
			return true;
	return false;
}

void watch_machine_resumed(struct watch_process *process, struct watch_thread *thread,
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
			watch->evidence.memory = process->hooks.memory_class(process->hooks.context,
									     watch->access.address);
		}
		if (watch->phase != WATCH_DECIDED)
			continue;
		watch->second = context;
		watch_count(process, watch);
		watch_free(thread, slot);
	}
}

void watch_machine_expire(struct watch_process *process, struct watch_thread *thread,
			  uint64_t now_ns)
{
	for (int slot = 0; slot < SLOT_POLICY_SLOTS; slot++) {
		struct watch *watch = &thread->watches[slot];
		uint64_t age_ns = now_ns > watch->armed_ns ? now_ns - watch->armed_ns : 0;

		if (watch->phase == WATCH_STEPPING && age_ns > STEPPING_TIMEOUT_NS) {
			watch_lose(process, LOSS_NO_ACCESS);
			watch_end(process, thread, slot);
		} else if (watch->phase == WATCH_BOUNDARY && age_ns > BOUNDARY_TIMEOUT_NS) {
			watch_lose(process, LOSS_BOUNDARY_MISSED);
			watch_end(process, thread, slot);
		} else if (watch->phase == WATCH_SETTLING && age_ns > BOUNDARY_TIMEOUT_NS) {
			watch_give_up(process, thread, slot, LOSS_TREE_FULL);
		} else if (watch->phase == WATCH_WATCHING && age_ns > process->timeout_ns) {
			if (watch->judged)
				watch_count(process, watch);
			else if (!watch->first ||
				 pair_table_add_never(process->pairs, watch->sought.kind,
						      watch->first, &watch->evidence))
				watch_lose(process, LOSS_TREE_FULL);
			watch_end(process, thread, slot);
		}
	}
}

void watch_machine_relieve(struct watch_process *process, struct watch_thread *thread)
{
	for (int slot = 0; slot < SLOT_POLICY_SLOTS; slot++)
		if (thread->watches[slot].phase == WATCH_WATCHING)
			watch_give_up(process, thread, slot, LOSS_WATCH_TURNS);
}

int watch_machine_lend(struct watch_process *process, struct watch_thread *thread)
{
	int slot = watch_claim(process, thread);

	if (slot == SLOT_NONE)
		return SLOT_NONE;
	thread->watches[slot].phase = WATCH_LENT;
	thread->policy.fixed[slot] = true;
	return slot;
}

void watch_machine_return(struct watch_thread *thread, int slot)
{
	watch_free(thread, slot);
}

void watch_machine_cancel(struct watch_process *process, struct watch_thread *thread)
{
	for (int slot = 0; slot < SLOT_POLICY_SLOTS; slot++)
		if (thread->watches[slot].phase == WATCH_LENT)
			watch_end(process, thread, slot);
		else if (thread->watches[slot].phase != WATCH_FREE)
			watch_give_up(process, thread, slot, LOSS_WATCH_CANCELLED);
}
