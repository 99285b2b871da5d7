/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/trace/mpi_decoder.h"

#include "daemon/trace/mpi_function.h"

#include <stdlib.h>
#include <string.h>

/* A handle of MPICH's for a type that MPI itself defines has the size in it. */
#define MPICH_BUILTIN(handle) (((handle) >> 26 & 0x3f) == 0x13)
#define MPICH_SIZE(handle)    ((handle) >> 8 & 0xff)

void mpi_decoder_init(struct mpi_decoder *decoder, const struct mpi_library *library,
		      void (*take)(void *context, const struct trace_event *event), void *context)
{
	*decoder = (struct mpi_decoder){
		.library = library,
		.take = take,
		.context = context,
		.next_communicator = TRACE_COMMUNICATOR_FIRST,
	};
}

void mpi_decoder_deinit(struct mpi_decoder *decoder)
{
	request_table_deinit(&decoder->requests);
	for (unsigned i = 0; i < decoder->thread_count; i++) {
		free(decoder->arrays[i].handles);
		free(decoder->arrays[i].sources);
		free(decoder->arrays[i].tags);
		free(decoder->arrays[i].indices);
	}
	decoder->thread_count = 0;
}

/* ---- arrays ---- */

/* Of the thread's call that began then: what is there of an earlier one is forgotten. */
static struct mpi_arrays *arrays_of(struct mpi_decoder *decoder, uint32_t tid, uint64_t begin_ns)
{
	struct mpi_arrays *oldest = &decoder->arrays[0], *arrays = NULL;

	for (unsigned i = 0; i < decoder->thread_count && !arrays; i++) {
		if (decoder->arrays[i].tid == tid)
			arrays = &decoder->arrays[i];
		if (decoder->arrays[i].begin_ns < oldest->begin_ns)
			oldest = &decoder->arrays[i];
	}
	if (!arrays)
		arrays = decoder->thread_count < MPI_THREADS_MAX
				 ? &decoder->arrays[decoder->thread_count++]
				 : oldest;
	if (arrays->tid != tid || arrays->begin_ns != begin_ns)
		arrays->handle_count = arrays->status_count = arrays->index_count = 0;
	arrays->tid = tid;
	arrays->begin_ns = begin_ns;
	return arrays;
}

static bool make_room(struct mpi_arrays *arrays)
{
	if (!arrays->handles)
		arrays->handles = calloc(MPI_ARRAY_MAX, sizeof(arrays->handles[0]));
	if (!arrays->sources)
		arrays->sources = calloc(MPI_ARRAY_MAX, sizeof(arrays->sources[0]));
	if (!arrays->tags)
		arrays->tags = calloc(MPI_ARRAY_MAX, sizeof(arrays->tags[0]));
	if (!arrays->indices)
		arrays->indices = calloc(MPI_ARRAY_MAX, sizeof(arrays->indices[0]));
	return arrays->handles && arrays->sources && arrays->tags && arrays->indices;
}

static void take_item(const struct mpi_target *layout, struct mpi_arrays *arrays, uint32_t kind,
		      uint32_t at, const char *item)
{
	uint32_t narrow;

	if (kind == MPI_RECORD_STATUSES) {
		memcpy(&arrays->sources[at], item + layout->status_source, sizeof(int32_t));
		memcpy(&arrays->tags[at], item + layout->status_tag, sizeof(int32_t));
		arrays->status_count = at + 1;
	} else if (kind == MPI_RECORD_INDICES) {
		memcpy(&arrays->indices[at], item, sizeof(int32_t));
		arrays->index_count = at + 1;
	} else if (layout->handle_bytes == 8) {
		memcpy(&arrays->handles[at], item, sizeof(uint64_t));
		arrays->handle_count = at + 1;
	} else {
		memcpy(&narrow, item, sizeof(narrow));
		arrays->handles[at] = narrow;
		arrays->handle_count = at + 1;
	}
}

