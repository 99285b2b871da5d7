/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Python lines of a live child, by pieces of its memory as the program in the kernel would send
 * them; and pieces that no such program sends.
 */
#include "daemon/trace/path_reader.h"

#include "attach/process_memory.h"
#include "tests/must.h"
#include "tests/unit/unit_random.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define FRAMES_MAX 64
#define PATH       0x1234
#define ROUNDS     20000

static const char program[] = "import os, time\n"
			      "def inner():\n"
			      "    os.write(1, b'x')\n"
			      "    time.sleep(1000)\n"
			      "def outer():\n"
			      "    inner()\n"
			      "outer()\n";

struct child {
	pid_t pid;
	struct call_paths paths;
	struct path_reader *reader;
	struct clock_config places;
	struct process_memory memory;
	struct memory_reader bytes;
};

/* It has written, and waits in the line behind. */
static void wait_until_asleep(pid_t pid)
{
	char path[64], state = 0;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	for (unsigned i = 0; state != 'S'; i++) {
		FILE *file = fopen(path, "re");

		must(i < 10000 && file);
		must(fscanf(file, "%*d %*s %c", &state) == 1);
		fclose(file);
		usleep(1000);
	}
}

static void begin(struct child *child)
{
	int output[2];
	char byte;

	*child = (struct child){ 0 };
	must(!pipe(output));
	child->pid = fork();
	must(child->pid >= 0);
	if (!child->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		must(dup2(output[1], 1) == 1);
		execlp("python3", "python3", "-S", "-c", program, (char *)NULL);
		_exit(127);
	}
	close(output[1]);
	must(read(output[0], &byte, 1) == 1);
	close(output[0]);
	wait_until_asleep(child->pid);
	must(!path_reader_create(child->pid, NULL, &child->paths, &child->reader, &child->places));
	process_memory_init(&child->memory, child->pid);
	child->bytes = process_memory_reader(&child->memory);
}

static void end(struct child *child)
{
	path_reader_destroy(child->reader);
	call_paths_deinit(&child->paths);
	process_memory_deinit(&child->memory);
	kill(child->pid, SIGKILL);
	must(waitpid(child->pid, NULL, 0) == child->pid);
}

static uint64_t word_at(const struct child *child, uint64_t address)
{
	uint64_t word = 0;

	must(!memory_read(&child->bytes, address, &word, sizeof(word)));
	return word;
}

static struct mpi_chunk chunk_of(uint32_t kind, uint64_t path)
{
	return (struct mpi_chunk){ .kind = kind, .tid = 7, .begin_ns = path };
}

static void send(const struct child *child, uint32_t kind, uint64_t path, uint64_t address,
		 uint32_t bytes)
{
	for (uint32_t at = 0; at < bytes; at += MPI_PIECE_BYTES) {
		struct mpi_chunk chunk = chunk_of(kind, path);

		chunk.count =
			(uint16_t)(bytes - at < MPI_PIECE_BYTES ? bytes - at : MPI_PIECE_BYTES);
		chunk.first = at;
		chunk.words[0] = address + at;
		must(!memory_read(&child->bytes, address + at, &chunk.words[1], chunk.count));
		assert_true(path_reader_wants(&chunk));
		path_reader_take(child->reader, &chunk);
	}
}

/* As send_path() of attach/bpf/mpi.bpf.c, of the child's only thread. frames: at most so many. */
static void send_path(const struct child *child, uint64_t path, unsigned frames)
{
	const struct clock_config *places = &child->places;
	uint64_t interpreter = word_at(child, places->interpreters);
	uint64_t state = word_at(child, interpreter + places->interpreter_threads), link;
	struct mpi_chunk mark = chunk_of(MPI_RECORD_PATH, path);

	send(child, MPI_RECORD_STATE, path, state, places->state_bytes);
	if (places->thread_cframe != CLOCK_ABSENT) {
		uint64_t cframe = word_at(child, state + places->thread_cframe);

		link = word_at(child, cframe + places->cframe_current);
		for (; cframe; cframe = word_at(child, cframe + places->cframe_previous))
			send(child, MPI_RECORD_DATA, path, cframe, places->cframe_bytes);
	} else {
		link = word_at(child, state + places->thread_frame);
	}
	for (unsigned i = 0; i < frames && link; i++) {
		send(child, MPI_RECORD_DATA, path, link, places->frame_bytes);
		link = word_at(child, link + places->frame_previous);
	}
	mark.words[MPI_PATH_STATE] = state;
	mark.words[MPI_PATH_TID] = (uint64_t)child->pid;
	mark.words[MPI_PATH_REST] = link;
	path_reader_take(child->reader, &mark);
}

