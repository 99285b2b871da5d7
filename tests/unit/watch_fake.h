/* SPDX-License-Identifier: Apache-2.0 */
/* Watches of one thread, with a kernel and a target that do as they are told. */
#ifndef PIEPROFD_TESTS_UNIT_WATCH_FAKE_H
#define PIEPROFD_TESTS_UNIT_WATCH_FAKE_H

#include "common/clock.h"
#include "daemon/detect/watch_machine.h"
#include "tests/must.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define WORD        0x10000 /* the address that is accessed */
#define ACCESS_AT   0x4000  /* by this instruction */
#define RUN_TO      0x4200
#define TRAP_AT     0x4108 /* a later access leaves rip here */
#define BOUNDARY_AT 0x7000
#define BOUNDARY_SP 0x8000
#define CALL_NS     (50 * NS_PER_US)
#define TIMEOUT_NS  (3 * NS_PER_SECOND)

/* A watch's phases; that of one which is watching on after its verdict is a state of its own. */
enum state {
	FREE,
	STEPPING,
	BOUNDARY,
	WATCHING,
	JUDGED,
	SETTLING,
	DECIDED,
	LENT,
	STATE_COUNT
};

struct breakpoint {
	bool armed;
	enum breakpoint_type type;
	remote_addr address;
	size_t length;
};

struct totals {
	struct losses losses;
	uint64_t pairs, never;
};

struct fake {
	struct watch_process process;
	struct watch_thread *thread;
	struct losses losses;
	struct cct *cct;
	const struct cct_node *node; /* context of accesses: the program, a library, native code */
	struct capture *capture;
	struct breakpoint breakpoints[SLOT_POLICY_SLOTS];
	bool refuse, unreadable;
	uint64_t now_ns, running_ns;
	uint8_t memory[16]; /* at WORD */
	enum loss code, call, search;
	struct access_found found;
	int trap_error;
	struct trap_instruction later;
	struct access_sought asked; /* the last search */
	struct registers registers;
	int slot; /* at which breakpoints hit, and which has the state */
	/* when the transition under way began */
	enum state before;
	struct totals totals;
};

static const struct python_code program = { .function = "work", .file = "/srv/app.py" };
static const struct python_code library = { .function = "dot",
					    .file = "/usr/lib/python3/dist-packages/dot.py" };

static inline int fake_arm(void *context, unsigned slot, enum breakpoint_type type,
			   remote_addr address, size_t length)
{
	struct fake *fake = context;

	must(slot < SLOT_POLICY_SLOTS && fake->thread->policy.busy[slot]);
	/* One that is refused is not left as it was. */
	fake->breakpoints[slot] = (struct breakpoint){ !fake->refuse, type, address, length };
	return fake->refuse ? -ENOSPC : 0;
}

static inline void fake_disarm(void *context, unsigned slot)
{
	struct fake *fake = context;

	must(slot < SLOT_POLICY_SLOTS);
	fake->breakpoints[slot].armed = false;
}

static inline uint64_t fake_running_ns(void *context, unsigned slot)
{
	struct fake *fake = context;

	must(fake->breakpoints[slot].armed);
	return fake->running_ns;
}

static inline uint64_t fake_now_ns(void *context)
{
	return ((struct fake *)context)->now_ns;
}

static inline int fake_read(void *context, remote_addr address, void *buffer, size_t size)
{
	struct fake *fake = context;

	must(address >= WORD && size <= 8 && address + size <= WORD + sizeof(fake->memory));
	if (fake->unreadable)
		return -EFAULT;
	memcpy(buffer, fake->memory + (address - WORD), size);
	return 0;
}

static inline enum loss fake_filter_code(void *context, remote_addr instruction)
{
	struct fake *fake = context;

	must(instruction == fake->registers.rip);
	return fake->code;
}

static inline enum loss fake_filter_call(void *context, struct capture *capture)
{
	struct fake *fake = context;

	must(capture == fake->capture);
	return fake->call;
}

static inline enum loss fake_search(void *context, struct capture *capture,
				    struct access_sought *sought, struct access_found *ret_found)
{
	struct fake *fake = context;

	must(capture == fake->capture);
	fake->asked = *sought;
	if (fake->search == LOSS_COUNT) {
		sought->skip += 3;
		*ret_found = fake->found;
	}
	return fake->search;
}

static inline int fake_trap(void *context, const struct capture *capture,
			    struct address_range watched, struct trap_instruction *ret_instruction)
{
	struct fake *fake = context;

	must(capture == fake->capture && watched.start >= WORD);
	if (!fake->trap_error)
		*ret_instruction = fake->later;
	return fake->trap_error;
}

static inline enum memory_class fake_memory_class(void *context, remote_addr address)
{
	(void)context;
	must(address >= WORD);
	return MEMORY_STATIC;
}

