/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/detect/argument_sampler.h"
#include "daemon/detect/argument_sampler_internal.h"

#include "common/hash.h"
#include "daemon/detect/argument_compared.h"
#include "daemon/detect/argument_element.h"
#include "daemon/detect/argument_meets.h"
#include "daemon/detect/argument_note.h"
#include "daemon/detect/argument_weight.h"
#include "daemon/detect/builtin_call.h"
#include "daemon/detect/known_code.h"
#include "daemon/detect/outside_state.h"
#include "daemon/detect/slow_call.h"
#include "daemon/detect/used_attributes.h"

#include <stdlib.h>
#include <string.h>

/* Frames looked at for those of the program's own. */
#define FRAMES_LOOKED_AT 64

struct argument_sampler *argument_sampler_create(struct target *target)
{
	struct argument_sampler *sampler = calloc(1, sizeof(*sampler));

	if (!sampler)
		return NULL;
	sampler->target = target;
	sampler->operands = operand_reader_create(target->runtime);
	sampler->fingerprints = fingerprints_create(python_runtime_version(target->runtime).minor);
	sampler->builtins.minor = python_runtime_version(target->runtime).minor;
	argument_log_init(&sampler->log);
	sampler->log.runtime = target->runtime;
	sampler->used = used_attributes_create(target->runtime);
	if (sampler->fingerprints)
		sampler->outside = outside_states_create(target->runtime, &target->reader,
							 sampler->fingerprints);
	if (sampler->operands && sampler->used && sampler->outside)
		return sampler;
	argument_sampler_destroy(sampler);
	return NULL;
}

void argument_sampler_destroy(struct argument_sampler *sampler)
{
	if (!sampler)
		return;
	argument_log_deinit(&sampler->log);
	operand_reader_destroy(sampler->operands);
	outside_states_destroy(sampler->outside);
	fingerprints_destroy(sampler->fingerprints);
	used_attributes_destroy(sampler->used);
	free(sampler);
}

void argument_sampler_weigh(struct argument_sampler *sampler, const struct cct *cct)
{
	/* Without memory they stand for what they stand for by themselves. */
	if (argument_log_weigh(&sampler->log, cct))
		return;
}

const struct argument_log *argument_sampler_argument_log(const struct argument_sampler *sampler)
{
	return &sampler->log;
}

static void want_frame_of(struct argument_sampler *sampler, size_t frame)
{
	for (size_t i = 0; i < sampler->wanted_count; i++)
		if (sampler->wanted[i] == frame)
			return;
	if (sampler->wanted_count < OPERAND_FRAMES_MAX)
		sampler->wanted[sampler->wanted_count++] = frame;
}

/* The frame that another one called: to numpy 1.24 a dispatcher is in between. */
static size_t callee_of(const struct python_stack *stack, size_t frame)
{
	bool dispatched = frame > 1 && !strcmp(stack->frames[frame - 1].code->file,
					       "<__array_function__ internals>");

	return frame - 1 - dispatched;
}

/* The innermost own frames. One that called a Python function shows its operands as the callee's
 * arguments. */
static void choose_frames(struct argument_sampler *sampler, const struct python_stack *stack)
{
	size_t limit = stack->count < FRAMES_LOOKED_AT ? stack->count : FRAMES_LOOKED_AT;

	sampler->own_count = sampler->wanted_count = 0;
	sampler->cut = stack->count > limit;
	for (size_t i = 0; i < limit; i++) {
		size_t needed = 1 + (i > 0);

		if (known_codes_get(&sampler->codes, stack->frames[i].code)->is_library ||
		    stack->frames[i].instruction_offset < 0)
			continue;
		if (sampler->own_count == ARGUMENT_FRAMES_MAX ||
		    sampler->wanted_count + needed > OPERAND_FRAMES_MAX) {
			sampler->cut = true;
			break;
		}
		if (i > 0)
			want_frame_of(sampler, callee_of(stack, i));
		want_frame_of(sampler, i);
		sampler->own[sampler->own_count++] = i;
	}
}

static bool is_given_keys(const struct argument_site *site)
{
	for (size_t i = 0; i < site->operand_count; i++)
		if (!site->operands[i].hashable)
			return false;
	return site->operand_count;
}

/* Contents are read in every sample at first; of a site that is well known, in few. */
static bool is_due(struct argument_sampler *sampler, const struct python_frame *frame)
{
	struct argument_site *site;
	uint32_t id;

	site = argument_log_site(&sampler->log, frame->code, frame->instruction_offset, &id);
	if (!site)
		return false;
	site->samples++;
	return site->samples <= ARGUMENT_KNOWN_SAMPLES || site->samples % ARGUMENT_RARE == 0 ||
	       (site->samples <= ARGUMENT_KEYED_SAMPLES && is_given_keys(site));
}

