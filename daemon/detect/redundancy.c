/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/detect/redundancy.h"

#include "attach/trap_instruction.h"
#include "common/clock.h"
#include "common/random.h"
#include "daemon/detect/watch_machine.h"

#include <stdlib.h>

/* Accesses passed over at random, so that the clock's skid does not always choose the same one. */
#define SKIP_RANGE 8

struct redundancy_thread {
	struct watch_thread watches;
	uint64_t random;
	enum pair_kind next_kind;
};

struct redundancy {
	struct redundancy_options options;
	struct target *target;
	struct watch_process watches;
	struct sample_filter filter;
	struct access_search search;
	struct trap_decoder *decoder;
	uint32_t generation;   /* of the mappings the decoder's cache belongs to */
	struct tracee *tracee; /* whose breakpoints are set: the thread of the call in hand */
};

static int arm(void *context, unsigned slot, enum breakpoint_type type, remote_addr address,
	       size_t length)
{
	struct redundancy *redundancy = context;

	return breakpoint_arm(&redundancy->tracee->events, slot, type, address, length);
}

static void disarm(void *context, unsigned slot)
{
	struct redundancy *redundancy = context;

	breakpoint_disarm(&redundancy->tracee->events, slot);
}

static uint64_t running_ns(void *context, unsigned slot)
{
	struct redundancy *redundancy = context;

	return breakpoint_running_ns(&redundancy->tracee->events, slot);
}

static uint64_t clock_ns(void *context)
{
	(void)context;
	return clock_now_ns();
}

static int read_target(void *context, remote_addr address, void *buffer, size_t size)
{
	struct redundancy *redundancy = context;

	return memory_read(&redundancy->target->reader, address, buffer, size);
}

static enum loss filter_code(void *context, remote_addr instruction)
{
	struct redundancy *redundancy = context;

	return sample_filter_code(&redundancy->filter, instruction);
}

static enum loss filter_call(void *context, struct capture *capture)
{
	struct redundancy *redundancy = context;

	return sample_filter_call(&redundancy->filter, capture);
}

static enum loss redundancy_search_next(void *context, struct capture *capture,
					struct access_sought *sought,
					struct access_found *ret_found)
{
	struct redundancy *redundancy = context;

	return access_search_next(&redundancy->search, capture, sought, ret_found);
}

static int trap(void *context, const struct capture *capture, struct address_range watched,
		struct trap_instruction *ret_instruction)
{
	struct redundancy *redundancy = context;
	struct address_range function;
	/* rip is behind the access, and may be behind the function's end. */
	int error = unwinder_function_range(redundancy->target->unwinder,
					    capture->registers.rip - 1, &function);

	return error ? error
		     : trap_decode(redundancy->decoder, &capture->registers, function, watched,
				   ret_instruction);
}

static enum memory_class memory_class(void *context, remote_addr address)
{
	struct redundancy *redundancy = context;

	return object_memory_class(&redundancy->filter.types, redundancy->target, address);
}

struct redundancy *redundancy_create(const struct redundancy_options *options,
				     struct target *target, struct pair_table *pairs,
				     struct losses *losses)
{
	struct redundancy *redundancy = calloc(1, sizeof(*redundancy));

	if (!redundancy)
		return NULL;
	redundancy->options = *options;
	redundancy->target = target;
	redundancy->watches = (struct watch_process){
		.hooks = {
			.context = redundancy,
			.arm = arm,
			.disarm = disarm,
			.running_ns = running_ns,
			.now_ns = clock_ns,
			.read = read_target,
			.filter_code = filter_code,
			.filter_call = filter_call,
			.search = redundancy_search_next,
			.trap = trap,
			.memory_class = memory_class,
		},
		.pairs = pairs,
		.losses = losses,
		.timeout_ns = options->timeout_ns,
		.resume_ns = UINT64_MAX,
	};
	redundancy->filter.target = target;
	access_search_init(&redundancy->search, &redundancy->filter);
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
	slot_policy_init(&thread->watches.policy, redundancy->options.breakpoints, thread->random);
	return thread;
}

void redundancy_thread_destroy(struct redundancy_thread *thread)
{
	free(thread);
}