/* What is at a stop of the sampled call, of the same one later, and of others. */
static inline void set_call(struct fake *fake, int library_offset, int program_offset)
{
	struct python_stack *python = &fake->capture->python;

	python->count = 2;
	python->frames[0] =
		(struct python_frame){ .code = &library, .instruction_offset = library_offset };
	python->frames[1] =
		(struct python_frame){ .code = &program, .instruction_offset = program_offset };
	fake->capture->native_count = 2;
	fake->capture->native[1].pc = BOUNDARY_AT;
	fake->capture->native[1].sp = BOUNDARY_SP;
}

static inline void same_call(struct fake *fake)
{
	set_call(fake, 4, 10);
}

static inline void same_user(struct fake *fake)
{
	set_call(fake, 20, 10);
}

static inline void other_call(struct fake *fake)
{
	set_call(fake, 20, 30);
}

static inline struct watch_thread *new_thread(unsigned slots)
{
	struct watch_thread *thread = calloc(1, sizeof(*thread));

	must(thread);
	slot_policy_init(&thread->policy, slots, 7);
	return thread;
}

static inline struct fake *fake_create(unsigned slots)
{
	struct frame frames[] = {
		{ .kind = FRAME_PYTHON, .python = { &program, 10 } },
		{ .kind = FRAME_PYTHON, .python = { &library, 4 } },
		{ .kind = FRAME_NATIVE, .native = { .pc = ACCESS_AT } },
	};
	struct fake *fake = calloc(1, sizeof(*fake));

	must(fake);
	fake->capture = calloc(1, sizeof(*fake->capture));
	fake->cct = cct_create(10);
	must(fake->capture && fake->cct);
	fake->node = cct_insert(fake->cct, frames, 3);
	fake->process = (struct watch_process){
		.hooks = {
			.context = fake,
			.arm = fake_arm,
			.disarm = fake_disarm,
			.running_ns = fake_running_ns,
			.now_ns = fake_now_ns,
			.read = fake_read,
			.filter_code = fake_filter_code,
			.filter_call = fake_filter_call,
			.search = fake_search,
			.trap = fake_trap,
			.memory_class = fake_memory_class,
		},
		.pairs = pair_table_create(10),
		.losses = &fake->losses,
		.timeout_ns = TIMEOUT_NS,
		.resume_ns = 1000,
	};
	must(fake->node && fake->process.pairs);
	fake->thread = new_thread(slots);
	fake->now_ns = 1000 * NS_PER_SECOND;
	fake->running_ns = NS_PER_SECOND;
	fake->code = fake->call = fake->search = LOSS_COUNT;
	fake->found.access = (struct access){
		.instruction = ACCESS_AT, .address = WORD, .size = 8, .kinds = ACCESS_STORE
	};
	fake->later = (struct trap_instruction){ .address = TRAP_AT - 8,
						 .kinds = ACCESS_STORE,
						 .size = 8,
						 .operand_known = true,
						 .operand = WORD };
	same_call(fake);
	return fake;
}

static inline void fake_destroy(struct fake *fake)
{
	pair_table_destroy(fake->process.pairs);
	cct_destroy(fake->cct);
	free(fake->capture);
	free(fake->thread);
	free(fake);
}

/* ---- what is seen of it */

static inline enum state state_of(const struct fake *fake)
{
	const struct watch *watch = &fake->thread->watches[fake->slot];

	switch (watch->phase) {
	case WATCH_FREE:
		return FREE;
	case WATCH_STEPPING:
		return STEPPING;
	case WATCH_BOUNDARY:
		return BOUNDARY;
	case WATCH_WATCHING:
		return watch->judged ? JUDGED : WATCHING;
	case WATCH_SETTLING:
		return SETTLING;
	case WATCH_LENT:
		return LENT;
	case WATCH_DECIDED:
		return DECIDED;
	}
	abort();
}

static inline struct totals totals_of(const struct fake *fake)
{
	const struct pair_table *pairs = fake->process.pairs;
	struct totals totals = { .losses = fake->losses };

	for (size_t i = 0; i < pair_table_pair_count(pairs); i++)
		for (int verdict = 0; verdict < VERDICT_COUNT; verdict++)
			totals.pairs += pair_table_pair(pairs, i)->verdicts[verdict];
	for (size_t i = 0; i < pair_table_origin_count(pairs); i++)
		totals.never += pair_table_origin(pairs, i)->never;
	return totals;
}

