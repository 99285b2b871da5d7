/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/trace/path_reader.h"

#include "common/hash.h"
#include "daemon/capture/clock_places.h"
#include "daemon/capture/target.h"
#include "pyintrospect/python_stack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS (2 * PATH_READER_PATHS_MAX)
/* Threads whose pieces come in turns. */
#define THREADS_MAX 16
/* The program's: state, frames, and what lies between them on the C stack. */
#define PIECES_MAX  256
#define PIECE_BYTES (PIECES_MAX * (size_t)256)

_Static_assert(PIECES_MAX <= CLOCK_SAMPLE_PIECES_MAX, "all fit into a sample");

/* What has come of a path so far. */
struct unfinished_path {
	uint32_t tid;
	uint64_t number;
	bool cut; /* a piece did not fit */
	size_t piece_count, used;
	struct memory_piece pieces[PIECES_MAX];
	uint8_t bytes[PIECE_BYTES];
};

struct known_path {
	uint64_t number; /* 0: a free slot */
	uint32_t path;
};

struct path_reader {
	struct call_paths *paths;
	struct target target;
	struct unfinished_path *unfinished[THREADS_MAX]; /* the one that came last in front */
	struct known_path *known;                        /* by hash */
	size_t known_count;
	struct clock_sample sample;
	struct python_stack stack;
};

int path_reader_create(pid_t pid, struct impersonator *impersonator, struct call_paths *paths,
		       struct path_reader **ret_reader, struct clock_config *ret_places)
{
	struct path_reader *reader = calloc(1, sizeof(*reader));
	struct error error;
	int failure = 0;

	if (!reader)
		return -ENOMEM;
	reader->paths = paths;
	reader->known = calloc(SLOTS, sizeof(reader->known[0]));
	if (!reader->known)
		failure = -ENOMEM;
	else if (target_init(&reader->target, pid, false, impersonator, NULL, &error) ||
		 !reader->target.runtime)
		failure = -ENODATA;
	if (failure) {
		path_reader_destroy(reader);
		return failure;
	}
	*ret_places = clock_places_of(&reader->target);
	*ret_reader = reader;
	return 0;
}

void path_reader_destroy(struct path_reader *reader)
{
	if (!reader)
		return;
	target_deinit(&reader->target);
	for (unsigned i = 0; i < THREADS_MAX; i++)
		free(reader->unfinished[i]);
	free(reader->known);
	free(reader);
}

struct target *path_reader_target(struct path_reader *reader)
{
	return &reader->target;
}

/* ---- paths that are known ---- */

static size_t slot_of(const struct path_reader *reader, uint64_t number)
{
	size_t at = hash_word(number) % SLOTS;

	while (reader->known[at].number && reader->known[at].number != number)
		at = (at + 1) % SLOTS;
	return at;
}

uint32_t path_reader_find(const struct path_reader *reader, uint64_t number)
{
	return number ? reader->known[slot_of(reader, number)].path : CALL_PATH_NONE;
}

static void keep(struct path_reader *reader, uint64_t number, uint32_t path)
{
	struct known_path *known = &reader->known[slot_of(reader, number)];

	if (!known->number && reader->known_count == PATH_READER_PATHS_MAX) {
		reader->paths->left_out++;
		return;
	}
	reader->known_count += !known->number;
	*known = (struct known_path){ number, path };
}

/* ---- pieces ---- */

bool path_reader_wants(const struct mpi_chunk *chunk)
{
	return chunk->kind == MPI_RECORD_STATE || chunk->kind == MPI_RECORD_DATA ||
	       chunk->kind == MPI_RECORD_PATH;
}

/* In place of what the thread began before, or of the thread that was silent for longest. NULL: no
 * memory. */
static struct unfinished_path *unfinished_of(struct path_reader *reader,
					     const struct mpi_chunk *chunk)
{
	struct unfinished_path *found;
	unsigned at = 0;

	while (at < THREADS_MAX - 1 && reader->unfinished[at] &&
	       reader->unfinished[at]->tid != chunk->tid)
		at++;
	if (!reader->unfinished[at])
		reader->unfinished[at] = calloc(1, sizeof(*reader->unfinished[at]));
	found = reader->unfinished[at];
	if (!found)
		return NULL;
	memmove(&reader->unfinished[1], &reader->unfinished[0], at * sizeof(found));
	reader->unfinished[0] = found;
	if (found->tid != chunk->tid || found->number != chunk->begin_ns) {
		found->tid = chunk->tid;
		found->number = chunk->begin_ns;
		found->cut = false;
		found->piece_count = found->used = 0;
	}
	return found;
}

