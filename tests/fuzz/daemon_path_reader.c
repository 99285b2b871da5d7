/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pieces of memory as the program in the kernel would send them of Python frames, and the process
 * that they are of:
 *
 *   u16 size of the chunks, the chunks; a process as in remote_image.h
 *   a chunk: u8 kind of three, and CHUNK_COPIES: its bytes are the process's memory; u8 thread;
 *   u8 number of its path; u16 bytes; u64 address; the bytes, unless they are copied
 *   the mark that ends a path has for these u16 thread and u64 address of its state
 *
 * The interpreter is found without the chunks; the process is gone at some time. All paths that
 * come of it are read as the daemon does.
 */
#include "daemon/trace/path_reader.c"

#include "tests/fuzz/remote_image.h"

#include <time.h>

#define CHUNKS_MAX   400
#define CHUNK_COPIES 0x80u
/* Far above what a path needs. */
#define READS_MAX 5000
/* As in runtime.c, VALIDATION_ATTEMPTS. */
#define ATTEMPTS 50

static struct remote_image *image;
static unsigned pauses;

/* As in attach_clock_sample.c: this process stands still. */
int nanosleep(const struct timespec *duration, struct timespec *left)
{
	(void)duration;
	(void)left;
	image->reads_left = ++pauses % ATTEMPTS ? 0 : READS_MAX;
	return 0;
}

static void draw_bytes(struct fuzz_input *input, struct mpi_chunk *chunk, bool copies)
{
	uint8_t *to = (uint8_t *)&chunk->words[1];
	size_t room = MPI_PIECE_BYTES, size = chunk->count < room ? chunk->count : room, there;
	const uint8_t *bytes;

	if (copies) {
		/* What cannot be read the program would not have sent. */
		if (remote_image_copy(image, chunk->words[0], to, size))
			memset(to, 0, size);
		return;
	}
	bytes = fuzz_take(input, size, &there);
	if (there)
		memcpy(to, bytes, there);
}

static struct mpi_chunk draw_chunk(struct fuzz_input *input)
{
	uint8_t kind = (uint8_t)fuzz_number(input, 1);
	struct mpi_chunk chunk = { .kind = MPI_RECORD_STATE + kind % 4 % 3 };

	chunk.tid = (uint8_t)fuzz_number(input, 1);
	chunk.begin_ns = fuzz_number(input, 1);
	chunk.count = (uint16_t)fuzz_number(input, 2);
	chunk.words[0] = fuzz_number(input, 8);
	if (chunk.kind != MPI_RECORD_PATH) {
		chunk.first = kind & 4;
		draw_bytes(input, &chunk, kind & CHUNK_COPIES);
		return chunk;
	}
	/* Of a thread that the process has, or another one. */
	chunk.words[MPI_PATH_TID] = chunk.count ? chunk.count : image->tid;
	chunk.words[MPI_PATH_REST] = kind & 4;
	return chunk;
}

/* Each frame's caller is an earlier path: they end. */
static void check_path(const struct call_paths *paths, uint32_t path)
{
	char words[300];

	call_paths_words(paths, path, words, sizeof(words));
	fuzz_read_string(words);
	for (const struct call_frame *frame = call_paths_frame(paths, path); frame;
	     frame = call_paths_frame(paths, path)) {
		fuzz_read_string(frame->function);
		fuzz_read_string(frame->file);
		fuzz_must(frame->caller < path);
		path = frame->caller;
	}
}

static void take_chunks(struct path_reader *reader, struct fuzz_input *chunks)
{
	uint64_t left_out = 0;
	bool told[256] = { false };

	for (unsigned i = 0; i < CHUNKS_MAX && chunks->left; i++) {
		struct mpi_chunk chunk = draw_chunk(chunks);
		uint32_t known = path_reader_find(reader, chunk.begin_ns);

		fuzz_must(known == CALL_PATH_NONE || told[chunk.begin_ns]);

		fuzz_must(path_reader_wants(&chunk));
		image->reads_left = i % 7 == 6 ? 0 : READS_MAX;
		path_reader_take(reader, &chunk);
		if (chunk.kind != MPI_RECORD_PATH)
			continue;
		/* It is known, or counted. */
		fuzz_must(path_reader_find(reader, chunk.begin_ns) != CALL_PATH_NONE ||
			  reader->paths->left_out > left_out);
		fuzz_must(known == CALL_PATH_NONE ||
			  path_reader_find(reader, chunk.begin_ns) != CALL_PATH_NONE);
		left_out = reader->paths->left_out;
		told[chunk.begin_ns] |= chunk.begin_ns != 0;
		check_path(reader->paths, path_reader_find(reader, chunk.begin_ns));
	}
}

static struct path_reader *make_reader(struct call_paths *paths)
{
	struct debug_info info = remote_image_info(image);
	struct path_reader *reader = calloc(1, sizeof(*reader));
	struct error error = { 0 };

	fuzz_must(reader);
	reader->paths = paths;
	reader->known = calloc(SLOTS, sizeof(reader->known[0]));
	fuzz_must(reader->known);
	reader->target.copied.process = (struct memory_reader){ remote_image_read, image };
	reader->target.reader = copied_memory_reader(&reader->target.copied);
	image->reads_left = READS_MAX;
	reader->target.runtime = python_runtime_create(&info, &reader->target.reader, &error);
	return reader;
}

static void free_reader(struct path_reader *reader)
{
	python_runtime_destroy(reader->target.runtime);
	for (unsigned i = 0; i < THREADS_MAX; i++)
		free(reader->unfinished[i]);
	free(reader->known);
	free(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = { data, size }, chunks = { 0 };
	struct call_paths paths = { 0 };
	struct path_reader *reader;

	image = calloc(1, sizeof(*image));
	fuzz_must(image);
	chunks.left = (size_t)fuzz_number(&input, 2);
	chunks.at = fuzz_take(&input, chunks.left, &chunks.left);
	remote_image_parse(image, input);
	pauses = 0;
	reader = make_reader(&paths);
	if (reader->target.runtime) {
		image->is_later = true;
		take_chunks(reader, &chunks);
	}
	free_reader(reader);
	call_paths_deinit(&paths);
	free(image);
	return 0;
}