static void check_frame(const struct child *child, uint32_t path, const char *function, int line)
{
	const struct call_frame *frame = call_paths_frame(&child->paths, path);

	assert_non_null(frame);
	assert_string_equal(frame->function, function);
	assert_int_equal(frame->line, line);
}

static void test_lines(void **state)
{
	struct child child;
	uint32_t path;

	(void)state;
	begin(&child);
	assert_true(child.places.has_python);
	assert_int_equal(path_reader_find(child.reader, PATH), CALL_PATH_NONE);
	send_path(&child, PATH, FRAMES_MAX);
	path = path_reader_find(child.reader, PATH);
	check_frame(&child, path, "inner", 4);
	path = call_paths_frame(&child.paths, path)->caller;
	check_frame(&child, path, "outer", 6);
	path = call_paths_frame(&child.paths, path)->caller;
	check_frame(&child, path, "<module>", 7);
	assert_int_equal(call_paths_frame(&child.paths, path)->caller, CALL_PATH_NONE);
	/* The same lines by another number are the same path. */
	send_path(&child, PATH + 1, FRAMES_MAX);
	assert_int_equal(path_reader_find(child.reader, PATH + 1),
			 path_reader_find(child.reader, PATH));
	assert_int_equal(child.paths.left_out, 0);
	end(&child);
}

/* Callers that were not copied are not read from elsewhere: it is said that there are some. */
static void test_more_callers(void **state)
{
	struct child child;
	uint32_t path;

	(void)state;
	begin(&child);
	send_path(&child, PATH, 1);
	path = path_reader_find(child.reader, PATH);
	check_frame(&child, path, "inner", 4);
	path = call_paths_frame(&child.paths, path)->caller;
	check_frame(&child, path, "callers that were not read", 0);
	assert_int_equal(call_paths_frame(&child.paths, path)->caller, CALL_PATH_NONE);
	end(&child);
}

/* Marks without pieces, more pieces than there is room for, other threads' in between. */
static void test_strange_pieces(void **state)
{
	struct child child;
	struct mpi_chunk mark = chunk_of(MPI_RECORD_PATH, PATH);
	struct unit_random random = { 1 };

	(void)state;
	begin(&child);
	path_reader_take(child.reader, &mark);
	assert_int_equal(child.paths.left_out, 1);
	for (unsigned i = 0; i < ROUNDS; i++) {
		struct mpi_chunk chunk = {
			.kind = MPI_RECORD_STATE + (uint32_t)unit_random_below(&random, 3),
			.tid = (uint32_t)unit_random_below(&random, 40),
			.count = (uint16_t)unit_random_next(&random),
			.first = (uint32_t)unit_random_below(&random, 2),
			.begin_ns = unit_random_below(&random, 50),
		};

		if (unit_random_below(&random, 4))
			chunk.count %= MPI_PIECE_BYTES;
		for (unsigned k = 0; k < MPI_CHUNK_WORDS; k++)
			chunk.words[k] = unit_random_next(&random);
		path_reader_take(child.reader, &chunk);
	}
	assert_true(child.paths.left_out > 1);
	send_path(&child, PATH, FRAMES_MAX);
	check_frame(&child, path_reader_find(child.reader, PATH), "inner", 4);
	end(&child);
}

/* Its names cannot be read any more. */
static void test_ended_process(void **state)
{
	struct child child;
	struct mpi_chunk mark = chunk_of(MPI_RECORD_PATH, PATH), piece = mark;

	(void)state;
	begin(&child);
	kill(child.pid, SIGKILL);
	must(waitid(P_PID, (id_t)child.pid, NULL, WEXITED | WNOWAIT) == 0);
	piece.kind = MPI_RECORD_STATE;
	piece.count = 8;
	piece.words[0] = mark.words[MPI_PATH_STATE] = 0x10000;
	path_reader_take(child.reader, &piece);
	path_reader_take(child.reader, &mark);
	assert_int_equal(path_reader_find(child.reader, PATH), CALL_PATH_NONE);
	assert_int_equal(child.paths.left_out, 1);
	end(&child);
}

/* This program runs no Python. */
static void test_no_python(void **state)
{
	struct call_paths paths = { 0 };
	struct path_reader *reader;
	struct clock_config places;

	(void)state;
	assert_int_equal(path_reader_create(getpid(), NULL, &paths, &reader, &places), -ENODATA);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),          cmocka_unit_test(test_more_callers),
		cmocka_unit_test(test_strange_pieces), cmocka_unit_test(test_ended_process),
		cmocka_unit_test(test_no_python),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