static void take_piece(struct unfinished_path *path, const struct mpi_chunk *chunk)
{
	struct memory_piece *last = path->piece_count ? &path->pieces[path->piece_count - 1] : NULL;
	uint8_t *to = path->bytes + path->used;

	if (path->piece_count == PIECES_MAX || chunk->count > MPI_PIECE_BYTES ||
	    chunk->count > PIECE_BYTES - path->used) {
		path->cut = true;
		return;
	}
	memcpy(to, &chunk->words[1], chunk->count);
	path->used += chunk->count;
	/* What was copied in two is read as one. */
	if (last && chunk->kind == MPI_RECORD_STATE && chunk->first &&
	    last->address + last->size == chunk->words[0])
		last->size += chunk->count;
	else
		path->pieces[path->piece_count++] = (struct memory_piece){
			.address = chunk->words[0], .size = chunk->count, .bytes = to
		};
}

/* ---- frames ---- */

/* Frames beyond the copied ones are another moment's. */
static size_t count_copied(const struct path_reader *reader)
{
	size_t count = 0;

	for (size_t i = 0; i < reader->stack.count; i++) {
		remote_addr frame = reader->stack.frames[i].address;
		size_t at = 0;

		while (at < reader->sample.piece_count &&
		       frame - reader->sample.pieces[at].address >= reader->sample.pieces[at].size)
			at++;
		if (at == reader->sample.piece_count)
			break;
		count++;
	}
	return count;
}

static uint32_t add_frames(struct path_reader *reader, bool whole)
{
	size_t count = count_copied(reader);
	uint32_t path = CALL_PATH_NONE;

	if (!count)
		return CALL_PATH_NONE;
	if (!whole || count < reader->stack.count)
		path = call_paths_add(reader->paths, path, "callers that were not read", "", 0);
	for (size_t i = count; i-- > 0;) {
		const struct python_frame *frame = &reader->stack.frames[i];

		path = call_paths_add(reader->paths, path, frame->code->function, frame->code->file,
				      python_code_line(frame->code, frame->instruction_offset));
		if (path == CALL_PATH_NONE)
			break;
	}
	return path;
}

static void finish_path(struct path_reader *reader, const struct unfinished_path *path,
			const struct mpi_chunk *end)
{
	const struct stack_snapshot no_stack = { 0 };
	struct clock_sample *sample = &reader->sample;
	uint32_t known = CALL_PATH_NONE;
	int error;

	if (!path->piece_count || path->cut) {
		reader->paths->left_out++;
		return;
	}
	*sample = (struct clock_sample){ .state = end->words[MPI_PATH_STATE],
					 .piece_count = path->piece_count };
	memcpy(sample->pieces, path->pieces, path->piece_count * sizeof(path->pieces[0]));
	copied_memory_show(&reader->target.copied, sample);
	error = python_stack_read_copied(reader->target.runtime, (pid_t)end->words[MPI_PATH_TID],
					 sample->state, &no_stack, &reader->stack);
	copied_memory_show(&reader->target.copied, NULL);
	if (!error && !(reader->stack.flags & PYTHON_STACK_INVALID))
		known = add_frames(reader, !end->words[MPI_PATH_REST]);
	if (known == CALL_PATH_NONE)
		reader->paths->left_out++;
	else
		keep(reader, end->begin_ns, known);
}

void path_reader_take(struct path_reader *reader, const struct mpi_chunk *chunk)
{
	struct unfinished_path *path = unfinished_of(reader, chunk);

	/* No path of the program's has the number of a free slot. */
	if (!path || !chunk->begin_ns) {
		reader->paths->left_out++;
		return;
	}
	if (chunk->kind != MPI_RECORD_PATH) {
		take_piece(path, chunk);
		return;
	}
	finish_path(reader, path, chunk);
	path->piece_count = path->used = 0;
}
