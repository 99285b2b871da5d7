/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/frame_walk.h"

#include "common/hash.h"
#include "pyintrospect/field.h"
#include "pyintrospect/runtime_internal.h"

#include <errno.h>
#include <string.h>

#define PAGE_BYTES         4096ull
#define WORD_BYTES         8ull
#define VISITED_SLOTS      (sizeof(((struct python_runtime *)NULL)->visited) / sizeof(remote_addr))
#define CHUNKS_MAX         8    /* chunks of the data stack that are looked through */
#define CODE_POINTER_TAGS  3ull /* 3.14+: low bits of f_executable */
#define FIRST_MINOR_TAGGED 14
#define OWNED_BY_GENERATOR 1

/* Frames and shims of one walk. */
#define VISITS_MAX (2 * RAW_FRAMES_MAX)
_Static_assert(VISITED_SLOTS >= VISITS_MAX + VISITS_MAX / 2, "the table never fills up");

void frame_walk_start_parse(const struct python_runtime *runtime, remote_addr thread,
			    const uint8_t *thread_bytes, struct frame_walk_start *ret_start)
{
	const struct python_offsets *offsets = &runtime->layout.offsets;
	struct frame_walk_start start = { .thread = thread };

	if (offsets->thread_cframe != OFFSET_ABSENT)
		start.cframe = field_u64(thread_bytes, offsets->thread_cframe);
	else
		start.frame = field_u64(thread_bytes, offsets->thread_frame);
	if (offsets->thread_chunk != OFFSET_ABSENT) {
		start.chunk = field_u64(thread_bytes, offsets->thread_chunk);
		start.chunk_top = field_u64(thread_bytes, offsets->thread_chunk_top);
	}
	*ret_start = start;
}

static remote_addr round_up_to_page(remote_addr address)
{
	return (address + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1);
}

/*
 * Reads from start of a chunk to the end of the page that holds the byte
 * before end, so that the piece stays the same while the stack grows a little;
 * of a long stretch, the end.
 */
static void want_chunk_part(struct remote_copy *copy, remote_addr chunk, remote_addr end)
{
	remote_addr start = chunk;

	if (chunk == 0 || end <= chunk || end > INT64_MAX)
		return;
	end = round_up_to_page(end);
	if (end - start > REMOTE_COPY_REGION_BYTES)
		start = end - REMOTE_COPY_REGION_BYTES;
	/* Without room the frames are read one by one. */
	(void)remote_copy_want_region(copy, start, end - start);
}

void frame_walk_want_chunk(struct python_runtime *runtime, const struct frame_walk_start *start)
{
	want_chunk_part(&runtime->copy, start->chunk, start->chunk_top);
}

/* A frame in none of the pieces read so far: in an older chunk of the data stack, perhaps. */
static void want_older_chunk(struct python_runtime *runtime, const struct frame_walk_start *start,
			     remote_addr frame)
{
	const struct python_offsets *offsets = &runtime->layout.offsets;
	remote_addr chunk = start->chunk;
	size_t head_size = (size_t)offsets->chunk_data;

	for (size_t i = 0; i < CHUNKS_MAX && chunk; i++) {
		const uint8_t *head;
		uint64_t size;

		if (remote_copy_read(&runtime->copy, chunk, head_size, &head))
			return;
		size = field_u64(head, offsets->chunk_size);
		if (frame >= chunk && frame - chunk < size) {
			want_chunk_part(&runtime->copy, chunk, frame + runtime->sizes.frame);
			return;
		}
		chunk = field_u64(head, offsets->chunk_previous);
	}
}

int frame_read(struct python_runtime *runtime, const struct frame_walk_start *start,
	       remote_addr frame, const uint8_t **ret_bytes)
{
	const uint8_t *bytes = remote_copy_get(&runtime->copy, frame, runtime->sizes.frame);
	int error;

	if (!bytes && start->chunk) {
		want_older_chunk(runtime, start, frame);
		error = remote_copy_fetch(&runtime->copy);
		if (error)
			return error;
	}
	if (bytes) {
		*ret_bytes = bytes;
		return 0;
	}
	return remote_copy_read(&runtime->copy, frame, runtime->sizes.frame, ret_bytes);
}