static void follow_mappings(struct redundancy *redundancy)
{
	if (redundancy->generation == redundancy->target->mappings.generation)
		return;
	redundancy->generation = redundancy->target->mappings.generation;
	trap_decoder_flush(redundancy->decoder);
}

bool redundancy_sample(struct redundancy *redundancy, struct redundancy_thread *thread,
		       struct tracee *tracee, struct capture *capture)
{
	struct access_sought sought = {
		.kind = thread->next_kind,
		.skip = (unsigned)(random_next(&thread->random) >> 32) % SKIP_RANGE,
	};

	if (redundancy->options.loads && redundancy->options.stores)
		thread->next_kind = thread->next_kind == PAIR_LOAD ? PAIR_STORE : PAIR_LOAD;
	follow_mappings(redundancy);
	redundancy->tracee = tracee;
	return watch_machine_sample(&redundancy->watches, &thread->watches, sought, capture);
}

bool redundancy_sample_access(struct redundancy *redundancy, struct redundancy_thread *thread,
			      struct tracee *tracee, struct capture *capture,
			      const struct event_record *record)
{
	enum pair_kind kind = record->kinds & ACCESS_STORE ? PAIR_STORE : PAIR_LOAD;
	struct access access;
	enum loss loss;

	if (!(kind == PAIR_LOAD ? redundancy->options.loads : redundancy->options.stores))
		return false;
	follow_mappings(redundancy);
	redundancy->tracee = tracee;
	loss = access_search_sampled(&redundancy->search, capture, record, kind, &access);
	if (loss == LOSS_COUNT)
		return watch_machine_access(&redundancy->watches, &thread->watches, kind, &access,
					    capture);
	watch_lose(&redundancy->watches, loss);
	return false;
}

bool redundancy_wants_capture(const struct redundancy *redundancy,
			      const struct redundancy_thread *thread,
			      const struct event_record *record, const struct registers *registers)
{
	return watch_machine_wants_capture(&redundancy->watches, &thread->watches, record,
					   registers);
}

void redundancy_breakpoint(struct redundancy *redundancy, struct redundancy_thread *thread,
			   struct tracee *tracee, const struct event_record *record,
			   struct capture *capture, const struct registers *registers)
{
	redundancy->tracee = tracee;
	watch_machine_breakpoint(&redundancy->watches, &thread->watches, record, capture,
				 registers);
}

bool redundancy_wants_context(const struct redundancy_thread *thread)
{
	return watch_machine_wants_context(&thread->watches);
}

void redundancy_resumed(struct redundancy *redundancy, struct redundancy_thread *thread,
			const struct cct_node *context)
{
	watch_machine_resumed(&redundancy->watches, &thread->watches, context);
}

void redundancy_expire(struct redundancy *redundancy, struct redundancy_thread *thread,
		       struct tracee *tracee, uint64_t now_ns)
{
	redundancy->tracee = tracee;
	watch_machine_expire(&redundancy->watches, &thread->watches, now_ns);
}

void redundancy_relieve(struct redundancy *redundancy, struct redundancy_thread *thread,
			struct tracee *tracee)
{
	redundancy->tracee = tracee;
	watch_machine_relieve(&redundancy->watches, &thread->watches);
}

int redundancy_lend_slot(struct redundancy *redundancy, struct redundancy_thread *thread,
			 struct tracee *tracee)
{
	redundancy->tracee = tracee;
	return watch_machine_lend(&redundancy->watches, &thread->watches);
}

bool redundancy_has_room(const struct redundancy_thread *thread)
{
	unsigned free = 0;

	for (unsigned slot = 0; slot < thread->watches.policy.usable; slot++)
		free += !thread->watches.policy.busy[slot];
	return free > 1;
}

void redundancy_return_slot(struct redundancy_thread *thread, int slot)
{
	watch_machine_return(&thread->watches, slot);
}

void redundancy_cancel(struct redundancy *redundancy, struct redundancy_thread *thread,
		       struct tracee *tracee)
{
	redundancy->tracee = tracee;
	watch_machine_cancel(&redundancy->watches, &thread->watches);
}
