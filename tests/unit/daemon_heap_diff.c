/* SPDX-License-Identifier: Apache-2.0 */
/* Files of looks at a heap: what is read of them, what is refused, and what has changed from one to
 * another. */
#include "daemon/heap/heap_comparison.h"
#include "daemon/heap/heap_diff.h"
#include "daemon/heap/heap_diff_words.h"
#include "daemon/heap/heap_diff_writers.h"
#include "daemon/heap/heap_writer.h"
#include "pyintrospect/heap/heap_nodes.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define MB          1000000ull
#define ORDER_BYTES 500ull
#define HOUR_NS     3600000000000ull
#define BEGAN_NS    (500000 * HOUR_NS)
#define HOSTILE     "<img src=x>;\"\n\x1b[2J&"

static const struct writer_options screen = { .columns = 80, .brief = true, .verdict_last = true };

/* ---- files */

static json_t *at(json_t *heap, const char *key)
{
	json_t *value = json_object_get(json_object_get(heap, "heap"), key);

	assert_non_null(value);
	return value;
}

static void set(json_t *heap, const char *part, const char *key, uint64_t value)
{
	assert_int_equal(json_object_set_new(at(heap, part), key, json_integer((json_int_t)value)),
			 0);
}

/* steps: "app.cache:dict {*}:app.Order" */
static void add_holder(json_t *heap, const char *steps, uint64_t count, uint64_t own,
		       uint64_t bytes)
{
	char *copy = strdup(steps), *saved = NULL;
	json_t *path = json_array();

	for (char *step = strtok_r(copy, " ", &saved); step; step = strtok_r(NULL, " ", &saved)) {
		char *type = strrchr(step, ':');

		*type++ = '\0';
		json_array_append_new(path, json_pack("{s:s, s:s}", "step", step, "type", type));
	}
	free(copy);
	json_array_append_new(at(heap, "holders"),
			      json_pack("{s:o, s:I, s:I, s:I, s:I}", "path", path, "count", count,
					"own_bytes", own, "bytes", bytes, "held_count", count));
}

static void add_type(json_t *heap, const char *name, uint64_t count, uint64_t bytes)
{
	json_array_append_new(at(heap, "types"),
			      json_pack("{s:s, s:i, s:I, s:I, s:i}", "type", name, "address", 4096,
					"count", count, "bytes", bytes, "storage_bytes", 0));
}

/* A process with nothing but what is in all of them. */
static json_t *empty_look(uint64_t hour)
{
	json_t *heap = json_pack(
		"{s:{s:s, s:I, s:{s:i, s:I, s:s, s:[s, s], s:n},"
		" s:{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}, s:[], s:i, s:[], s:[], s:i, s:s,"
		" s:{s:I, s:I, s:I, s:I, s:I, s:b, s:b, s:b}}}",
		"heap", "pieprofd", "0.1.0", "unix_ns", BEGAN_NS + hour * HOUR_NS, "process", "pid",
		12, "start_time", 4000ull, "python", "3.11.2", "command", "python3", "app.py",
		"container", "regions", "rss_bytes", 40 * MB, "objects_bytes", 20 * MB,
		"pool_free_bytes", 1 * MB, "malloc_held_bytes", 2 * MB, "malloc_unheld_bytes",
		1 * MB, "free_bytes", 1 * MB, "libraries_bytes", 14 * MB, "stacks_bytes", 1 * MB,
		"other_bytes", 0ull, "types", "types_omitted", 0, "arrays", "holders",
		"holders_omitted", 0, "holders_state", "known", "quality", "unheld_objects", 0ull,
		"unheld_bytes", 0ull, "unheld_reached_bytes", 0ull, "skipped_bytes", 0ull,
		"broken_heaps", 0ull, "types_cut", 0, "paths_cut", 0, "blocks_cut", 0);

	assert_non_null(heap);
	return heap;
}