/* A _PyCFrame's fields; 0 or a negative errno. */
static int cframe_read(struct python_runtime *runtime, remote_addr cframe, remote_addr *ret_current,
		       remote_addr *ret_previous)
{
	const struct python_offsets *offsets = &runtime->layout.offsets;
	const uint8_t *bytes;
	int error = remote_copy_read(&runtime->copy, cframe, runtime->sizes.cframe, &bytes);

	if (error)
		return error;
	*ret_current = field_u64(bytes, offsets->cframe_current);
	*ret_previous = field_u64(bytes, offsets->cframe_previous);
	return 0;
}

/* False when the frame was met before in this walk. */
static bool visit(struct python_runtime *runtime, remote_addr frame)
{
	size_t slot = hash_word(frame) % VISITED_SLOTS;

	while (runtime->visited[slot]) {
		if (runtime->visited[slot] == frame)
			return false;
		slot = (slot + 1) % VISITED_SLOTS;
	}
	runtime->visited[slot] = frame;
	return true;
}

/* What one frame says, decoded. */
struct frame_facts {
	struct raw_frame raw;
	remote_addr previous;
	bool shim;
};

remote_addr frame_code(const struct python_layout *layout, const uint8_t *bytes)
{
	remote_addr code = field_u64(bytes, layout->offsets.frame_code);

	return layout->minor >= FIRST_MINOR_TAGGED ? code & ~CODE_POINTER_TAGS : code;
}

int64_t frame_instruction(const struct python_layout *layout, const uint8_t *bytes)
{
	const struct python_offsets *offsets = &layout->offsets;

	if (layout->walk == PYTHON_WALK_FRAME_OBJECTS)
		return (int64_t)field_i32(bytes, offsets->frame_instruction) *
		       layout->instruction_unit;
	return (int64_t)(field_u64(bytes, offsets->frame_instruction) - frame_code(layout, bytes) -
			 (uint64_t)offsets->code_bytecode);
}

static void parse_frame(const struct python_runtime *runtime, remote_addr address,
			const uint8_t *bytes, struct frame_facts *facts)
{
	const struct python_layout *layout = &runtime->layout;
	const struct python_offsets *offsets = &layout->offsets;
	struct raw_frame *raw = &facts->raw;

	*raw = (struct raw_frame){ .address = address };
	raw->code = frame_code(layout, bytes);
	raw->instruction = frame_instruction(layout, bytes);
	facts->previous = field_u64(bytes, offsets->frame_previous);
	if (layout->walk == PYTHON_WALK_FRAME_OBJECTS) {
		raw->entry = true;
	} else {
		raw->owner = bytes[offsets->frame_owner];
	}
	if (offsets->frame_tlbc != OFFSET_ABSENT)
		raw->tlbc = (uint32_t)field_i32(bytes, offsets->frame_tlbc);
	if (layout->walk == PYTHON_WALK_CFRAMES)
		raw->entry = bytes[offsets->frame_is_entry] != 0;
	facts->shim = layout->shim_owner && raw->owner >= layout->shim_owner;
}

/*
 * Reads and decodes the frame at address. False when the walk has to end: too
 * many, met before, unreadable.
 */
static bool next_frame(struct python_runtime *runtime, const struct frame_walk_start *start,
		       remote_addr address, struct frame_walk *walk, struct frame_facts *facts)
{
	const uint8_t *bytes;
	int error;

	walk->end = FRAME_WALK_TRUNCATED;
	if (runtime->raw_count == RAW_FRAMES_MAX || walk->visits++ == VISITS_MAX)
		return false;
	error = visit(runtime, address) ? frame_read(runtime, start, address, &bytes) : -ELOOP;
	if (error) {
		walk->error = error;
		return false;
	}
	parse_frame(runtime, address, bytes, facts);
	walk->end = FRAME_WALK_COMPLETE;
	return true;
}