/* What a watch has in each state. */
static inline void check_watch(const struct fake *fake, int slot)
{
	const struct watch *watch = &fake->thread->watches[slot];
	const struct breakpoint *breakpoint = &fake->breakpoints[slot];
	const struct slot_policy *policy = &fake->thread->policy;

	assert_int_equal(policy->busy[slot], watch->phase != WATCH_FREE);
	assert_int_equal(policy->fixed[slot], watch->phase == WATCH_STEPPING ||
						      watch->phase == WATCH_SETTLING ||
						      watch->phase == WATCH_LENT);
	switch (watch->phase) {
	case WATCH_FREE:
	case WATCH_LENT:
	case WATCH_DECIDED:
		assert_false(breakpoint->armed);
		break;
	case WATCH_STEPPING:
	case WATCH_BOUNDARY:
	case WATCH_SETTLING:
		assert_true(breakpoint->armed && breakpoint->type == BREAKPOINT_EXECUTE);
		assert_int_equal(breakpoint->address,
				 watch->phase == WATCH_STEPPING ? RUN_TO : BOUNDARY_AT);
		break;
	case WATCH_WATCHING:
		assert_true(breakpoint->armed);
		assert_int_equal(breakpoint->type, watch->sought.kind == PAIR_LOAD
							   ? BREAKPOINT_READ_WRITE
							   : BREAKPOINT_WRITE);
		assert_int_equal(breakpoint->address, watch->watched.start);
		assert_int_equal(breakpoint->length, watch->watched.end - watch->watched.start);
		break;
	}
}

/* ---- the events */

static inline void sample(struct fake *fake)
{
	watch_machine_sample(&fake->process, fake->thread,
			     (struct access_sought){ .kind = PAIR_STORE }, fake->capture);
}

static inline void sample_load(struct fake *fake)
{
	fake->found.access.kinds = fake->later.kinds = ACCESS_LOAD;
	watch_machine_sample(&fake->process, fake->thread,
			     (struct access_sought){ .kind = PAIR_LOAD }, fake->capture);
}

static inline void sample_by_processor(struct fake *fake)
{
	watch_machine_access(&fake->process, fake->thread, PAIR_STORE, &fake->found.access,
			     fake->capture);
}

/* As the pipeline does: a capture is only there when it was wanted. */
static inline void hit(struct fake *fake, remote_addr rip, bool late)
{
	struct event_record record = { .source = (unsigned)fake->slot,
				       .ip = late ? rip + 1 : rip,
				       .running_ns = fake->running_ns };
	bool wanted;

	fake->registers.rip = rip;
	wanted = watch_machine_wants_capture(&fake->process, fake->thread, &record,
					     &fake->registers);
	watch_machine_breakpoint(&fake->process, fake->thread, &record,
				 wanted ? fake->capture : NULL, &fake->registers);
}

static inline void hit_late(struct fake *fake)
{
	hit(fake, TRAP_AT, true);
}

static inline void hit_step(struct fake *fake)
{
	hit(fake, RUN_TO, false);
}

static inline void hit_boundary(struct fake *fake)
{
	fake->registers.general[REGISTER_RSP] = BOUNDARY_SP;
	hit(fake, BOUNDARY_AT, false);
}

static inline void hit_boundary_deeper(struct fake *fake)
{
	fake->registers.general[REGISTER_RSP] = BOUNDARY_SP - 64;
	hit(fake, BOUNDARY_AT, false);
}

static inline void hit_trap(struct fake *fake)
{
	hit(fake, TRAP_AT, false);
}

/* By the interpreter: not even a capture is wanted. */
static inline void hit_trap_by_interpreter(struct fake *fake)
{
	fake->code = LOSS_FILTER_INTERPRETER;
	hit_trap(fake);
	fake->code = LOSS_COUNT;
}

static inline void resume(struct fake *fake)
{
	watch_machine_resumed(&fake->process, fake->thread, fake->node);
	assert_false(watch_machine_wants_context(fake->thread));
}

static inline void resume_without_context(struct fake *fake)
{
	watch_machine_resumed(&fake->process, fake->thread, NULL);
	assert_false(watch_machine_wants_context(fake->thread));
}

static inline void tick(struct fake *fake, uint64_t ns)
{
	watch_machine_expire(&fake->process, fake->thread, fake->now_ns + ns);
}

static inline void lend(struct fake *fake)
{
	int slot = watch_machine_lend(&fake->process, fake->thread);

	assert_true(slot == SLOT_NONE ||
		    (slot < SLOT_POLICY_SLOTS && fake->thread->watches[slot].phase == WATCH_LENT));
}

/* The tracer forgets the thread, whose breakpoints are gone with it. */
static inline void end_thread(struct fake *fake)
{
	watch_machine_cancel(&fake->process, fake->thread);
	memset(fake->breakpoints, 0, sizeof(fake->breakpoints));
	memset(fake->thread, 0xa5, sizeof(*fake->thread));
	free(fake->thread);
	fake->thread = new_thread(1);
}

/* The reservoir is to replace the watch, or to keep it. */
static inline void let_go(struct fake *fake)
{
	fake->thread->policy.seen[fake->slot] = UINT64_MAX;
}

static inline void keep(struct fake *fake)
{
	fake->thread->policy.seen[fake->slot] = 1ull << 62;
}

#endif
