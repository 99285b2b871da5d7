/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Corrupted memory: a live interpreter's image, copied page by page, in which
 * words are replaced at random. Whatever comes back must be well formed, after
 * a bounded number of reads.
 */
#include "pyintrospect/python_stack.h"

#include "pyintrospect/thread_list.h"
#include "tests/unit/support_live.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define PAGE_BYTES      4096u
#define PAGES_MAX       16384
#define CALLS_MAX       50000 /* of the reader, for one stack */
#define ROUNDS          150
#define CREATE_ROUNDS   6
#define STACK_COPY      (32u << 10)
#define STRING_SIZE_MAX (4096 * 4 + 1)

static const char script[] =
	"\n"
	"import os, threading\n"
	"gate, keep = os.pipe()\n"
	"def hold(x): return os.read(gate, 1)\n"
	"def deep(n): return hold(1) if n == 0 else deep(n - 1)\n"
	"def mixed(n): return sorted([1], key=hold if n == 0 else lambda x: mixed(n - 1))\n"
	"def gen(n):\n"
	"    if n: yield from gen(n - 1)\n"
	"    yield hold(1)\n"
	"for f in (lambda: deep(150), lambda: mixed(6), lambda: list(gen(5)), lambda: hold(0)):\n"
	"    t = threading.Thread(target=f); t.daemon = True; t.start()\n"
	"os.write(1, b'READY\\n')\n"
	"hold(1)\n";

struct page {
	uint64_t number; /* address / PAGE_BYTES + 1; 0: free */
	bool mapped;
	uint8_t bytes[PAGE_BYTES];
};

struct image {
	struct live_memory memory;
	struct page *pages; /* hash */
	size_t count;
	unsigned long calls;
	uint64_t seed;
	unsigned rate;        /* one word in so many is replaced; 0: none */
	remote_addr known[8]; /* places to lead wrong pointers to */
};

static struct page *image_page(struct image *image, uint64_t number)
{
	size_t slot = (size_t)(number * 0x9e3779b97f4a7c15ull >> 40) % PAGES_MAX;
	struct memory_reader reader = { live_memory_read, &image->memory };

	while (image->pages[slot].number && image->pages[slot].number != number + 1)
		slot = (slot + 1) % PAGES_MAX;
	if (!image->pages[slot].number) {
		if (image->count == PAGES_MAX / 2) {
			memset(image->pages, 0, PAGES_MAX * sizeof(*image->pages));
			image->count = 0;
		}
		image->count++;
		image->pages[slot].number = number + 1;
		image->pages[slot].mapped = memory_read(&reader, number * PAGE_BYTES,
							image->pages[slot].bytes, PAGE_BYTES) == 0;
	}
	return &image->pages[slot];
}

static uint64_t mix(uint64_t value)
{
	value ^= value >> 31;
	value *= 0x7fb5d329728ea185ull;
	value ^= value >> 27;
	value *= 0x81dadef4bc2dd44dull;
	return value ^ value >> 33;
}

/* The word at an address of the corrupted image: the same whenever it is read in one round. */
static uint64_t corrupt(const struct image *image, remote_addr address, uint64_t word)
{
	uint64_t random = mix(address ^ image->seed);

	if (!image->rate || random % image->rate)
		return word;
	random = mix(random);
	switch (random % 10) {
	case 0:
		return 0;
	case 1:
		return UINT64_MAX;
	case 2:
		return address; /* a link to itself */
	case 3:
		return address - random % 4096;
	case 4:
		return word + 8;
	case 5:
		return word ^ (1ull << random / 16 % 64);
	case 6:
		return random / 16 % 1000;
	case 7:
		return random;
	default:
		return image->known[random / 16 % 8] + random / 128 % 3 * 8;
	}
}