/* With so many orders in a dict of the program. */
static json_t *look_with(uint64_t hour, uint64_t orders)
{
	json_t *heap = empty_look(hour);
	uint64_t bytes = orders * ORDER_BYTES;

	set(heap, "regions", "rss_bytes", 40 * MB + bytes);
	set(heap, "regions", "objects_bytes", 20 * MB + bytes);
	add_type(heap, "app.Order", orders, bytes);
	add_type(heap, "dict", 40, 9000);
	add_holder(heap, "app.cache:dict", 1, 100, 100 + bytes);
	add_holder(heap, "app.cache:dict {*}:app.Order", orders, bytes, bytes);
	return heap;
}

static struct heap_file *open_text(const char *text, size_t size, struct error *error)
{
	int fd = memfd_create("look", MFD_CLOEXEC);
	struct heap_file *file;
	char path[32];

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, size), size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	file = heap_file_open(path, error);
	close(fd);
	return file;
}

/* Takes json. */
static struct heap_file *opened(json_t *json)
{
	char *text = json_dumps(json, 0);
	struct error error = { 0 };
	struct heap_file *file;

	assert_non_null(text);
	file = open_text(text, strlen(text), &error);
	if (!file)
		fail_msg("%s", error.cause);
	free(text);
	json_decref(json);
	return file;
}

struct compared {
	struct heap_file *base, *now;
	struct heap_diff *diff;
	struct heap_words words;
};

static struct compared *compare(json_t *base, json_t *now)
{
	struct compared *compared = calloc(1, sizeof(*compared));

	assert_non_null(compared);
	compared->base = opened(base);
	compared->now = opened(now);
	compared->diff = heap_comparison_create(compared->base, compared->now);
	assert_non_null(compared->diff);
	heap_diff_words_say(compared->diff, &compared->words);
	return compared;
}

static void end(struct compared *compared)
{
	heap_diff_destroy(compared->diff);
	heap_file_close(compared->base);
	heap_file_close(compared->now);
	free(compared);
}

static char *written(const struct heap_diff *diff, heap_diff_write *write,
		     const struct writer_options *options)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	assert_non_null(file);
	assert_int_equal(write(diff, options, file), 0);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(strlen(text), size);
	return text;
}

static void assert_row(const struct heap_diff *diff, size_t row, const char *words, int64_t count,
		       int64_t bytes)
{
	char text[256];

	assert_true(row < diff->row_count);
	heap_diff_path_words(diff, diff->rows[row], text, sizeof(text));
	assert_string_equal(text, words);
	assert_int_equal(heap_diff_change(diff->paths[diff->rows[row]].count), count);
	assert_int_equal(heap_diff_change(diff->paths[diff->rows[row]].bytes), bytes);
}

/* ---- what has changed */

static void test_growth(void **state)
{
	struct compared *two = compare(look_with(0, 1000), look_with(2, 101000));

	(void)state;
	assert_int_equal(two->diff->row_count, 1);
	assert_row(two->diff, 0, "app.cache{*} (app.Order)", 100000, 100000 * ORDER_BYTES);
	assert_string_equal(two->diff->types[0].name, "app.Order");
	assert_int_equal(heap_diff_change(two->diff->types[0].count), 100000);
	assert_int_equal(two->diff->kind, HEAP_DIFF_OBJECTS);
	assert_int_equal(two->diff->process, HEAP_SAME);
	assert_string_equal(two->words.headline,
			    "50.0 MB more in Python objects than 2 h before: 100% of it hangs on "
			    "app.cache{*} (app.Order), +100000 objects");
	assert_non_null(strstr(two->words.sentences[0], "heap 12 -d 60"));
	end(two);
	/* The other way round. */
	two = compare(look_with(2, 101000), look_with(0, 1000));
	assert_row(two->diff, 0, "app.cache{*} (app.Order)", -100000,
		   -100000 * (int64_t)ORDER_BYTES);
	assert_int_equal(two->diff->kind, HEAP_DIFF_LESS);
	assert_non_null(strstr(two->words.headline, "50.0 MB less in Python objects than 2 h "
						    "later: 100% of it hung on app.cache{*}"));
	end(two);
}