static const struct operand_sample *sample_of(const struct argument_sampler *sampler, size_t frame)
{
	for (size_t i = 0; i < sampler->wanted_count; i++)
		if (sampler->wanted[i] == frame)
			return &sampler->operand_samples[i];
	return NULL;
}

/* It has deleted one of its parameters, whose value is not known then; to 3.10 it may be in a cell.
 */
static bool has_deleted(const struct operand_sample *callee, const struct python_code *code)
{
	for (size_t i = 0; code->minor >= 11 && i < callee->argument_count; i++)
		if (callee->arguments[i].state == OPERAND_IS_NULL)
			return true;
	return false;
}

static struct values values_of(const struct argument_sampler *sampler,
			       const struct python_stack *stack, size_t frame)
{
	const struct operand_sample *own = sample_of(sampler, frame);
	const struct operand_sample *inner =
		frame ? sample_of(sampler, callee_of(stack, frame)) : NULL;

	bool awaits, called;

	if (!own)
		return (struct values){ 0 };
	awaits = inner && own->kind == OPERATION_OTHER &&
		 stack->frames[callee_of(stack, frame)].code->coroutine;
	/* A property's function reads some of the object alone. */
	called = own->taken || own->error || awaits || own->kind == OPERATION_ATTRIBUTE;
	if (inner && inner->argument_count && called &&
	    has_deleted(inner, stack->frames[callee_of(stack, frame)].code))
		return (struct values){ 0 };
	if (inner && inner->argument_count && called)
		return (struct values){ inner->arguments, inner->argument_count,
					stack->frames[callee_of(stack, frame)].code, awaits };
	if (own->error || own->taken)
		return (struct values){ 0 };
	return (struct values){ own->operands, own->operand_count, NULL, false };
}

/* Among the objects to read: one that a function hands on is read once. */
static size_t place_of(struct argument_sampler *sampler, remote_addr object,
		       struct used_parameter used, size_t *count)
{
	for (size_t i = 0; i < *count && used.whole; i++)
		if (sampler->objects[i] == object && sampler->uses[i].whole)
			return i;
	sampler->objects[*count] = object;
	sampler->uses[*count] = used;
	return (*count)++;
}

void argument_sampler_read_contents(struct argument_sampler *sampler, const struct values *values,
				    size_t frames, bool call_begins)
{
	struct memory_range *ranges;
	size_t count = 0;

	sampler->value_count = 0;
	for (size_t i = 0; i < frames; i++)
		for (size_t k = 0; k < values[i].count && k < ARGUMENT_OPERANDS_MAX; k++) {
			struct used_parameter used;

			if (values[i].items[k].state != OPERAND_IS_OBJECT ||
			    sampler->value_count == FINGERPRINT_OBJECTS_MAX)
				continue;
			/* Of a function's arguments what it does not read does not count. */
			used = used_parameter(sampler->used, values[i].callee, k,
					      values[i].items[k].object);
			sampler->places[sampler->value_count++] =
				(uint8_t)place_of(sampler, values[i].items[k].object, used, &count);
		}
	fingerprints_begin(sampler->fingerprints, sampler->objects, count, call_begins);
	for (size_t i = 0; i < count; i++)
		if (!sampler->uses[i].whole)
			fingerprints_only(sampler->fingerprints, i, sampler->uses[i].names,
					  sampler->uses[i].count);
	while ((count = fingerprints_round(sampler->fingerprints, &ranges)))
		if (memory_read_ranges(&sampler->target->reader, ranges, count))
			break;
}

static void note_builtin(struct argument_sampler *sampler, struct argument_site *site,
			 const struct fingerprint *callable)
{
	const struct builtin_call *call =
		builtin_call_find(&sampler->builtins, &sampler->target->reader, callable);

	site->slow = call->slow;
	site->asks |= call->asks;
	site->appends = call->appends;
}

static void note_called(struct argument_sampler *sampler, struct argument_site *site,
			const struct fingerprint *callable)
{
	if (callable->definition)
		note_builtin(sampler, site, callable);
	else if (strstr(callable->shape, "ufunc"))
		site->slow = slow_call_find_ufunc();
}

