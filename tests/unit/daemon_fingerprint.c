/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Contents of live objects (fingerprint_cases.py), on every interpreter found,
 * with numpy where it is installed; and of memory that holds anything.
 */
#include "daemon/contents/fingerprint.h"

#include "daemon/contents/fingerprint_internal.h"
#include "tests/unit/support_live.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* Rounds that the deepest contents take: head, type, name, and three a level. */
#define ROUNDS_MAX 32
/* As in docs/SECURITY.md. */
#define OBJECTS 289
#define TYPES   1024

static const char *const kinds[] = {
	[CONTENT_UNREADABLE] = "unreadable",
	[CONTENT_NONE] = "none",
	[CONTENT_BOOL] = "bool",
	[CONTENT_INT] = "int",
	[CONTENT_FLOAT] = "float",
	[CONTENT_COMPLEX] = "complex",
	[CONTENT_STR] = "str",
	[CONTENT_BYTES] = "bytes",
	[CONTENT_BYTEARRAY] = "bytearray",
	[CONTENT_TUPLE] = "tuple",
	[CONTENT_LIST] = "list",
	[CONTENT_DICT] = "dict",
	[CONTENT_SLICE] = "slice",
	[CONTENT_RANGE] = "range",
	[CONTENT_ARRAY] = "array",
	[CONTENT_SCALAR] = "scalar",
	[CONTENT_CALLABLE] = "callable",
	[CONTENT_FUNCTION] = "function",
	[CONTENT_METHOD] = "method",
	[CONTENT_CONSTANT] = "constant",
	[CONTENT_VALUE] = "value",
	[CONTENT_SET] = "set",
	[CONTENT_FROZENSET] = "frozenset",
	[CONTENT_DEQUE] = "deque",
	[CONTENT_BUFFER] = "buffer",
	[CONTENT_OBJECT] = "object",
	[CONTENT_TENSOR] = "tensor",
	[CONTENT_ITERATOR] = "iterator",
	[CONTENT_GENERATOR] = "generator",
	[CONTENT_CELL] = "cell",
	[CONTENT_ATTRIBUTES] = "attributes",
	[CONTENT_LOOP] = "loop",
	[CONTENT_OTHER] = "other",
};

struct session {
	struct live_target target;
	struct live_memory memory;
	struct memory_reader reader;
	struct fingerprints *set;
	int minor;
	bool corrupt, call_begins;
	unsigned wrong, alike, others, figures;
	size_t most_bytes, most_rounds;
	char packages[128];
};

/* Words become numbers, small and large, and addresses that were read. */
static void corrupt(struct memory_range *ranges, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint8_t *bytes = ranges[i].buffer;

		if (rand() % 50 == 0)
			ranges[i].error = -EFAULT;
		for (size_t at = 0; at + 8 <= ranges[i].size; at += 8) {
			const uint64_t words[] = { 0,
						   1,
						   (uint64_t)rand(),
						   UINT64_MAX,
						   INT64_MAX,
						   1ull << 43,
						   ranges[rand() % (int)count].address };

			if (rand() % 20 == 0)
				memcpy(bytes + at, &words[rand() % 7], 8);
		}
	}
}

static void run(struct session *session, const remote_addr *objects, size_t count, bool again)
{
	struct memory_range *ranges;
	size_t asked, rounds = 0, bytes = 0;

	fingerprints_begin(session->set, objects, count, session->call_begins);
	while ((asked = fingerprints_round(session->set, &ranges))) {
		assert_true(++rounds <= ROUNDS_MAX);
		for (size_t i = 0; i < asked; i++)
			bytes += ranges[i].size;
		assert_int_equal(memory_read_ranges(&session->reader, ranges, asked), 0);
		if (session->corrupt)
			corrupt(ranges, asked);
	}
	if (again && rounds > session->most_rounds)
		session->most_rounds = rounds;
	if (bytes > session->most_bytes)
		session->most_bytes = bytes;
	/* Of one object no more than the budget, and types. */
	assert_true(bytes <= 3 * FINGERPRINT_BYTES_MAX);
}

static struct fingerprint one(struct session *session, remote_addr object)
{
	/* Types are learned first, which may take more rounds than there are in a stop. */
	run(session, &object, 1, false);
	run(session, &object, 1, true);
	return fingerprints_get(session->set, 0);
}

static size_t parse_ids(const char *text, remote_addr *objects)
{
	size_t count = 0;
	int used;

	while (count < FINGERPRINT_OBJECTS_MAX &&
	       sscanf(text, "%lu%n", &objects[count], &used) == 1) {
		text += used;
		count++;
	}
	return count;
}