static struct frame_walk walk_frame_objects(struct python_runtime *runtime,
					    const struct frame_walk_start *start)
{
	struct frame_walk walk = { .end = FRAME_WALK_COMPLETE };
	remote_addr frame = start->frame;
	struct frame_facts facts;

	while (frame && next_frame(runtime, start, frame, &walk, &facts)) {
		runtime->raw_frames[runtime->raw_count++] = facts.raw;
		frame = facts.previous;
	}
	return walk;
}

/*
 * throw() and close() on a generator that delegates go on to the inner one
 * without an evaluation loop for the outer one, which stays on the list of
 * frames. 3.11: it keeps is_entry from when it ran, but its link leads on
 * within the loop that it was thrown from.
 */
static bool thrown_through(const struct raw_frame *raw, remote_addr previous, remote_addr outer)
{
	return raw->owner == OWNED_BY_GENERATOR && previous && previous != outer;
}

static struct frame_walk broken(size_t valid)
{
	return (struct frame_walk){ .end = FRAME_WALK_BROKEN, .valid = valid };
}

static bool data_stack_empty(const struct python_runtime *runtime,
			     const struct frame_walk_start *start)
{
	/* The first chunk leaves out one word. */
	return !start->chunk ||
	       start->chunk_top <=
		       start->chunk + WORD_BYTES + (uint64_t)runtime->layout.offsets.chunk_data;
}

/*
 * 3.11, 3.12: greenlet gives each greenlet but the main one a _PyCFrame of its
 * own to begin with. It has no frame, and its link goes to the root's. Between
 * it and the first evaluation loop there is only native code: nothing is on the
 * data stack, as there is while a loop is in its prologue.
 */
static bool before_first_loop(const struct python_runtime *runtime,
			      const struct frame_walk_start *start, remote_addr outer_cframe,
			      remote_addr root)
{
	return outer_cframe == root && data_stack_empty(runtime, start);
}

/*
 * 3.11. The evaluation loop sets its entry frame's link to the frame that was
 * current in the _PyCFrame before its own, and that one stays as it is while
 * the loop runs: both have to agree at the end of every group. They do not
 * while the newest loop is in its prologue. The last link is nothing, and so is
 * the current frame of the root _PyCFrame, or of the one that a greenlet begins
 * with.
 */
static struct frame_walk walk_cframes(struct python_runtime *runtime,
				      const struct frame_walk_start *start)
{
	remote_addr root = start->thread + (uint64_t)runtime->layout.offsets.thread_root_cframe;
	struct frame_walk walk = { .end = FRAME_WALK_COMPLETE };
	remote_addr cframe = start->cframe, frame, outer_cframe, outer_frame;
	struct frame_facts facts;
	size_t group_start = 0;

	if (cframe_read(runtime, cframe, &frame, &outer_cframe))
		return broken(0);
	if (cframe == root)
		return frame ? broken(0) : walk;
	if (!frame)
		return before_first_loop(runtime, start, outer_cframe, root) ? walk : broken(0);
	while (frame && next_frame(runtime, start, frame, &walk, &facts)) {
		frame = facts.previous;
		if (facts.raw.entry) {
			remote_addr next_outer;

			/* The C stack grows down, and the thread state is not on it. */
			if (outer_cframe <= cframe && outer_cframe != root)
				return broken(group_start);
			if (cframe_read(runtime, outer_cframe, &outer_frame, &next_outer))
				return broken(group_start);
			if (thrown_through(&facts.raw, frame, outer_frame)) {
				facts.raw.entry = false;
			} else {
				facts.raw.anchor = cframe;
				cframe = outer_cframe;
				outer_cframe = next_outer;
				if (outer_frame != frame ||
				    (frame ? cframe == root
					   : cframe != root && outer_cframe != root))
					return broken(group_start);
			}
		}
		runtime->raw_frames[runtime->raw_count++] = facts.raw;
		if (facts.raw.entry)
			group_start = runtime->raw_count;
	}
	/* The last frame of all is an entry frame. */
	if (walk.end == FRAME_WALK_COMPLETE && group_start != runtime->raw_count)
		return broken(group_start);
	return walk;
}