static bool image_copy(struct image *image, remote_addr address, uint8_t *buffer, size_t size)
{
	for (size_t i = 0; i < size;) {
		remote_addr at = address + i, word_at = at & ~7ull;
		struct page *page = image_page(image, at / PAGE_BYTES);
		size_t skip = at - word_at, part = 8 - skip < size - i ? 8 - skip : size - i;
		uint64_t word;

		if (!page->mapped)
			return false;
		memcpy(&word, page->bytes + word_at % PAGE_BYTES, 8);
		word = corrupt(image, word_at, word);
		memcpy(buffer + i, (uint8_t *)&word + skip, part);
		i += part;
	}
	return true;
}

static int image_read(void *context, struct memory_range *ranges, size_t count)
{
	struct image *image = context;

	image->calls++;
	for (size_t i = 0; i < count; i++)
		ranges[i].error =
			image_copy(image, ranges[i].address, ranges[i].buffer, ranges[i].size)
				? 0
				: -EFAULT;
	return 0;
}

/* Touches everything a user of the stack would. */
static void check_well_formed(const struct python_stack *stack)
{
	assert_true(stack->count <= PYTHON_STACK_FRAMES_MAX);
	for (size_t i = 0; i < stack->count; i++) {
		const struct python_frame *frame = &stack->frames[i];
		const char *opcode;

		assert_non_null(frame->code);
		assert_true(strlen(frame->code->function) < STRING_SIZE_MAX);
		assert_true(strlen(frame->code->file) < STRING_SIZE_MAX);
		assert_true(python_code_line(frame->code, frame->instruction_offset) >= 0);
		opcode = python_code_opcode(frame->code, frame->instruction_offset);
		assert_true(!opcode || opcode[0]);
		assert_true(frame->anchor == 0 || frame->entry);
	}
}

struct corrupted {
	struct live_target target;
	struct live_binary binary;
	struct debug_info info;
	struct image image;
	struct memory_reader reader;
	pid_t tids[8];
	uint64_t sps[8];
	size_t tid_count;
};

static void corrupted_start(struct corrupted *corrupted, const struct live_python *python)
{
	struct dirent *entry;
	char line[64], path[64];
	uint64_t size;
	DIR *folder;

	memset(corrupted, 0, sizeof(*corrupted));
	assert_true(live_target_start(&corrupted->target, python->path, script));
	assert_true(live_target_line(&corrupted->target, line, sizeof(line)));
	assert_true(live_binary_find(&corrupted->binary, corrupted->target.pid));
	corrupted->info = live_debug_info(&corrupted->binary);
	corrupted->image.memory.pid = corrupted->target.pid;
	corrupted->image.pages = calloc(PAGES_MAX, sizeof(*corrupted->image.pages));
	corrupted->reader = (struct memory_reader){ image_read, &corrupted->image };
	snprintf(path, sizeof(path), "/proc/%d/task", corrupted->target.pid);
	folder = opendir(path);
	assert_non_null(folder);
	while ((entry = readdir(folder)) && corrupted->tid_count < 8) {
		pid_t tid = atoi(entry->d_name);

		if (tid > 0 && live_thread_wait_syscall(corrupted->target.pid, tid, 0,
							&corrupted->sps[corrupted->tid_count]))
			corrupted->tids[corrupted->tid_count++] = tid;
	}
	closedir(folder);
	assert_int_equal(corrupted->tid_count, 5);
	for (size_t i = 0; i < 8; i++)
		corrupted->image.known[i] = corrupted->sps[i % corrupted->tid_count] + 64 * i;
	(void)live_symbol(&corrupted->binary, "PyCode_Type", &corrupted->image.known[0], &size);
	(void)live_symbol(&corrupted->binary, "PyType_Type", &corrupted->image.known[1], &size);
}

static void corrupted_end(struct corrupted *corrupted)
{
	free(corrupted->image.pages);
	live_binary_close(&corrupted->binary);
	live_target_end(&corrupted->target);
}

static struct stack_snapshot corrupted_stack(struct corrupted *corrupted, size_t thread,
					     uint8_t *bytes)
{
	struct stack_snapshot snapshot = { .start = corrupted->sps[thread] - STACK_RED_ZONE_BYTES,
					   .bytes = bytes };

	while (snapshot.size < STACK_COPY &&
	       image_copy(&corrupted->image, snapshot.start + snapshot.size, bytes + snapshot.size,
			  64))
		snapshot.size += 64;
	return snapshot;
}