/* max(items, key=items.count): asked of each item. */
static void note_key(struct argument_sampler *sampler, struct argument_site *site,
		     const struct fingerprint *method)
{
	const struct builtin_call *call =
		builtin_call_find(&sampler->builtins, &sampler->target->reader, method);

	if (call->slow && slow_call_get(call->slow)->when == SLOW_SEARCH)
		site->slow = call->slow;
}

static bool notes_query(struct argument_sampler *sampler, struct argument_site *site,
			remote_addr text)
{
	struct database_query query;

	if (!builtin_call_read_query(&sampler->builtins, &sampler->target->reader, text, &query))
		return false;
	if (query.kind == DATABASE_QUERY_WRITES)
		database_written_add(&sampler->log.written, &query);
	site->query = query;
	return query.kind == DATABASE_QUERY_ROWS;
}

void argument_sampler_note_query(struct argument_sampler *sampler, struct argument_site *site,
				 const struct values *values, size_t object)
{
	bool queries = false;

	site->queries = false;
	for (size_t k = 0; k < values->count && object < sampler->value_count; k++) {
		const struct operand_value *value = &values->items[k];
		struct fingerprint print;

		if (value->state != OPERAND_IS_OBJECT)
			continue;
		print = fingerprints_get(sampler->fingerprints, sampler->places[object++]);
		if (argument_is_callee(value->role)) {
			queries = print.definition &&
				  builtin_call_find(&sampler->builtins, &sampler->target->reader,
						    &print)
					  ->queries;
		} else if (value->role != OPERAND_SELF) {
			site->queries = queries && print.kind == CONTENT_STR &&
					notes_query(sampler, site, print.object);
			return;
		}
	}
}

void argument_sampler_note_value(struct argument_sampler *sampler, struct argument_frame *frame,
				 struct argument_site *site, const struct values *values,
				 size_t index, size_t *object)
{
	const struct operand_value *value = &values->items[index];
	struct fingerprint print;

	if (value->state == OPERAND_IS_OBJECT && *object < sampler->value_count) {
		size_t place = sampler->places[(*object)++];
		const struct used_parameter *used = &sampler->uses[place];

		print = fingerprints_get(sampler->fingerprints, place);
		site->of_part |= !used->whole;
		/* Whichever connection it is asked by. */
		if (site->queries && value->role == OPERAND_SELF) {
			print.kind = CONTENT_CONSTANT;
			print.content = hash_mix(CONTENT_CONSTANT);
			print.opaque = false;
			print.whole = true;
		}
		if (!used->whole && !used->count) {
			argument_note_unused(frame, site, index, value, &print);
			return;
		}
		argument_note_operand(frame, site, index, value, &print);
		if (argument_is_callee(value->role))
			note_called(sampler, site, &print);
		else if (print.definition)
			note_key(sampler, site, &print);
	} else if (value->state == OPERAND_IS_INTEGER) {
		argument_note_integer(frame, site, index, value);
	} else if (value->state == OPERAND_IS_WRONG) {
		frame->flags |= ARGUMENT_OPAQUE;
	}
}

/* The innermost loop goes over numbers in a row. */
static bool is_counted(const struct operand_sample *own)
{
	return own->loop_count &&
	       (own->loops[0].kind == ITERATOR_RANGE || own->loops[0].kind == ITERATOR_ENUMERATE);
}

/* Outer loops go into the numbers of the inner ones: round 3 of 5 is another one each time. */
static void note_rounds(struct argument_frame *frame, const struct operand_sample *own)
{
	uint64_t hash = 0;

	frame->loop_count = (uint8_t)own->loop_count;
	if (own->loop_count && own->loops[0].container)
		frame->container = hash_word(hash_mix(own->loops[0].container));
	for (size_t i = own->loop_count; i-- > 0;) {
		const struct operand_iterator *loop = &own->loops[i];

		hash = hash_combine(hash, loop->object);
		hash = hash_combine(hash,
				    loop->position_known ? (uint64_t)loop->position : UINT64_MAX);
		frame->rounds[i] = hash_word(hash_mix(hash));
		frame->remaining[i] = loop->remaining;
	}
}