void mpi_decoder_chunk(struct mpi_decoder *decoder, const struct mpi_chunk *chunk)
{
	const struct mpi_target *layout = &decoder->library->layout;
	struct mpi_arrays *arrays = arrays_of(decoder, chunk->tid, chunk->begin_ns);
	uint32_t bytes = layout->handle_bytes, known = arrays->handle_count;

	if (chunk->kind > MPI_RECORD_INDICES)
		return;
	if (chunk->kind == MPI_RECORD_STATUSES) {
		bytes = layout->status_bytes;
		known = arrays->status_count;
	} else if (chunk->kind == MPI_RECORD_INDICES) {
		bytes = sizeof(int32_t);
		known = arrays->index_count;
	}
	/* Without the piece before it, places would be those of others. */
	if (!make_room(arrays) || chunk->first != known ||
	    chunk->count * bytes > sizeof(chunk->words)) {
		decoder->left_out++;
		return;
	}
	for (uint32_t i = 0; i < chunk->count && known + i < MPI_ARRAY_MAX; i++)
		take_item(layout, arrays, chunk->kind, known + i,
			  (const char *)chunk->words + i * bytes);
}

/* ---- communicators ---- */

static uint32_t communicator_of(const struct mpi_decoder *decoder, uint64_t handle)
{
	if (handle && handle == decoder->world)
		return TRACE_COMMUNICATOR_WORLD;
	if (handle && handle == decoder->self)
		return TRACE_COMMUNICATOR_SELF;
	for (unsigned i = 0; i < decoder->communicator_count; i++)
		if (decoder->communicators[i].handle == handle)
			return decoder->communicators[i].number;
	return TRACE_COMMUNICATOR_UNKNOWN;
}

static void note_communicator(struct mpi_decoder *decoder, uint64_t handle, uint32_t number)
{
	for (unsigned i = 0; i < decoder->communicator_count; i++)
		if (decoder->communicators[i].handle == handle) {
			decoder->communicators[i].number = number;
			return;
		}
	if (decoder->communicator_count == MPI_COMMUNICATORS_MAX) {
		decoder->left_out++;
		return;
	}
	decoder->communicators[decoder->communicator_count].handle = handle;
	decoder->communicators[decoder->communicator_count++].number = number;
}

static void forget_communicator(struct mpi_decoder *decoder, uint64_t handle)
{
	for (unsigned i = 0; i < decoder->communicator_count; i++)
		if (decoder->communicators[i].handle == handle) {
			decoder->communicators[i] =
				decoder->communicators[--decoder->communicator_count];
			return;
		}
}

/* ---- events ---- */

static uint64_t word_at(const struct mpi_record *call, unsigned index)
{
	if (index >= MPI_WORDS || (index >= 6 && !(call->flags & MPI_HAS_STACK)))
		return 0;
	return call->words[index];
}

static int32_t int_at(const struct mpi_record *call, unsigned index)
{
	return (int32_t)(uint32_t)word_at(call, index);
}

/* Bytes of the items that argument count tells of; which: of shape.types. */
static uint64_t bytes_of(const struct mpi_decoder *decoder, const struct mpi_record *call,
			 unsigned which, uint32_t *flags)
{
	const struct mpi_function *function = &mpi_functions[call->function];
	uint32_t has = which ? MPI_HAS_SIZE_1 : MPI_HAS_SIZE_0;
	uint64_t handle, size = 0;
	int64_t count;

	if (function->shape.types[which] == MPI_ABSENT)
		return 0;
	count = call->flags & MPI_IS_LARGE ? (int64_t)word_at(call, function->counts[which])
					   : int_at(call, function->counts[which]);
	handle = (uint32_t)word_at(call, function->shape.types[which]);
	if (call->flags & has)
		size = call->sizes[which];
	else if (decoder->library->kind == MPI_KIND_MPICH && MPICH_BUILTIN(handle))
		size = MPICH_SIZE(handle);
	else
		*flags |= TRACE_SIZE_UNKNOWN;
	/* Of a type that is larger than memory, nothing is sent. */
	if (count <= 0 || count > INT64_MAX / UINT32_MAX || size > UINT32_MAX)
		return 0;
	return (uint64_t)count * size;
}

static struct trace_event event_of(struct mpi_decoder *decoder, const struct mpi_record *call,
				   enum trace_kind kind)
{
	const struct mpi_function *function = &mpi_functions[call->function];

	return (struct trace_event){
		.begin_ns = call->begin_ns,
		.end_ns = call->end_ns,
		.order = decoder->order++,
		.wait_ns = call->begin_ns,
		.thread = call->tid,
		.kind = (uint16_t)kind,
		.function = call->function,
		.completed_by = call->function,
		.flags = call->flags & MPI_IS_OPEN ? TRACE_OPEN : 0,
		.communicator =
			function->communicator == MPI_ABSENT
				? TRACE_COMMUNICATOR_NONE
				: communicator_of(decoder, word_at(call, function->communicator)),
		.peer = -1,
		.tag = -1,
		.path = (uint32_t)call->path,
	};
}

