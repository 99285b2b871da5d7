/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Greenlets that are forged in Python, on live interpreters: objects of a class
 * called greenlet, each with a pointer to bytes where the fields should be. The
 * real ones are in tests/e2e/test_greenlets.py.
 */
#include "pyintrospect/greenlet.h"

#include "pyintrospect/gc_objects.h"
#include "pyintrospect/runtime_internal.h"
#include "tests/unit/support_live.h"
#include "tests/unit/unit_random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <time.h>

#include <cmocka.h>

/* Nothing here gets better by waiting. */
int nanosleep(const struct timespec *duration, struct timespec *left);
int nanosleep(const struct timespec *duration, struct timespec *left)
{
	(void)duration;
	(void)left;
	return 0;
}

/*
 * Each word on stdin makes the greenlets anew: "good", "odd" (all), "one" (one
 * odd one), "larger" (of a class with other fields), "many COUNT".
 */
static const char script[] =
	"\n"
	"import gc, os, struct, sys, types\n"
	"sys.modules['greenlet'] = module = types.ModuleType('greenlet')\n"
	"words = {'size': 3}\n"
	"kept = []\n"
	"main, far = 2 ** 64 - 1, 0x7fff00002000\n"
	"def forge(kind, start, stop, copy, saved, frame):\n"
	"    made = kind()\n"
	"    pad = 16 if sys.version_info >= (3, 11) else 32\n"
	"    made.c = bytes(pad) + struct.pack('7Q', start, stop, copy, saved, 0, 0, frame)\n"
	"    kept.append(made)\n"
	"def kinds(*slots):\n"
	"    class greenlet(object):\n"
	"        __slots__ = slots\n"
	"    class Derived(greenlet):\n"
	"        __slots__ = ()\n"
	"    module.greenlet = greenlet\n"
	"    return greenlet, Derived\n"
	"def make(word, frame):\n"
	"    del kept[:]\n"
	"    plain, derived = kinds('a', 'b', 'c', *(['d'] if word == 'larger' else []))\n"
	"    waits = id(frame)\n"
	"    if word.startswith('many'):\n"
	"        for _ in range(int(word.split()[1])):\n"
	"            forge(plain, 1, far, 0, 0, 0)\n"
	"        return\n"
	"    if word != 'odd':\n"
	"        forge(derived, far - 64, far, waits, 64, waits)\n"
	"        forge(plain, far - 64, main, 0, 0, waits)\n"
	"        forge(plain, 1, far, 0, 0, 0)\n"
	"        forge(plain, 1, main, 0, 0, 0)\n" /* a main one that runs */
	"        forge(plain, 0, 0, 0, 0, 0)\n"    /* has not begun */
	"        forge(plain, 0, far, 0, 0, 0)\n"  /* has ended */
	"    odd = [(5, far, 0, 0, 0), (far, far, 0, 0, 0), (far - 64, far, waits, 65, 0),\n"
	"           (far - 64, far, 0, 8, 0), (1, far, 0, 0, id(kept)), (0, far, 0, 0, waits),\n"
	"           (1, 99, 0, 0, 0), (1, far, 0, 0, 8)]\n"
	"    for fields in odd if word == 'odd' else odd[:1] if word == 'one' else []:\n"
	"        forge(plain, *fields)\n"
	"def wait():\n"
	"    return outer()\n"
	"def outer():\n"
	"    while True:\n"
	"        word = sys.stdin.readline().strip()\n"
	"        make(word, sys._getframe())\n"
	"        os.write(1, b'OK\\n')\n"
	"os.write(1, b'OK\\n')\n"
	"wait()\n";

struct subject {
	struct live_target target;
	struct live_binary binary;
	struct live_memory memory;
	struct memory_reader reader; /* what the runtime reads through */
	struct debug_info info;
	struct python_runtime *runtime;
	struct python_thread_list threads;
	struct unit_random random;
	uint64_t rate; /* one word in so many reads as something else; 0: none */
};

static struct subject subject;

