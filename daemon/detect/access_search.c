/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/detect/access_search.h"

#include "attach/lookahead.h"
#include "daemon/detect/sampled_access.h"

/* Accesses that do not count, as those to an object's head, passed on the way to one that does. */
#define PASSED_ACCESSES_MAX 4

void access_search_init(struct access_search *search, struct sample_filter *filter)
{
	search->filter = filter;
	block_cache_init(&search->memory, &filter->target->reader);
}

static bool access_same_function(struct target *target, remote_addr a, remote_addr b)
{
	struct address_range range;

	return a == b || (!unwinder_function_range(target->unwinder, a, &range) &&
			  address_range_contains(range, b));
}

/* What lookahead_next() asks of an access. */
struct ahead_filter {
	struct sample_filter *filter;
	const struct capture *capture;
	unsigned passed;
	enum loss loss; /* of the last one asked about; LOSS_COUNT: none */
};

/* Of accesses that do not count, only those to heads of objects and to the stack are passed over,
 * and only a few. */
static bool ahead_counts(void *context, const struct access *access)
{
	struct ahead_filter *asked = context;

	asked->loss = sample_filter_access(asked->filter, asked->capture, access);
	if ((asked->loss != LOSS_FILTER_OBJECT_HEAD && asked->loss != LOSS_FILTER_STACK) ||
	    asked->passed == PASSED_ACCESSES_MAX)
		return true;
	asked->passed++;
	return false;
}

/* The next access that counts, from rip on, or where that can be told. */
static enum loss look_ahead(struct access_search *search, const struct capture *capture,
			    struct access_sought *sought, struct lookahead *ret)
{
	struct target *target = search->filter->target;
	struct memory_reader memory = block_cache_reader(&search->memory);
	struct ahead_filter asked = {
		.filter = search->filter,
		.capture = capture,
		.loss = LOSS_COUNT,
	};
	struct lookahead_filter filter = { .counts = ahead_counts, .context = &asked };

	/* The thread ran since the last stop. */
	block_cache_forget(&search->memory);
	lookahead_next(&capture->registers, sought->kind == PAIR_LOAD ? ACCESS_LOAD : ACCESS_STORE,
		       sought->skip, &target->code, &capture->stack, &memory, &filter, ret);
	sought->skip += asked.passed;
	switch (ret->end) {
	case LOOKAHEAD_RUN_TO:
		return LOSS_COUNT;
	case LOOKAHEAD_FOUND:
		return asked.loss;
	default:
		return asked.passed ? asked.loss : LOSS_NO_ACCESS;
	}
}

enum loss access_search_next(struct access_search *search, struct capture *capture,
			     struct access_sought *sought, struct access_found *ret_found)
{
	remote_addr rip = capture->registers.rip;
	struct lookahead ahead;
	enum loss loss;

	/*
	 * Also when it works on a library's behalf (parses arguments, makes objects). To
	 * let it run on to where the library goes on was tried: the further stop takes
	 * as much of the budget as the access found there is worth: 36 to 69 accesses
	 * were followed in 6 s, 23 to 92 without.
	 */
	loss = sample_filter_code(search->filter, rip);
	if (loss == LOSS_COUNT)
		loss = sample_filter_call(search->filter, capture);
	if (loss == LOSS_COUNT)
		loss = look_ahead(search, capture, sought, &ahead);
	if (loss != LOSS_COUNT)
		return loss;
	if (ahead.end == LOOKAHEAD_RUN_TO) {
		sought->skip -= ahead.skipped;
		*ret_found = (struct access_found){ .further = true, .run_to = ahead.run_to };
		return LOSS_COUNT;
	}
	sought->skip = 0;
	/* Found in a function that was called or returned to on the way: stop there for its stack.
	 */
	*ret_found = (struct access_found){
		.further = !access_same_function(search->filter->target, rip,
						 ahead.access.instruction),
		.run_to = ahead.access.instruction,
		.access = ahead.access,
	};
	return LOSS_COUNT;
}

enum loss access_search_sampled(struct access_search *search, struct capture *capture,
				const struct event_record *record, enum pair_kind kind,
				struct access *ret_access)
{
	struct target *target = search->filter->target;
	enum loss loss;

	/* The thread has run on since. */
	if (!access_same_function(target, capture->registers.rip, record->ip))
		return LOSS_SKID;
	if (sampled_access(&target->code, &capture->registers, record, ret_access) ||
	    ret_access->stack || ret_access->thread_local_storage || ret_access->indirect_branch ||
	    (kind == PAIR_LOAD) != (ret_access->kinds == ACCESS_LOAD))
		return LOSS_NO_ACCESS;
	loss = sample_filter_call(search->filter, capture);
	return loss == LOSS_COUNT ? sample_filter_access(search->filter, capture, ret_access)
				  : loss;
}