static void check_alike(struct session *session, const char *line)
{
	char kind[32], shape[64];
	remote_addr objects[FINGERPRINT_OBJECTS_MAX];
	struct fingerprint a = { 0 }, b = { 0 };
	unsigned whole, opaque;
	int used;

	assert_int_equal(
		sscanf(line, "ALIKE %31s %63s %u %u%n", kind, shape, &whole, &opaque, &used), 4);
	assert_int_equal(parse_ids(line + used, objects), 2);
	a = one(session, objects[0]);
	b = one(session, objects[1]);
	session->alike++;
	for (char *at = shape; (at = strchr(at, '~'));)
		*at = ' ';
	if (session->corrupt)
		return;
	if (a.content != b.content || strcmp(kinds[a.kind], kind) != 0 ||
	    (strcmp(a.shape, shape) != 0 && strcmp(shape, "*") != 0) || a.whole != whole ||
	    a.opaque != opaque) {
		session->wrong++;
		print_error("3.%d %s: %s %s, whole %d, opaque %d, %lx and %lx\n", session->minor,
			    line, kinds[a.kind], a.shape, a.whole, a.opaque, a.content, b.content);
	}
}

static void check_others(struct session *session, const char *line)
{
	remote_addr objects[FINGERPRINT_OBJECTS_MAX];
	uint64_t contents[FINGERPRINT_OBJECTS_MAX];
	size_t count = parse_ids(line + strlen("OTHER"), objects);

	assert_true(count > 1);
	for (size_t i = 0; i < count; i++) {
		contents[i] = one(session, objects[i]).content;
		for (size_t k = 0; k < i && !session->corrupt; k++) {
			session->others++;
			if (contents[i] != contents[k])
				continue;
			session->wrong++;
			print_error("3.%d %s: %zu and %zu are the same\n", session->minor, line, k,
				    i);
		}
	}
	/* All at once: the budget is shared, and no two may become alike by that. */
	run(session, objects, count, false);
	for (size_t i = 0; i < count && !session->corrupt; i++)
		for (size_t k = 0; k < i; k++)
			if (fingerprints_get(session->set, i).content ==
			    fingerprints_get(session->set, k).content) {
				session->wrong++;
				print_error("3.%d %s: %zu and %zu are the same together\n",
					    session->minor, line, k, i);
			}
}

/* ONLY same keyed a b name...: by these attributes alone. */
static bool check_only(struct session *session, const char *line)
{
	remote_addr ids[FINGERPRINT_OBJECTS_MAX];
	uint64_t contents[2];
	unsigned same, keyed;
	bool found_keyed = true;
	size_t count;
	int used;

	if (sscanf(line, "ONLY %u %u%n", &same, &keyed, &used) != 2)
		return false;
	count = parse_ids(line + used, ids);
	assert_true(count > 2);
	for (size_t i = 0; i < 2; i++) {
		struct fingerprint print;
		struct memory_range *ranges;
		size_t asked;

		(void)one(session, ids[i]);
		fingerprints_begin(session->set, &ids[i], 1, false);
		fingerprints_only(session->set, 0, ids + 2, count - 2);
		while ((asked = fingerprints_round(session->set, &ranges)))
			assert_int_equal(memory_read_ranges(&session->reader, ranges, asked), 0);
		print = fingerprints_get(session->set, 0);
		contents[i] = print.content;
		found_keyed &= print.keyed;
	}
	session->figures++;
	if (session->corrupt || ((contents[0] == contents[1]) == same && found_keyed == keyed))
		return true;
	session->wrong++;
	print_error("3.%d %s: it is not so, keyed %d\n", session->minor, line, found_keyed);
	return true;
}

/* SKETCH least most a b: bits that both have. SIZE n id. SPREAD is id other. LARGEST n id. PART
 * offset part whole. */
static void check_figures(struct session *session, const char *line)
{
	unsigned least, most;
	unsigned long first, second, wanted;
	struct fingerprint a = { 0 }, b = { 0 };
	bool right = true;

	if (sscanf(line, "SKETCH %u %u %lu %lu", &least, &most, &first, &second) == 4) {
		int shared;

		a = one(session, first);
		b = one(session, second);
		shared = __builtin_popcountll(a.sketch & b.sketch);
		right = shared >= (int)least && shared <= (int)most;
	} else if (sscanf(line, "SIZE %lu %lu", &wanted, &first) == 2) {
		right = one(session, first).size == wanted;
	} else if (sscanf(line, "SPREAD %lu %lu %lu", &wanted, &first, &second) == 3) {
		const remote_addr both[] = { second, first };

		a = one(session, first);
		run(session, both, 2, false);
		b = fingerprints_get(session->set, 1);
		/* Whatever there is beside it. */
		right = a.spread == wanted && a.content == b.content && b.spread == wanted;
	} else if (sscanf(line, "LARGEST %lu %lu", &wanted, &first) == 2) {
		right = one(session, first).largest_item == wanted;
	} else if (sscanf(line, "PART %lu %lu %lu", &wanted, &first, &second) == 3) {
		uint64_t data;

		a = one(session, first);
		assert_int_equal(memory_read_u64(&session->reader, second + 16, &data), 0);
		right = a.part == data + wanted && !one(session, second).part;
	} else {
		return;
	}
	session->figures++;
	if (right || session->corrupt)
		return;
	session->wrong++;
	print_error(
		"3.%d %s: it is not so of %s, but sketches %lx and %lx, spread %d and %d, contents "
		"%lx and %lx\n",
		session->minor, line, a.shape, a.sketch, b.sketch, a.spread, b.spread, a.content,
		b.content);
}