static int subject_read(void *context, struct memory_range *ranges, size_t count)
{
	int error = live_memory_read(&subject.memory, ranges, count);

	(void)context;
	for (size_t i = 0; !error && subject.rate && i < count; i++)
		for (size_t at = 0; at + 8 <= ranges[i].size; at += 8)
			if (unit_random_next(&subject.random) % subject.rate == 0)
				((uint8_t *)ranges[i]
					 .buffer)[at + unit_random_next(&subject.random) % 8] ^=
					(uint8_t)unit_random_next(&subject.random);
	return error;
}

static void ask(const char *word)
{
	char line[16];

	fprintf(subject.target.input, "%s\n", word);
	fflush(subject.target.input);
	assert_true(live_target_line(&subject.target, line, sizeof(line)));
	assert_string_equal(line, "OK");
}

static void subject_start(const struct live_python *python)
{
	struct error error;
	char line[16];

	subject = (struct subject){ 0 };
	assert_true(live_target_start(&subject.target, python->path, script));
	assert_true(live_target_line(&subject.target, line, sizeof(line)));
	assert_true(live_binary_find(&subject.binary, subject.target.pid));
	subject.info = live_debug_info(&subject.binary);
	subject.memory.pid = subject.target.pid;
	subject.reader = (struct memory_reader){ subject_read, NULL };
	subject.runtime = python_runtime_create(&subject.info, &subject.reader, &error);
	assert_non_null(subject.runtime);
	assert_int_equal(python_thread_list_read(subject.runtime, &subject.threads), 0);
}

static void subject_end(void)
{
	python_thread_list_deinit(&subject.threads);
	python_runtime_destroy(subject.runtime);
	live_binary_close(&subject.binary);
	live_target_end(&subject.target);
}

#define SETTLE_US 10000

static struct greenlet_list read_all(const char *word)
{
	struct greenlet_list list;

	ask(word);
	/* It has answered, and goes on to wait for the next word. */
	usleep(SETTLE_US);
	assert_int_equal(greenlet_list_read(subject.runtime, &subject.threads, &list), 0);
	return list;
}

static const struct greenlet *find(const struct greenlet_list *list, bool main, bool waits)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].main == main && (list->items[i].frame_count > 0) == waits)
			return &list->items[i];
	return NULL;
}

#define FAR 0x7fff00002000

static void check_good(const struct greenlet_list *list)
{
	const struct greenlet *main = find(list, true, true), *waits = find(list, false, true);
	const struct greenlet *runs = find(list, false, false);

	assert_int_equal(list->count, 3);
	assert_true(main && waits && runs);
	assert_int_equal(waits->stack, FAR);
	assert_int_equal(main->stack, FAR - 64);
	assert_int_equal(runs->stack, FAR);
	assert_string_equal(waits->type, "Derived");
	assert_string_equal(main->type, "greenlet");
	for (size_t i = 0; i < 2; i++) {
		const struct greenlet *greenlet = i ? main : waits;

		assert_int_equal(greenlet->frame_count, 3);
		assert_string_equal(greenlet->frames[0].code->function, "outer");
		assert_string_equal(greenlet->frames[1].code->function, "wait");
		assert_string_equal(greenlet->frames[2].code->function, "<module>");
	}
}

static void each_python(void (*check)(const struct live_python *python))
{
	const struct live_pythons *pythons = live_pythons();

	for (size_t i = 0; i < pythons->count; i++) {
		print_message("3.%d.%d\n", pythons->items[i].minor, pythons->items[i].micro);
		subject_start(&pythons->items[i]);
		check(&pythons->items[i]);
		subject_end();
	}
	if (!pythons->count)
		skip();
}

static void check_fields(const struct live_python *python)
{
	static const struct {
		const char *word;
		uint32_t flags;
		bool good;
	} cases[] = {
		{ "good", 0, true },
		{ "one", GREENLETS_INCOMPLETE, true },
		{ "odd", GREENLETS_UNKNOWN, false },
		{ "larger", GREENLETS_UNKNOWN, false },
		{ "good", 0, true },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct greenlet_list list = read_all(cases[i].word);

		assert_int_equal(list.flags,
				 python->minor == 6 ? GREENLETS_UNKNOWN : cases[i].flags);
		if (cases[i].good && python->minor > 6)
			check_good(&list);
		else
			assert_int_equal(list.count, 0);
		greenlet_list_deinit(&list);
	}
}