static void test_nothing(void **state)
{
	struct compared *two = compare(look_with(0, 1000), look_with(1, 1100));

	(void)state;
	assert_int_equal(two->diff->kind, HEAP_DIFF_SAME);
	assert_row(two->diff, 0, "app.cache{*} (app.Order)", 100, 100 * ORDER_BYTES);
	assert_non_null(strstr(two->words.headline, "much as 60 min before"));
	assert_int_equal(two->words.sentence_count, 0);
	end(two);
	two = compare(look_with(0, 1000), look_with(0, 1000));
	assert_int_equal(two->diff->row_count, 0);
	end(two);
}

/* Of a dict with larger tables and more of both keys and values, the dict; its entries are counted.
 */
static void test_entries(void **state)
{
	json_t *base = empty_look(0), *now = empty_look(1);
	struct compared *two;

	(void)state;
	for (unsigned side = 0; side < 2; side++) {
		json_t *heap = side ? now : base;
		uint64_t count = side ? 50000 : 1000;

		add_holder(heap, "app.cache:dict", 1, 100 * count, 250 * count);
		add_holder(heap, "app.cache:dict {*}:bytes", count, 100 * count, 100 * count);
		add_holder(heap, "app.cache:dict {key}:int", count - 10, 50 * count, 50 * count);
	}
	set(now, "regions", "objects_bytes", 30 * MB);
	set(now, "regions", "rss_bytes", 50 * MB);
	two = compare(base, now);
	assert_int_equal(two->diff->row_count, 1);
	assert_row(two->diff, 0, "app.cache (dict)", 0, 49000 * 250);
	assert_int_equal(heap_diff_change(two->diff->paths[two->diff->rows[0]].entries), 49000);
	assert_non_null(strstr(two->words.headline, "app.cache (dict), +49000 objects"));
	end(two);
}

/* Of one root, a branch that grew and one that shrank as much: two rows, neither inside of another.
 */
static void test_both_ways(void **state)
{
	json_t *base = empty_look(0), *now = empty_look(1);
	struct compared *two;

	(void)state;
	add_holder(base, "app.state:app.State", 1, 0, 10 * MB);
	add_holder(base, "app.state:app.State .old:dict", 1, 0, 10 * MB);
	add_holder(base, "app.state:app.State .old:dict {*}:bytes", 10, 10 * MB, 10 * MB);
	add_holder(now, "app.state:app.State", 1, 0, 11 * MB);
	add_holder(now, "app.state:app.State .new:dict", 1, 0, 11 * MB);
	add_holder(now, "app.state:app.State .new:dict {*}:bytes", 10, 11 * MB, 11 * MB);
	two = compare(base, now);
	assert_int_equal(two->diff->row_count, 2);
	assert_row(two->diff, 0, "app.state.new{*} (bytes)", 10, 11 * MB);
	assert_false(two->diff->paths[two->diff->rows[0]].present[HEAP_BASE]);
	assert_row(two->diff, 1, "app.state.old{*} (bytes)", -10, -10 * (int64_t)MB);
	assert_false(two->diff->paths[two->diff->rows[1]].present[HEAP_NOW]);
	end(two);
}

/* Below it objects of one type each hold another: no path is counted twice. */
static void test_chain(void **state)
{
	json_t *base = empty_look(0), *now = empty_look(1);
	struct compared *two;

	(void)state;
	for (unsigned side = 0; side < 2; side++) {
		json_t *heap = side ? now : base;
		uint64_t count = side ? 2000 : 1000;

		/* Two classes of one name: as they were, not folded. */
		add_holder(heap, "app.head:app.Node", 1, 100, 100 + 300 * count);
		add_holder(heap, "app.head:app.Node .next:app.Node", count, 100 * count,
			   300 * count);
		add_holder(heap, "app.head:app.Node .next:app.Node .next:app.Node", 2 * count,
			   200 * count, 200 * count);
		add_type(heap, "app.Node", count, 100 * count);
		add_type(heap, "app.Node", 2 * count, 200 * count);
	}
	two = compare(base, now);
	assert_int_equal(two->diff->type_count, 1);
	assert_int_equal(heap_diff_change(two->diff->types[0].count), 3000);
	assert_row(two->diff, 0, "app.head.next (app.Node)", 1000, 300000);
	end(two);
}