static void test_corrupted_stacks(void **state)
{
	static const unsigned rates[] = { 4, 20, 100, 400, 2000 };
	const struct live_pythons *pythons = live_pythons();
	static struct python_stack stack;
	uint8_t *bytes = malloc(STACK_COPY);

	(void)state;
	for (size_t i = 0; i < pythons->count; i++) {
		unsigned reads = 0, failed = 0, flagged = 0;
		unsigned long calls_most = 0, frames = 0;
		struct corrupted corrupted;
		struct python_runtime *runtime;
		struct error error;

		corrupted_start(&corrupted, &pythons->items[i]);
		runtime = python_runtime_create(&corrupted.info, &corrupted.reader, &error);
		assert_non_null(runtime);
		for (size_t j = 0; j < corrupted.tid_count; j++) {
			assert_int_equal(
				python_stack_read(runtime, corrupted.tids[j], NULL, &stack), 0);
			frames += stack.count;
		}
		assert_true(frames > 150);
		for (unsigned round = 0; round < ROUNDS * corrupted.tid_count; round++) {
			size_t thread = round % corrupted.tid_count;
			struct stack_snapshot snapshot;
			int failure;

			corrupted.image.seed = mix(round + 1000 * i);
			corrupted.image.rate = rates[round / corrupted.tid_count % 5];
			snapshot = corrupted_stack(&corrupted, thread, bytes);
			corrupted.image.calls = 0;
			failure = python_stack_read(runtime, corrupted.tids[thread],
						    round % 3 ? &snapshot : NULL, &stack);
			if (corrupted.image.calls > calls_most)
				calls_most = corrupted.image.calls;
			reads++;
			failed += failure != 0;
			if (failure)
				assert_true(failure == -ESRCH || failure == -EFAULT);
			else
				check_well_formed(&stack);
			flagged += !failure && stack.flags;
		}
		print_message("3.%d.%d: %u reads, %u failed, %u flagged, at most %lu calls\n",
			      pythons->items[i].minor, pythons->items[i].micro, reads, failed,
			      flagged, calls_most);
		assert_true(calls_most <= CALLS_MAX);
		/* Back to the true image: nothing wrong was kept, for long. */
		corrupted.image.rate = 0;
		for (size_t j = 0; j < corrupted.tid_count; j++) {
			int failure = -ESRCH;

			for (unsigned k = 0; k < 100 && failure == -ESRCH; k++)
				failure =
					python_stack_read(runtime, corrupted.tids[j], NULL, &stack);
			assert_int_equal(failure, 0);
			if (stack.flags)
				print_message("thread %zu: flags %x after %zu frames\n", j,
					      stack.flags, stack.count);
			assert_int_equal(stack.flags, 0);
			frames -= stack.count;
		}
		assert_int_equal(frames, 0);
		python_runtime_destroy(runtime);
		corrupted_end(&corrupted);
	}
	free(bytes);
	if (!pythons->count)
		skip();
}

#define LIST_CALLS_MAX 300000
#define LIST_ROUNDS    40