/* 3.12: what the entry shim of the innermost group must lead on to. */
static int outer_current_frame(struct python_runtime *runtime, const struct frame_walk_start *start,
			       remote_addr *ret_frame, remote_addr *ret_outer_cframe,
			       remote_addr *ret_outer)
{
	remote_addr unused;
	int error = cframe_read(runtime, start->cframe, ret_frame, ret_outer_cframe);

	*ret_outer = 0;
	if (!error && *ret_outer_cframe)
		error = cframe_read(runtime, *ret_outer_cframe, ret_outer, &unused);
	return error;
}

static struct frame_walk walk_shims(struct python_runtime *runtime,
				    const struct frame_walk_start *start)
{
	struct frame_walk walk = { .end = FRAME_WALK_COMPLETE };
	remote_addr frame = start->frame, outer = 0;
	bool check_outer = start->cframe != 0;
	struct frame_facts facts;
	size_t group_start = 0;

	if (check_outer) {
		remote_addr root =
			start->thread + (uint64_t)runtime->layout.offsets.thread_root_cframe;
		remote_addr outer_cframe;

		if (outer_current_frame(runtime, start, &frame, &outer_cframe, &outer))
			return broken(0);
		if (start->cframe == root)
			return frame ? broken(0) : walk;
		if (!frame)
			return before_first_loop(runtime, start, outer_cframe, root) ? walk
										     : broken(0);
	}
	while (frame && next_frame(runtime, start, frame, &walk, &facts)) {
		remote_addr address = frame;

		frame = facts.previous;
		if (!facts.shim) {
			runtime->raw_frames[runtime->raw_count++] = facts.raw;
			continue;
		}
		if (check_outer && frame != outer)
			return broken(0);
		check_outer = false;
		/* A shim without frames: its loop is entering or leaving, or it is the base
		 * of 3.15. */
		if (runtime->raw_count == group_start)
			continue;
		runtime->raw_frames[runtime->raw_count - 1].entry = true;
		runtime->raw_frames[runtime->raw_count - 1].anchor = address;
		group_start = runtime->raw_count;
	}
	if (walk.end == FRAME_WALK_COMPLETE && group_start != runtime->raw_count)
		return broken(group_start);
	return walk;
}

static void walk_begin(struct python_runtime *runtime)
{
	runtime->raw_count = 0;
	memset(runtime->visited, 0, sizeof(runtime->visited));
}

struct frame_walk frame_walk_suspended(struct python_runtime *runtime, remote_addr frame)
{
	const struct frame_walk_start start = { .frame = frame };
	struct frame_walk walk = { .end = FRAME_WALK_COMPLETE };
	struct frame_facts facts;

	walk_begin(runtime);
	while (frame && next_frame(runtime, &start, frame, &walk, &facts)) {
		facts.raw.entry = false;
		if (!facts.shim)
			runtime->raw_frames[runtime->raw_count++] = facts.raw;
		frame = facts.previous;
	}
	return walk;
}

struct frame_walk frame_walk(struct python_runtime *runtime, const struct frame_walk_start *start)
{
	walk_begin(runtime);
	switch (runtime->layout.walk) {
	case PYTHON_WALK_CFRAMES:
		return walk_cframes(runtime, start);
	case PYTHON_WALK_SHIMS:
		return walk_shims(runtime, start);
	default:
		return walk_frame_objects(runtime, start);
	}
}