static void check_python(struct session *session, const struct live_python *python, bool corrupted)
{
	FILE *file =
		fopen("tests/unit/fingerprint_cases.py", "r"); /* run in the repository's root */
	char *script = NULL, *line = NULL;
	size_t size = 0;

	memset(session, 0, sizeof(*session));
	assert_non_null(file);
	assert_true(getdelim(&script, &size, '\0', file) > 0);
	fclose(file);
	session->minor = python->minor;
	session->corrupt = corrupted;
	session->set = fingerprints_create(python->minor);
	assert_non_null(session->set);
	assert_true(live_target_start(&session->target, python->path, script));
	free(script);
	session->memory.pid = session->target.pid;
	session->reader = (struct memory_reader){ live_memory_read, &session->memory };
	size = 0;
	while (getline(&line, &size, session->target.output) > 0 && strcmp(line, "READY\n") != 0) {
		line[strcspn(line, "\n")] = '\0';
		session->call_begins = !strncmp(line, "BEGIN-", 6);
		for (unsigned i = 0; i < (corrupted ? 20 : 1); i++) {
			const char *text = line + 6 * session->call_begins;

			if (!strncmp(text, "ALIKE", 5))
				check_alike(session, text);
			else if (!strncmp(text, "OTHER", 5))
				check_others(session, text);
			else if (!check_only(session, text))
				check_figures(session, text);
		}
		if (!strncmp(line, "WITH", 4))
			snprintf(session->packages + strlen(session->packages),
				 sizeof(session->packages) - strlen(session->packages), "%s%s",
				 session->packages[0] ? ", " : " with ", line + 5);
		if (corrupted && rand() % 8 == 0) {
			/* Types that were read wrong are kept. */
			fingerprints_destroy(session->set);
			session->set = fingerprints_create(python->minor);
			assert_non_null(session->set);
		}
	}
	assert_non_null(line);
	assert_string_equal(line, "READY\n");
	free(line);
	fingerprints_destroy(session->set);
	live_target_end(&session->target);
}

static void test_contents(void **state)
{
	const struct live_pythons *pythons = live_pythons();
	static struct session session;
	unsigned wrong = 0;

	(void)state;
	for (size_t i = 0; i < pythons->count; i++) {
		check_python(&session, &pythons->items[i], false);
		print_message("3.%d.%d%s: %u alike, %u different, at most %zu bytes, %zu rounds\n",
			      pythons->items[i].minor, pythons->items[i].micro, session.packages,
			      session.alike, session.others, session.most_bytes,
			      session.most_rounds);
		assert_true(session.alike > 90 && session.others > 600 && session.figures >= 12);
		wrong += session.wrong;
	}
	assert_int_equal(wrong, 0);
	if (!pythons->count)
		skip();
}

static void test_corrupted(void **state)
{
	const struct live_pythons *pythons = live_pythons();
	static struct session session;

	(void)state;
	srand(5);
	for (size_t i = 0; i < pythons->count; i++)
		check_python(&session, &pythons->items[i], true);
	if (!pythons->count)
		skip();
}

/* Of an object's parts, and of types, so many are looked at. */
static void test_objects_and_types(void **state)
{
	static const remote_addr object = 0x10000, parts = 0x100000;
	struct fingerprints *set = fingerprints_create(11);
	size_t count = 1;

	(void)state;
	assert_non_null(set);
	fingerprints_begin(set, &object, 1, false);
	while (content_child(set, &set->nodes[0], parts + 16 * count))
		count++;
	assert_int_equal(count, OBJECTS);
	assert_true(set->nodes[0].partial);
	for (size_t i = set->type_count; i < TYPES; i++)
		assert_int_equal(content_type_find(set, parts + 0x1000 * i, 0), i + 1);
	assert_int_equal(content_type_find(set, parts + 0x1000 * TYPES, 0), 0);
	assert_int_equal(content_type_find(set, parts + 0x1000 * (TYPES - 1), 0), TYPES);
	fingerprints_destroy(set);
}

static void test_no_objects(void **state)
{
	const remote_addr objects[] = { 0, 1, 8, 4095, UINT64_MAX, 1ull << 47, 4096 };
	const size_t count = sizeof(objects) / sizeof(objects[0]);
	struct fingerprints *set = fingerprints_create(11);
	struct memory_range *ranges;

	(void)state;
	assert_non_null(set);
	fingerprints_begin(set, objects, count, false);
	/* Only the last can be an address; nothing can be read there. */
	assert_int_equal(fingerprints_round(set, &ranges), 2);
	ranges[0].error = ranges[1].error = -EFAULT;
	assert_int_equal(fingerprints_round(set, &ranges), 0);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(fingerprints_get(set, i).kind, CONTENT_UNREADABLE);
	fingerprints_begin(set, NULL, 0, false);
	assert_int_equal(fingerprints_round(set, &ranges), 0);
	fingerprints_destroy(set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_objects),
		cmocka_unit_test(test_objects_and_types),
		cmocka_unit_test(test_contents),
		cmocka_unit_test(test_corrupted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