/* A message from or to the rank in argument peer, with the tag in the next one. */
static struct trace_event message_of(struct mpi_decoder *decoder, const struct mpi_record *call,
				     enum trace_kind kind, unsigned peer, unsigned which)
{
	struct trace_event event = event_of(decoder, call, kind);

	event.peer = int_at(call, peer);
	event.tag = int_at(call, peer + 1);
	event.bytes = bytes_of(decoder, call, which, &event.flags);
	if (kind != TRACE_RECEIVE)
		return event;
	if (event.peer == mpi_library_any_source(decoder->library))
		event.flags |= TRACE_ANY_PEER;
	if (event.tag == MPI_ANY_TAG_VALUE)
		event.flags |= TRACE_ANY_TAG;
	return event;
}

static void give(struct mpi_decoder *decoder, const struct trace_event *event)
{
	/* Nobody is at the other end. */
	if ((event->kind == TRACE_SEND || event->kind == TRACE_RECEIVE) &&
	    !(event->flags & TRACE_ANY_PEER) &&
	    event->peer == mpi_library_proc_null(decoder->library))
		return;
	decoder->take(decoder->context, event);
}

static void settle_wildcards(struct trace_event *event, int32_t source, int32_t tag)
{
	if (event->flags & TRACE_ANY_PEER)
		event->peer = source;
	if (event->flags & TRACE_ANY_TAG)
		event->tag = tag;
	event->flags &= ~(TRACE_ANY_PEER | TRACE_ANY_TAG);
}

static void give_received(struct mpi_decoder *decoder, const struct mpi_record *call,
			  struct trace_event event)
{
	if (call->flags & MPI_HAS_STATUS)
		settle_wildcards(&event, call->source, call->tag);
	give(decoder, &event);
}

/* ---- requests ---- */

static void keep(struct mpi_decoder *decoder, uint64_t handle, const struct trace_event *event,
		 bool persistent)
{
	const struct request request = {
		.handle = handle,
		.persistent = persistent,
		.active = !persistent,
		.event = *event,
	};

	if (handle)
		request_table_put(&decoder->requests, &request);
}

static void start(struct mpi_decoder *decoder, const struct mpi_record *call, uint64_t handle)
{
	struct request *request = request_table_find(&decoder->requests, handle);

	if (!request || !request->persistent)
		return;
	request->event.begin_ns = call->begin_ns;
	request->event.end_ns = call->end_ns;
	request->event.thread = call->tid;
	request->event.order = decoder->order++;
	request->event.path = (uint32_t)call->path;
	request->active = request->event.kind == TRACE_RECEIVE;
	if (request->event.kind == TRACE_SEND)
		give(decoder, &request->event);
}

/* place: of its status among those of the call; -1: it is the call's only one. */
static void complete(struct mpi_decoder *decoder, const struct mpi_record *call,
		     const struct mpi_arrays *arrays, uint64_t handle, int64_t place)
{
	struct request *request = request_table_find(&decoder->requests, handle);
	struct trace_event event;

	if (!request || !request->active)
		return;
	event = request->event;
	event.end_ns = call->end_ns;
	event.wait_ns = call->begin_ns;
	event.completed_by = call->function;
	event.path = (uint32_t)call->path;
	if (request->persistent)
		request->active = false;
	else
		request_table_remove(&decoder->requests, request);
	if (event.kind != TRACE_RECEIVE)
		return;
	if (place < 0) {
		give_received(decoder, call, event);
		return;
	}
	if (place < arrays->status_count)
		settle_wildcards(&event, arrays->sources[place], arrays->tags[place]);
	give(decoder, &event);
}

static void complete_all(struct mpi_decoder *decoder, const struct mpi_record *call,
			 const struct mpi_arrays *arrays)
{
	for (uint32_t i = 0; i < arrays->handle_count; i++)
		complete(decoder, call, arrays, arrays->handles[i], i);
}

static void complete_some(struct mpi_decoder *decoder, const struct mpi_record *call,
			  const struct mpi_arrays *arrays)
{
	for (uint32_t i = 0; i < arrays->index_count; i++) {
		int32_t at = arrays->indices[i];

		if (at >= 0 && (uint32_t)at < arrays->handle_count)
			complete(decoder, call, arrays, arrays->handles[at], i);
	}
}