/* The list of threads, with their names, and readings of threads that were not stopped. */
static void test_corrupted_lists(void **state)
{
	static const unsigned rates[] = { 4, 20, 100, 400, 2000 };
	const struct live_pythons *pythons = live_pythons();
	static struct python_stack stack;

	(void)state;
	for (size_t i = 0; i < pythons->count; i++) {
		unsigned failed = 0, flagged = 0, torn = 0, named = 0;
		struct corrupted corrupted;
		struct python_thread_list list;
		struct python_runtime *runtime;
		unsigned long calls_most = 0;
		struct error error;

		corrupted_start(&corrupted, &pythons->items[i]);
		runtime = python_runtime_create(&corrupted.info, &corrupted.reader, &error);
		assert_non_null(runtime);
		for (unsigned round = 0; round < LIST_ROUNDS; round++) {
			int failure;

			corrupted.image.seed = mix(round + 3000 * i);
			corrupted.image.rate = rates[round % 5];
			corrupted.image.calls = 0;
			failure = python_thread_list_read(runtime, &list);
			if (corrupted.image.calls > calls_most)
				calls_most = corrupted.image.calls;
			failed += failure != 0;
			if (!failure) {
				assert_true(list.count <= PYTHON_THREADS_MAX);
				flagged += list.flags != 0;
				for (size_t j = 0; j < list.count; j++) {
					assert_true(strlen(list.items[j].name) <
						    PYTHON_THREAD_NAME_SIZE);
					named += list.items[j].name[0] != '\0';
				}
				python_thread_list_deinit(&list);
			}
			corrupted.image.calls = 0;
			failure = python_stack_read_running(
				runtime, corrupted.tids[round % corrupted.tid_count], &stack);
			assert_true(corrupted.image.calls <= 16 * CALLS_MAX);
			if (!failure)
				check_well_formed(&stack);
			torn += !failure && (stack.flags & PYTHON_STACK_TORN);
		}
		print_message("3.%d.%d: %u lists failed, %u flagged, %u names, %u stacks torn, at "
			      "most %lu calls\n",
			      pythons->items[i].minor, pythons->items[i].micro, failed, flagged,
			      named, torn, calls_most);
		assert_true(calls_most <= LIST_CALLS_MAX);
		corrupted.image.rate = 0;
		assert_int_equal(python_thread_list_read(runtime, &list), 0);
		assert_int_equal(list.flags, 0);
		assert_int_equal(list.count, corrupted.tid_count);
		for (size_t j = 0; j < list.count; j++)
			assert_true(list.items[j].name[0]);
		python_thread_list_deinit(&list);
		python_runtime_destroy(runtime);
		corrupted_end(&corrupted);
	}
	if (!pythons->count)
		skip();
}

/* Without symbols, too, where the image itself is searched. */
static int no_symbol(void *context, const char *name, remote_addr *ret_address, uint64_t *ret_size)
{
	(void)context;
	(void)name;
	(void)ret_address;
	(void)ret_size;
	return -ENOENT;
}

/* Attaching to such an image is refused or works; it never hangs. */
static void test_corrupted_create(void **state)
{
	static const unsigned rates[] = { 3, 30, 1000 };
	const struct live_pythons *pythons = live_pythons();
	static struct python_stack stack;

	(void)state;
	for (size_t i = 0; i < pythons->count; i++) {
		struct corrupted corrupted;
		unsigned created = 0;

		corrupted_start(&corrupted, &pythons->items[i]);
		corrupted.binary.use_dwarf = false;
		for (unsigned round = 0; round < CREATE_ROUNDS; round++) {
			struct python_runtime *runtime;
			struct error error = { 0 };

			corrupted.info.symbol = round < CREATE_ROUNDS / 2 ? live_symbol : no_symbol;
			corrupted.image.seed = mix(round + 77 * i);
			corrupted.image.rate = rates[round % 3];
			runtime = python_runtime_create(&corrupted.info, &corrupted.reader, &error);
			if (!runtime) {
				assert_true(error.exit_code == EXIT_UNSUPPORTED_PYTHON ||
					    error.exit_code == EXIT_NO_TARGET);
				assert_true(error.cause[0]);
				continue;
			}
			created++;
			for (size_t j = 0; j < corrupted.tid_count; j++)
				if (!python_stack_read(runtime, corrupted.tids[j], NULL, &stack))
					check_well_formed(&stack);
			python_runtime_destroy(runtime);
		}
		print_message("3.%d.%d: created in %u of %d rounds\n", pythons->items[i].minor,
			      pythons->items[i].micro, created, CREATE_ROUNDS);
		corrupted_end(&corrupted);
	}
	if (!pythons->count)
		skip();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_corrupted_stacks),
		cmocka_unit_test(test_corrupted_lists),
		cmocka_unit_test(test_corrupted_create),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