static void note_callee(struct argument_sampler *sampler, struct argument_frame *frame,
			struct argument_site *site, const struct python_stack *stack,
			size_t frame_number)
{
	size_t callee = callee_of(stack, frame_number);
	uint8_t slow = known_codes_slow_below(&sampler->codes, stack, callee);

	site->runs_python = true;
	site->runs_frame |= callee + 1 == frame_number && !stack->frames[callee].entry;
	site->of_library = known_codes_get(&sampler->codes, stack->frames[callee].code)->is_library;

	if (argument_meets(site, SLOW_ON_LOOP_ROW))
		slow = slow_call_find_looped(slow);
	if (argument_meets(site, SLOW_PART))
		slow = slow_call_find_parted(slow);
	if (slow && slow_call_get(slow)->when != SLOW_ROWS_AROUND &&
	    !(site->slow && slow_call_is_weak(slow)))
		site->slow = slow;
	site->keeps |= known_codes_get(&sampler->codes, stack->frames[callee].code)->keeps;
	site->makes_row |= known_codes_makes_row(&sampler->codes, stack, callee);
	frame->flags |= slow ? ARGUMENT_IN_SLOW : 0;
	if (known_codes_get(&sampler->codes, stack->frames[callee].code)->asks) {
		site->asks = true;
		frame->flags |= ARGUMENT_OPAQUE | ARGUMENT_STATE;
	}
}

/* values: none where its contents were not read. */
static void note_frame(struct argument_sampler *sampler, const struct python_stack *stack,
		       size_t frame_number, struct values values, size_t *object)
{
	const struct python_frame *python = &stack->frames[frame_number];
	const struct operand_sample *own = sample_of(sampler, frame_number);
	struct argument_frame *frame = &sampler->sample.frames[sampler->sample.frame_count];
	struct argument_site *site, unknown = { 0 };

	*frame = (struct argument_frame){ .contents = python->code->id };
	site = argument_log_site(&sampler->log, python->code, python->instruction_offset,
				 &frame->site);
	if (site && own) {
		site->kind = own->kind;
		site->in_place = own->in_place;
		if (values.count)
			site->operand_count = values.count < ARGUMENT_OPERANDS_MAX
						      ? values.count
						      : ARGUMENT_OPERANDS_MAX;
		note_rounds(frame, own);
		site->counted |= is_counted(own);
	}
	if (site && values.count)
		argument_sampler_note_query(sampler, site, &values, *object);
	for (size_t k = 0; k < values.count && k < ARGUMENT_OPERANDS_MAX; k++)
		argument_sampler_note_value(sampler, frame, site ? site : &unknown, &values, k,
					    object);
	if (site && values.count) {
		argument_note_range(frame, site);
		site->foreign |= argument_is_foreign(site);
	}
	if (site && values.count && (argument_is_foreign(site) || argument_calls_cache(site)))
		frame->flags |= ARGUMENT_OPAQUE | ARGUMENT_STATE;
	frame->operand_count =
		(uint8_t)(values.count < ARGUMENT_OPERANDS_MAX ? values.count
							       : ARGUMENT_OPERANDS_MAX);
	if (values.count && site) {
		frame->flags |= ARGUMENT_JUDGED;
		site->comparable |= frame->flags & (ARGUMENT_DATA | ARGUMENT_ITERATOR);
		site->awaits = values.awaited;
		site->of_callee = values.callee != NULL || argument_calls_function(site);
		site->read++;
		site->on_numbers += argument_is_called_on_numbers(site);
	}
	if (!frame_number)
		frame->flags |= ARGUMENT_DIRECT;
	else if (site)
		note_callee(sampler, frame, site, stack, frame_number);
	/* What the last sample had may be what it has in no other one: a call at its very
	 * beginning. */
	if (site && values.count && site->slow) {
		site->slow_read++;
		site->slow_met += argument_meets(site, slow_call_get(site->slow)->when);
	}
	if (site)
		sampler->sample.frame_count++;
}

static bool is_readable(const struct python_stack *stack)
{
	return stack->count && !(stack->flags & (PYTHON_STACK_INVALID | PYTHON_STACK_RECOVERED));
}

/* Of the frames chosen: what is due. False: it cannot be read. */
static bool read_values(struct argument_sampler *sampler, const struct python_stack *stack,
			struct values values[ARGUMENT_FRAMES_MAX])
{
	choose_frames(sampler, stack);
	if (!sampler->own_count ||
	    operand_reader_read(sampler->operands, stack, sampler->wanted, sampler->wanted_count,
				sampler->operand_samples))
		return false;
	for (size_t i = 0; i < sampler->own_count; i++)
		values[i] = is_due(sampler, &stack->frames[sampler->own[i]])
				    ? values_of(sampler, stack, sampler->own[i])
				    : (struct values){ 0 };
	argument_sampler_read_contents(sampler, values, sampler->own_count, false);
	return true;
}