static void take_wait(struct mpi_decoder *decoder, const struct mpi_record *call,
		      enum mpi_class class)
{
	const struct mpi_arrays *arrays = arrays_of(decoder, call->tid, call->begin_ns);

	/* Of a test: nothing was done yet. */
	if (call->flags & MPI_HAS_FLAG && !call->flag)
		return;
	if (class == MPI_WAIT)
		complete(decoder, call, arrays, call->handle_in, -1);
	else if (class == MPI_WAIT_ALL)
		complete_all(decoder, call, arrays);
	else if (class == MPI_WAIT_SOME)
		complete_some(decoder, call, arrays);
	else if (call->flags & MPI_HAS_INDEX && call->index >= 0 &&
		 (uint32_t)call->index < arrays->handle_count)
		complete(decoder, call, arrays, arrays->handles[call->index], -1);
}

/* ---- calls ---- */

/* A message that was found, to be received by its handle: it is posted now. */
static void take_probe(struct mpi_decoder *decoder, const struct mpi_record *call)
{
	struct trace_event event = message_of(decoder, call, TRACE_RECEIVE, 0, 0);

	if (call->flags & MPI_HAS_FLAG && !call->flag)
		return;
	if (call->flags & MPI_HAS_STATUS)
		settle_wildcards(&event, call->source, call->tag);
	keep(decoder, call->handle_out, &event, false);
}

static void take_message(struct mpi_decoder *decoder, const struct mpi_record *call, bool at_once)
{
	struct request *found = request_table_find(&decoder->requests, call->handle_in);
	struct trace_event event;

	if (!found)
		return;
	event = found->event;
	event.function = call->function;
	event.bytes = bytes_of(decoder, call, 0, &event.flags);
	event.end_ns = call->end_ns;
	request_table_remove(&decoder->requests, found);
	/* What was waited for was waited for in the probe. */
	if (at_once)
		give(decoder, &event);
	else
		keep(decoder, call->handle_out, &event, false);
}

/* As if it had been split. */
static int32_t colour_of(const struct mpi_decoder *decoder, const struct mpi_record *call)
{
	const struct rank_group *group = group_table_find(&decoder->groups, word_at(call, 1));

	/* Who is in none of the groups. */
	if (decoder->null && call->handle_out == decoder->null)
		return -1;
	if (!decoder->null || !group ||
	    group->communicator != communicator_of(decoder, word_at(call, 0)))
		return TRACE_COLOUR_UNKNOWN;
	return group->first;
}

static void take_communicator(struct mpi_decoder *decoder, const struct mpi_record *call,
			      enum mpi_class class)
{
	struct trace_event event = event_of(decoder, call, TRACE_COMMUNICATOR);

	event.peer = (int32_t)event.communicator;
	event.communicator = decoder->next_communicator++;
	event.tag = class == MPI_COMMUNICATOR_SPLIT    ? int_at(call, 1)
		    : class == MPI_COMMUNICATOR_CREATE ? colour_of(decoder, call)
						       : 0;
	event.key = class == MPI_COMMUNICATOR_SPLIT ? int_at(call, 2) : 0;
	if (call->handle_out && call->handle_out != decoder->null)
		note_communicator(decoder, call->handle_out, event.communicator);
	give(decoder, &event);
}

static void take_messages(struct mpi_decoder *decoder, const struct mpi_record *call,
			  const struct mpi_function *function)
{
	struct trace_event event;

	switch (function->class) {
	case MPI_SEND:
	case MPI_SEND_REQUEST:
		event = message_of(decoder, call, TRACE_SEND, 3, 0);
		give(decoder, &event);
		break;
	case MPI_SEND_INIT:
	case MPI_RECEIVE_INIT:
	case MPI_RECEIVE_REQUEST:
		event = message_of(decoder, call,
				   function->class == MPI_SEND_INIT ? TRACE_SEND : TRACE_RECEIVE, 3,
				   0);
		keep(decoder, call->handle_out, &event, function->class != MPI_RECEIVE_REQUEST);
		break;
	case MPI_RECEIVE:
		give_received(decoder, call, message_of(decoder, call, TRACE_RECEIVE, 3, 0));
		break;
	case MPI_SENDRECV:
		event = message_of(decoder, call, TRACE_SEND, 3, 0);
		give(decoder, &event);
		give_received(decoder, call, message_of(decoder, call, TRACE_RECEIVE, 8, 1));
		break;
	case MPI_SENDRECV_REPLACE:
		event = message_of(decoder, call, TRACE_SEND, 3, 0);
		give(decoder, &event);
		give_received(decoder, call, message_of(decoder, call, TRACE_RECEIVE, 5, 0));
		break;
	default:
		break;
	}
}