static void test_kinds(void **state)
{
	static const struct {
		const char *part, *member;
		enum heap_diff_kind kind;
		const char *words;
	} rows[] = {
		{ "regions", "malloc_unheld_bytes", HEAP_DIFF_NATIVE, "native code" },
		{ "regions", "other_bytes", HEAP_DIFF_NATIVE, "native code" },
		{ "regions", "free_bytes", HEAP_DIFF_FREE, "in no use" },
		{ "regions", "libraries_bytes", HEAP_DIFF_FILES, "libraries" },
		{ "regions", "malloc_held_bytes", HEAP_DIFF_OBJECTS, "in Python objects" },
		{ "quality", "unheld_reached_bytes", HEAP_DIFF_GARBAGE, "no variable leads to" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		json_t *now = empty_look(1);
		struct compared *two;

		set(now, "regions", "rss_bytes", 70 * MB);
		set(now, rows[i].part, rows[i].member, 30 * MB);
		if (rows[i].kind == HEAP_DIFF_GARBAGE)
			set(now, "regions", "objects_bytes", 50 * MB);
		two = compare(empty_look(0), now);
		assert_int_equal(two->diff->kind, rows[i].kind);
		assert_non_null(strstr(two->words.headline, rows[i].words));
		end(two);
	}
}

/* What objects have left is free now: what grew is what grew. */
static void test_free_of_what_was_dropped(void **state)
{
	json_t *base = look_with(0, 1000), *now = look_with(1, 21000);
	struct compared *two;

	(void)state;
	add_type(base, "bytes", 10, 15 * MB);
	set(base, "regions", "malloc_held_bytes", 17 * MB);
	set(base, "regions", "rss_bytes", 55 * MB);
	set(now, "regions", "free_bytes", 16 * MB);
	set(now, "regions", "rss_bytes", 65 * MB);
	set(now, "regions", "objects_bytes", 38 * MB);
	two = compare(json_incref(base), json_incref(now));
	assert_int_equal(two->diff->kind, HEAP_DIFF_OBJECTS);
	assert_non_null(strstr(two->words.headline, "+10.0 MB alone on app.cache{*}"));
	end(two);
	/* As much as was dropped: in all, nothing has grown. */
	set(now, "regions", "objects_bytes", 36 * MB);
	two = compare(base, now);
	assert_int_equal(two->diff->kind, HEAP_DIFF_SAME);
	assert_null(strstr(two->words.headline, "nothing grew"));
	assert_non_null(strstr(two->words.sentences[0], "10.0 MB more on app.cache{*}"));
	end(two);
}

/* Small holders are in no file: what is in one alone need not be new. */
static void test_unlisted(void **state)
{
	json_t *base = look_with(0, 1000), *now = look_with(1, 1000);
	struct compared *two;

	(void)state;
	add_holder(now, "app.small:list", 1, 150, 150);
	add_holder(now, "app.large:list", 1, 5000, 5000);
	json_object_set_new(json_object_get(base, "heap"), "holders_omitted", json_integer(7));
	add_holder(base, "app.least:list", 1, 100, 100);
	add_holder(now, "app.least:list", 1, 100, 100);
	two = compare(base, now);
	assert_int_equal(two->base->unlisted_bytes, 100);
	assert_int_equal(two->now->unlisted_bytes, 0);
	assert_int_equal(two->diff->row_count, 1);
	assert_row(two->diff, 0, "app.large (list)", 1, 5000);
	end(two);
}

static void test_without_holders(void **state)
{
	json_t *base = look_with(0, 1000), *now = look_with(1, 101000);
	json_t *heap = json_object_get(now, "heap");
	struct compared *two;

	(void)state;
	json_object_set_new(heap, "holders", json_null());
	json_object_set_new(heap, "holders_state", json_string("unwanted"));
	/* All raw memory is held then. */
	set(now, "regions", "malloc_held_bytes", 3 * MB);
	set(now, "regions", "malloc_unheld_bytes", 0);
	two = compare(base, now);
	assert_int_equal(two->diff->row_count, 0);
	assert_int_equal(two->diff->kind, HEAP_DIFF_OBJECTS);
	assert_int_equal(heap_diff_change(two->diff->parts[HEAP_DIFF_OBJECTS]), 50 * MB);
	assert_int_equal(heap_diff_change(two->diff->parts[HEAP_DIFF_NATIVE]), 0);
	assert_non_null(strstr(two->words.headline, "most of it app.Order, +100000 objects"));
	assert_non_null(strstr(two->words.sentences[1], "one of the looks is without holders"));
	end(two);
}

static void test_processes(void **state)
{
	json_t *now = look_with(1, 1000), *old;
	struct compared *two;

	(void)state;
	set(now, "process", "start_time", 4001);
	two = compare(look_with(0, 1000), now);
	assert_int_equal(two->diff->process, HEAP_SAME_NOT);
	assert_true(two->diff->program);
	end(two);
	now = look_with(1, 1000);
	json_object_set_new(at(now, "process"), "python", json_string("3.12.0"));
	json_array_append_new(json_object_get(at(now, "process"), "command"), json_string("-x"));
	two = compare(look_with(0, 1000), now);
	assert_int_equal(two->diff->process, HEAP_SAME_NOT);
	assert_int_equal(two->words.sentence_count, 2);
	assert_non_null(strstr(two->words.sentences[0], "Python 3.11 and 3.12"));
	assert_non_null(strstr(two->words.sentences[1], "two command lines"));
	end(two);
	/* As files were before they had all that. */
	old = look_with(0, 1000);
	json_object_del(at(old, "process"), "start_time");
	json_object_del(json_object_get(old, "heap"), "unix_ns");
	json_object_del(json_object_get(old, "heap"), "holders_omitted");
	json_object_del(json_object_get(old, "heap"), "types_omitted");
	json_object_del(at(old, "quality"), "unheld_reached_bytes");
	two = compare(old, look_with(1, 1000));
	assert_int_equal(two->diff->process, HEAP_SAME_UNKNOWN);
	assert_non_null(strstr(two->words.headline, "much as before"));
	end(two);
}

/* ---- what is written */

static void test_text(void **state)
{
	json_t *base = look_with(0, 1000), *now = look_with(1, 101000);
	struct compared *two;
	char *text;
	size_t lines = 0;

	(void)state;
	for (unsigned i = 0; i < 9; i++) {
		char name[32];

		snprintf(name, sizeof(name), "app.list%u:list", i);
		add_holder(base, name, 1, MB, i < 5 ? MB : 9 * MB);
		add_holder(now, name, 1, MB, i < 5 ? 9 * MB : MB);
		snprintf(name, sizeof(name), "app.Type%u", i);
		add_type(base, name, 5, i < 5 ? MB : 9 * MB);
		add_type(now, name, 50, i < 5 ? 9 * MB : MB);
	}
	set(now, "regions", "free_bytes", 3 * MB);
	set(now, "regions", "stacks_bytes", 3 * MB);
	set(now, "regions", "libraries_bytes", 8 * MB);
	set(now, "quality", "broken_heaps", 1);
	two = compare(base, now);
	text = written(two->diff, heap_diff_write_text, &screen);
	for (const char *line = text; (line = strchr(line, '\n')); line++)
		lines++;
	if (lines > 20)
		fail_msg("%zu lines:\n%s", lines, text);
	assert_non_null(strstr(text, "+100000  app.cache{*} (app.Order)\n"));
	assert_non_null(strstr(text, "60 min later"));
	free(text);
	end(two);
}

/* Names of the target's end no string and move no cursor. */
static void test_hostile_names(void **state)
{
	json_t *now = look_with(1, 1000), *path, *json;
	struct compared *two;
	char *text;

	(void)state;
	add_type(now, HOSTILE, 1, 30 * MB);
	set(now, "regions", "rss_bytes", 70 * MB);
	set(now, "regions", "objects_bytes", 50 * MB);
	add_holder(now, "x:x", 1, 30 * MB, 30 * MB);
	path = json_object_get(json_array_get(at(now, "holders"), 2), "path");
	json_object_set_new(json_array_get(path, 0), "step", json_string(HOSTILE));
	json_object_set_new(json_array_get(path, 0), "type", json_string(HOSTILE));
	json_array_append_new(json_object_get(at(now, "process"), "command"), json_string(HOSTILE));
	two = compare(look_with(0, 1000), now);
	text = written(two->diff, heap_diff_write_text, &screen);
	assert_null(strchr(text, '\x1b'));
	assert_non_null(strstr(text, "\\u001b[2J"));
	free(text);
	text = written(two->diff, heap_diff_write_json, &screen);
	json = json_loads(text, 0, NULL);
	assert_non_null(json);
	path = json_object_get(json_object_get(json, "heap_diff"), "verdict");
	path = json_array_get(json_object_get(path, "path"), 0);
	assert_string_equal(json_string_value(json_object_get(path, "step")), HOSTILE);
	free(text);
	json_decref(json);
	end(two);
}

/* ---- refusals */

static void assert_refused(json_t *json, enum exit_code code, const char *words)
{
	char *text = json_dumps(json, 0);
	struct error error = { 0 };
	struct heap_file *file = open_text(text, strlen(text), &error);

	if (file || !strstr(error.cause, words))
		fail_msg("'%s' was to be refused by '%s', and is: %s", text, words,
			 file ? "read" : error.cause);
	assert_int_equal(error.exit_code, code);
	assert_true(error.cure[0]);
	free(text);
	json_decref(json);
}

static void test_wrong_values(void **state)
{
	static const struct {
		const char *part; /* NULL: of the look */
		const char *member, *value;
		const char *words;
	} rows[] = {
		{ "process", "pid", "-1", "pid of process" },
		{ "process", "pid", "4294967296", "pid of process" },
		{ "process", "pid", "\"1\"", "pid of process" },
		{ "process", "python", "\"three\"", "python of process" },
		{ "process", "python", "7", "python of process" },
		{ "process", "command", "{}", "command of process" },
		{ "process", "start_time", "-5", "start_time of process" },
		{ NULL, "unix_ns", "1.5", "unix_ns of heap" },
		{ NULL, "process", "[]", "pid of process" },
		{ NULL, "regions", "null", "rss_bytes of regions" },
		{ "regions", "free_bytes", "9223372036854775807", "free_bytes of regions" },
		{ "regions", "free_bytes", "1e300", "free_bytes of regions" },
		{ NULL, "types", "null", "no list of types" },
		{ NULL, "types", "[[]]", "type of types[0]" },
		{ NULL, "types", "[{\"type\": \"x\", \"count\": 1}]", "bytes of types[0]" },
		{ NULL, "arrays", "7", "no list of arrays" },
		{ NULL, "holders", "true", "no list of holders" },
		{ NULL, "holders", "[7]", "path of holders[0]" },
		{ NULL, "holders",
		  "[{\"path\": [7], \"count\": 1, \"own_bytes\": 1, \"bytes\": 1, "
		  "\"held_count\": 1}]",
		  "step of holders[0]" },
		{ NULL, "holders",
		  "[{\"path\": [{\"step\": \"a\", \"type\": \"\"}], \"count\": 1, \"own_bytes\": "
		  "2, \"bytes\": 1, \"held_count\": 1}]",
		  "more than it leads to" },
		{ NULL, "holders",
		  "[{\"path\": [{\"step\": \"a\", \"type\": \"\"}, {\"step\": \"b\", \"type\": "
		  "\"\"}], \"count\": 1, \"own_bytes\": 1, \"bytes\": 1, \"held_count\": 1}]",
		  "more than they hold" },
		{ NULL, "quality", "{}", "unheld_objects of quality" },
		{ "quality", "unheld_reached_bytes", "-1", "unheld_reached_bytes of quality" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		json_t *heap = look_with(0, 10);
		json_t *part =
			rows[i].part ? at(heap, rows[i].part) : json_object_get(heap, "heap");
		json_t *value = json_loads(rows[i].value, JSON_DECODE_ANY, NULL);

		assert_non_null(value);
		assert_int_equal(json_object_set_new(part, rows[i].member, value), 0);
		assert_refused(heap, EXIT_INTERNAL, rows[i].words);
	}
}

/* More than a look has, and longer names. */
static void test_bounds(void **state)
{
	json_t *heap = look_with(0, 10), *path;
	char name[4096];

	(void)state;
	for (size_t i = 0; i < HEAP_FILE_TYPES_MAX; i++)
		json_array_append_new(at(heap, "types"), json_null());
	assert_refused(heap, EXIT_INTERNAL, "more than a look has");
	heap = look_with(0, 10);
	for (size_t i = 0; i < HEAP_FILE_HOLDERS_MAX; i++)
		json_array_append_new(at(heap, "holders"), json_null());
	assert_refused(heap, EXIT_INTERNAL, "more than a look has");
	heap = look_with(0, 10);
	path = json_object_get(json_array_get(at(heap, "holders"), 0), "path");
	while (json_array_size(path) <= HEAP_HOLDER_STEPS_MAX)
		json_array_append_new(path, json_pack("{s:s, s:s}", "step", ".", "type", "x"));
	assert_refused(heap, EXIT_INTERNAL, "path of holders[0]");
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	heap = look_with(0, 10);
	add_type(heap, name, 1, 1);
	assert_refused(heap, EXIT_INTERNAL, "is no name");
}

static void assert_text_refused(const char *text, size_t size, enum exit_code code,
				const char *words)
{
	struct error error = { 0 };
	struct heap_file *file = open_text(text, size, &error);

	assert_null(file);
	if (!strstr(error.cause, words) || error.exit_code != code)
		fail_msg("exit code %d and '%s', not %d and '%s'", error.exit_code, error.cause,
			 code, words);
}

static void test_other_files(void **state)
{
	static const struct {
		const char *text;
		enum exit_code code;
		const char *words;
	} rows[] = {
		{ "", EXIT_USAGE, "it is empty" },
		{ "hello", EXIT_USAGE, "it is no JSON" },
		{ "{7 }", EXIT_USAGE, "it is no JSON" },
		{ "[]", EXIT_USAGE, "it is other JSON" },
		{ "{\"heap\": 7}", EXIT_USAGE, "it is other JSON" },
		{ "{\"heap_diff\": {}}", EXIT_USAGE, "the difference of two" },
		{ "{\"duration_ns\": 1}", EXIT_USAGE, "where time went" },
		{ "\x89PIEPRO\n", EXIT_USAGE, "pieprofd report compares" },
		{ "{\"heap\": {\"a\": 99999999999999999999}}", EXIT_INTERNAL, "in line 1" },
		{ "{\"heap\": {}, \"heap\": {}}", EXIT_INTERNAL, "in line 1" },
		{ "{\"heap\": {}}", EXIT_INTERNAL, "pid of process" },
	};
	char deep[8192];
	struct error error = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_text_refused(rows[i].text, strlen(rows[i].text), rows[i].code,
				    rows[i].words);
	memset(deep, '[', sizeof(deep));
	assert_text_refused(deep, sizeof(deep), EXIT_USAGE, "it is no JSON");
	assert_null(heap_file_open("/nonexistent", &error));
	assert_int_equal(error.exit_code, EXIT_USAGE);
	assert_non_null(strstr(error.cause, "cannot be opened: No such file"));
	assert_null(heap_file_open("/", &error));
	assert_non_null(strstr(error.cause, "no regular file"));
}

/* Wherever it is cut off. */
static void test_truncated(void **state)
{
	json_t *heap = look_with(0, 10);
	char *text = json_dumps(heap, 0);

	(void)state;
	for (size_t size = 1; size < strlen(text); size++)
		assert_text_refused(text, size, EXIT_INTERNAL, "cut off after");
	free(text);
	json_decref(heap);
}

/* ---- a look of ours */

/* app.cache (dict) 100 + {*} (Order) 5000; a name that is no UTF-8. */
static struct heap_look *make_look(void)
{
	struct heap_look *look = calloc(1, sizeof(*look));
	struct heap_snapshot *snapshot = &look->snapshot;
	struct heap_paths *paths = &snapshot->paths;
	uint32_t cache, order;

	*look = (struct heap_look){ .pid = 12, .unix_ns = BEGAN_NS, .start_time = 9 };
	look->python = (struct python_version){ .major = 3, .minor = 11, .micro = 2 };
	assert_int_equal(heap_paths_init(paths), 0);
	snapshot->type_names = calloc(HEAP_NODE_FIRST_TYPE + 2, sizeof(*snapshot->type_names));
	snapshot->types = calloc(1, sizeof(*snapshot->types));
	assert_true(snapshot->type_names && snapshot->types);
	snapshot->type_name_count = HEAP_NODE_FIRST_TYPE + 2;
	strcpy(snapshot->type_names[HEAP_NODE_FIRST_TYPE], "dict");
	strcpy(snapshot->type_names[HEAP_NODE_FIRST_TYPE + 1], "app.Order\xff");
	snapshot->types[snapshot->type_count++] =
		(struct heap_type_count){ .name = "app.Order\xff", .count = 50, .bytes = 5000 };
	cache = heap_paths_child(paths, 0, heap_paths_string(paths, "app.cache"),
				 HEAP_NODE_FIRST_TYPE);
	order = heap_paths_child(paths, cache, heap_paths_string(paths, "{*}"),
				 HEAP_NODE_FIRST_TYPE + 1);
	paths->items[cache] = (struct heap_path){ .step = paths->items[cache].step,
						  .type = HEAP_NODE_FIRST_TYPE,
						  .count = 1,
						  .bytes = 100 };
	paths->items[order].count = 50;
	paths->items[order].bytes = 5000;
	snapshot->held_bytes = calloc(paths->count, sizeof(uint64_t));
	snapshot->held_counts = calloc(paths->count, sizeof(uint64_t));
	assert_true(snapshot->held_bytes && snapshot->held_counts);
	snapshot->held_bytes[order] = 5000;
	snapshot->held_bytes[cache] = 5100;
	snapshot->held_counts[order] = 50;
	snapshot->held_counts[cache] = 51;
	snapshot->quality.unheld_reached_bytes = 77;
	return look;
}

/* What a file of it would be, and what a live one is compared as, are the same. */
static void test_own_look(void **state)
{
	struct heap_look *look = make_look();
	struct heap_file *live, *file;
	struct heap_diff *diff;
	struct error error = { 0 };
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	(void)state;
	assert_int_equal(heap_write_json(look, stream), 0);
	assert_int_equal(fclose(stream), 0);
	file = open_text(text, size, &error);
	assert_non_null(file);
	live = heap_file_of(look, &error);
	assert_non_null(live);
	assert_int_equal(file->look.start_time, 9);
	assert_int_equal(file->look.snapshot.quality.unheld_reached_bytes, 77);
	diff = heap_comparison_create(file, live);
	assert_non_null(diff);
	assert_int_equal(diff->process, HEAP_SAME);
	assert_int_equal(diff->path_count, 3);
	assert_int_equal(diff->row_count, 0);
	assert_int_equal(diff->type_count, 1);
	for (size_t i = 1; i < diff->path_count; i++) {
		assert_true(diff->paths[i].present[HEAP_BASE] && diff->paths[i].present[HEAP_NOW]);
		assert_int_equal(diff->paths[i].count[HEAP_NOW], i == 1 ? 1 : 50);
		assert_int_equal(diff->paths[i].held_count[HEAP_BASE], i == 1 ? 51 : 50);
		assert_int_equal(diff->paths[i].own_bytes[HEAP_BASE], i == 1 ? 100 : 5000);
	}
	heap_diff_destroy(diff);
	heap_file_close(file);
	heap_file_close(live);
	free(text);
	heap_look_destroy(look);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_growth),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_entries),
		cmocka_unit_test(test_both_ways),
		cmocka_unit_test(test_chain),
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_free_of_what_was_dropped),
		cmocka_unit_test(test_unlisted),
		cmocka_unit_test(test_without_holders),
		cmocka_unit_test(test_processes),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_hostile_names),
		cmocka_unit_test(test_wrong_values),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_other_files),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_own_look),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