static void note_frames(struct argument_sampler *sampler, const struct python_stack *stack,
			const struct values *values, bool timeless)
{
	size_t object = 0;

	sampler->sample = (struct argument_sample){ .cut = sampler->cut, .timeless = timeless };
	for (size_t i = 0; i < sampler->own_count; i++) {
		uint8_t number = sampler->sample.frame_count;

		note_frame(sampler, stack, sampler->own[i], values[i], &object);
		if (i + 1 < sampler->own_count && sampler->own[i + 1] != sampler->own[i] + 1)
			sampler->sample.frames[number].flags |= ARGUMENT_APART;
	}
	sampler->taken = sampler->sample.frame_count > 0;
}

/*
 * What an own frame's function asks, those ask that called it. Where it reads data that changes,
 * its own calls may have got some of that, which is compared in part, or not in the middle of a
 * call.
 */
static void note_asking(struct argument_sampler *sampler, const struct python_stack *stack)
{
	enum outside_state asks = OUTSIDE_NONE;

	for (unsigned f = 0; f + 1u < sampler->sample.frame_count; f++) {
		const struct argument_frame *frame = &sampler->sample.frames[f];

		enum outside_state state =
			outside_state_of(sampler->outside, &stack->frames[sampler->own[f]]);

		asks = state > asks ? state : asks;
		if (asks == OUTSIDE_NONE)
			continue;
		if (state == OUTSIDE_CHANGES &&
		    frame->flags & (ARGUMENT_PARTIAL | ARGUMENT_ITERATOR))
			sampler->log.sites[frame->site].asks = true;
		sampler->log.sites[frame[1].site].asks = true;
	}
}

void argument_sampler_take(struct argument_sampler *sampler, const struct capture *capture)
{
	struct values values[ARGUMENT_FRAMES_MAX] = { 0 };

	sampler->taken = false;
	if (!capture->python_error && is_readable(&capture->python) &&
	    read_values(sampler, &capture->python, values))
		note_frames(sampler, &capture->python, values, false);
	if (sampler->taken)
		note_asking(sampler, &capture->python);
}

static bool are_same_values(const struct operand_value *left, const struct operand_value *right,
			    size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (left[i].state != right[i].state || left[i].object != right[i].object ||
		    left[i].integer != right[i].integer)
			return false;
	return true;
}

static bool is_same_call(const struct operand_sample *before, const struct operand_sample *after)
{
	return before->error == after->error && before->taken == after->taken &&
	       before->operand_count == after->operand_count &&
	       before->argument_count == after->argument_count &&
	       are_same_values(before->operands, after->operands, before->operand_count) &&
	       are_same_values(before->arguments, after->arguments, before->argument_count);
}

/* Of all frames whose operands were read: are they at the same calls still? */
static bool is_still_there(struct argument_sampler *sampler, const struct python_stack *stack)
{
	if (operand_reader_read(sampler->operands, stack, sampler->wanted, sampler->wanted_count,
				sampler->later_samples))
		return false;
	for (size_t i = 0; i < sampler->wanted_count; i++)
		if (!is_same_call(&sampler->operand_samples[i], &sampler->later_samples[i]))
			return false;
	return true;
}

void argument_sampler_peek(struct argument_sampler *sampler, const struct python_stack *stack,
			   bool moves)
{
	struct values values[ARGUMENT_FRAMES_MAX] = { 0 };

	sampler->taken = false;
	if (is_readable(stack) && read_values(sampler, stack, values) &&
	    (!moves || is_still_there(sampler, stack)))
		note_frames(sampler, stack, values, moves);
}

bool argument_sampler_is_behind(const struct argument_sampler *sampler)
{
	return sampler->taken && argument_is_behind(&sampler->log, &sampler->sample);
}

struct argument_choice argument_sampler_choose(struct argument_sampler *sampler,
					       const struct capture *capture, uint32_t busy)
{
	return sampler->taken ? argument_choose(&sampler->log, &sampler->sample, sampler->own,
						capture->python.frames, busy)
			      : (struct argument_choice){ 0 };
}

struct operand_reader *argument_sampler_operands(const struct argument_sampler *sampler)
{
	return sampler->operands;
}

void argument_sampler_log(struct argument_sampler *sampler, uint64_t event_ns, uint64_t time_ns,
			  uint32_t node)
{
	if (!sampler->taken)
		return;
	sampler->taken = false;
	sampler->sample.event_ns = event_ns;
	sampler->sample.time_ns = sampler->sample.timeless ? 0 : time_ns;
	sampler->sample.node = node;
	(void)argument_log_add(&sampler->log, &sampler->sample);
}