/* What a call that has done what it was to do means for others. */
static void take_meaning(struct mpi_decoder *decoder, const struct mpi_record *call,
			 const struct mpi_function *function)
{
	const struct mpi_arrays *arrays;
	struct request *request;

	switch (function->class) {
	case MPI_INIT:
		decoder->init_ns = call->end_ns;
		break;
	case MPI_START:
		start(decoder, call, call->handle_in);
		break;
	case MPI_START_ALL:
		arrays = arrays_of(decoder, call->tid, call->begin_ns);
		for (uint32_t i = 0; i < arrays->handle_count; i++)
			start(decoder, call, arrays->handles[i]);
		break;
	case MPI_PROBE:
		take_probe(decoder, call);
		break;
	case MPI_RECEIVE_MESSAGE:
	case MPI_RECEIVE_MESSAGE_REQUEST:
		take_message(decoder, call, function->class == MPI_RECEIVE_MESSAGE);
		break;
	case MPI_WAIT:
	case MPI_WAIT_ALL:
	case MPI_WAIT_ANY:
	case MPI_WAIT_SOME:
		take_wait(decoder, call, function->class);
		break;
	case MPI_FORGET:
		request = request_table_find(&decoder->requests, call->handle_in);
		if (request)
			request_table_remove(&decoder->requests, request);
		break;
	case MPI_COMMUNICATOR_DUP:
	case MPI_COMMUNICATOR_SPLIT:
	case MPI_COMMUNICATOR_CREATE:
	case MPI_COMMUNICATOR_OTHER:
		take_communicator(decoder, call, function->class);
		break;
	case MPI_COMMUNICATOR_FREE:
		forget_communicator(decoder, call->handle_in);
		break;
	case MPI_GROUP_WHOLE:
		group_table_add_whole(&decoder->groups, call->handle_out,
				      communicator_of(decoder, word_at(call, 0)));
		break;
	case MPI_GROUP_SOME:
		arrays = arrays_of(decoder, call->tid, call->begin_ns);
		/* Not all of them: then nobody knows who they are. */
		group_table_add_some(
			&decoder->groups, call->handle_out, word_at(call, 0), arrays->indices,
			arrays->index_count == (uint32_t)int_at(call, 1) ? arrays->index_count : 0);
		break;
	case MPI_GROUP_FREE:
		group_table_remove(&decoder->groups, call->handle_in);
		break;
	default:
		take_messages(decoder, call, function);
		break;
	}
}

/* function: below mpi_function_count. */
static void take_call(struct mpi_decoder *decoder, const struct mpi_record *call)
{
	const struct mpi_function *function;
	struct trace_event event;

	function = &mpi_functions[call->function];
	if (function->class == MPI_FINALIZE)
		decoder->finalize_ns = call->begin_ns;
	event = event_of(decoder, call, TRACE_CALL);
	event.bytes = bytes_of(decoder, call, 0, &event.flags);
	if (function->class == MPI_SEND || function->class == MPI_SEND_REQUEST ||
	    function->class == MPI_RECEIVE || function->class == MPI_RECEIVE_REQUEST ||
	    function->class == MPI_SENDRECV || function->class == MPI_SENDRECV_REPLACE) {
		event.peer = int_at(call, 3);
		event.tag = int_at(call, 4);
	}
	if (function->root != MPI_ABSENT)
		event.peer = int_at(call, function->root);
	give(decoder, &event);
	/* One under way has sent already, perhaps; a failed one has not. */
	if (!call->result && !(call->flags & MPI_IS_OPEN))
		take_meaning(decoder, call, function);
}

void mpi_decoder_call(struct mpi_decoder *decoder, const struct mpi_record *call)
{
	struct mpi_record record = *call;

	if (call->function >= MPI_FUNCTION_NUMBERS || call->end_ns < call->begin_ns)
		return;
	if (!decoder->world) {
		decoder->world = mpi_library_world(decoder->library, call->function, call->ip);
		decoder->self = mpi_library_self(decoder->library, call->function, call->ip);
		decoder->null = mpi_library_null(decoder->library, call->function, call->ip);
	}
	if (record.function >= mpi_function_count) {
		record.function -= (uint16_t)mpi_function_count;
		record.flags |= MPI_IS_LARGE;
	}
	take_call(decoder, &record);
}