static void test_fields(void **state)
{
	(void)state;
	each_python(check_fields);
}

static void check_limit(const struct live_python *python)
{
	static const struct {
		const char *word;
		size_t count;
	} cases[] = { { "many 4096", 4096 }, { "many 4097", 4097 } };

	if (python->minor == 6)
		return;
	for (size_t i = 0; i < 2; i++) {
		struct greenlet_list list = read_all(cases[i].word);

		assert_int_equal(list.count, GREENLETS_MAX);
		assert_int_equal(list.flags, cases[i].count > GREENLETS_MAX ? GREENLETS_CUT : 0);
		greenlet_list_deinit(&list);
	}
}

static void test_limit(void **state)
{
	(void)state;
	each_python(check_limit);
}

/* Whatever is read of the target, what comes back is well formed. */
static void check_corrupted(const struct live_python *python)
{
	size_t seen = 0;

	(void)python;
	ask("good");
	for (unsigned round = 0; round < 60; round++) {
		struct greenlet_list list;
		int error;

		subject.rate = 20ull << round % 12;
		error = greenlet_list_read(subject.runtime, &subject.threads, &list);
		subject.rate = 0;
		assert_true(error == 0 || error == -EFAULT);
		if (error)
			continue;
		assert_true(list.count <= GREENLETS_MAX);
		for (size_t i = 0; i < list.count; i++) {
			assert_true(list.items[i].frame_count <= GREENLET_FRAMES_MAX);
			assert_true(strlen(list.items[i].type) < GREENLET_TYPE_SIZE);
			for (size_t k = 0; k < list.items[i].frame_count; k++)
				assert_non_null(list.items[i].frames[k].code);
			seen++;
		}
		greenlet_list_deinit(&list);
	}
	print_message("%zu greenlets in corrupted memory\n", seen);
}

static void test_corrupted(void **state)
{
	(void)state;
	each_python(check_corrupted);
}

/*
 * A list of objects without end, as far as anybody looks: the interpreter is at
 * address 0, each object is 64 bytes on from the one before.
 */
#define GENERATIONS 640 /* in 3.10 */
#define OBJECTS     (1ull << 32)

static uint64_t endless_word(remote_addr address)
{
	if (address == GENERATIONS)
		return OBJECTS;
	if (address < OBJECTS)
		return 0;
	if (address % 64 == 0)
		return address + 64;
	return address == OBJECTS + 8 ? GENERATIONS : address % 64 == 8 ? address - 72 : 0;
}

static int endless_read(void *context, struct memory_range *ranges, size_t count)
{
	(void)context;
	for (size_t i = 0; i < count; i++) {
		for (size_t at = 0; at + 8 <= ranges[i].size; at += 8) {
			uint64_t word = endless_word(ranges[i].address + at);

			memcpy((uint8_t *)ranges[i].buffer + at, &word, sizeof(word));
		}
		ranges[i].error = 0;
	}
	return 0;
}

static int count_object(void *context, remote_addr object, remote_addr type)
{
	size_t *count = context;

	(void)type;
	assert_int_equal(object, OBJECTS + *count * 64 + 16);
	*count += 1;
	return 0;
}

static void test_endless_list(void **state)
{
	struct python_runtime *runtime = calloc(1, sizeof(*runtime));
	const struct memory_reader reader = { endless_read, NULL };
	size_t count = 0;
	const struct gc_visitor visitor = { count_object, &count };
	uint32_t flags = 0;

	(void)state;
	assert_non_null(runtime);
	runtime->layout = *python_layout_builtin(10);
	runtime->reader = &reader;
	assert_int_equal(gc_objects_visit(runtime, 0, &visitor, &flags), 0);
	assert_int_equal(flags, GC_OBJECTS_CUT);
	assert_int_equal(count, 4194304); /* as in docs/SECURITY.md */
	free(runtime);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_corrupted),
		cmocka_unit_test(test_endless_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
