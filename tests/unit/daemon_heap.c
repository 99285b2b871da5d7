/* SPDX-License-Identifier: Apache-2.0 */
/* What is made of a look at a heap: rows of holders, the tree of frames, and files of each format.
 */
#include "daemon/heap/heap_formats.h"
#include "daemon/heap/heap_holder.h"
#include "daemon/heap/heap_tree.h"
#include "daemon/report/html/html.h"
#include "pyintrospect/heap/heap_nodes.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* Numbers of types: of a path without one, and those that there are. */
#define NO_TYPE 0
#define DICT    HEAP_NODE_FIRST_TYPE
#define ORDER   (HEAP_NODE_FIRST_TYPE + 1)
#define STR     (HEAP_NODE_FIRST_TYPE + 2)
#define TYPES   (HEAP_NODE_FIRST_TYPE + 3)

/* What means something in a page, in JSON, in stacks and on a terminal. */
#define HOSTILE "<img src=x>;\"\n\x1b[2J&\xff"

static const struct writer_options defaults;

/* ---- a look */

static uint32_t add_path(struct heap_look *look, uint32_t parent, const char *step, uint16_t type,
			 uint64_t count, uint64_t bytes)
{
	struct heap_paths *paths = &look->snapshot.paths;
	uint32_t path = heap_paths_child(paths, parent, heap_paths_string(paths, step), type);

	paths->items[path].count += count;
	paths->items[path].bytes += bytes;
	return path;
}

static void hold(struct heap_snapshot *snapshot)
{
	snapshot->held_bytes = calloc(snapshot->paths.count, sizeof(*snapshot->held_bytes));
	snapshot->held_counts = calloc(snapshot->paths.count, sizeof(*snapshot->held_counts));
	assert_true(snapshot->held_bytes && snapshot->held_counts);
	for (size_t i = snapshot->paths.count; i-- > 1;) {
		const struct heap_path *path = &snapshot->paths.items[i];

		snapshot->held_bytes[i] += path->bytes;
		snapshot->held_counts[i] += path->count;
		snapshot->held_bytes[path->parent] += snapshot->held_bytes[i];
		snapshot->held_counts[path->parent] += snapshot->held_counts[i];
	}
}

static struct heap_look *begin_look(void)
{
	static const char *const names[] = {
		[DICT] = "dict", [ORDER] = "app.Order", [STR] = HOSTILE
	};
	struct heap_look *look = calloc(1, sizeof(*look));

	assert_non_null(look);
	look->pid = 1234;
	look->python = (struct python_version){ .major = 3, .minor = 11, .micro = 2 };
	assert_int_equal(heap_paths_init(&look->snapshot.paths), 0);
	look->snapshot.type_names = calloc(TYPES, sizeof(*look->snapshot.type_names));
	look->snapshot.types = calloc(TYPES, sizeof(*look->snapshot.types));
	assert_true(look->snapshot.type_names && look->snapshot.types);
	look->snapshot.type_name_count = TYPES;
	for (size_t i = HEAP_NODE_FIRST_TYPE; i < TYPES; i++) {
		struct heap_type_count *type = &look->snapshot.types[look->snapshot.type_count];

		snprintf(look->snapshot.type_names[i], HEAP_NAME_BYTES, "%s", names[i]);
		snprintf(type->name, HEAP_NAME_BYTES, "%s", names[i]);
		*type = (struct heap_type_count){ .count = 100 * (TYPES - i),
						  .bytes = 1000 * (TYPES - i),
						  .storage_bytes = 10 };
		snprintf(type->name, HEAP_NAME_BYTES, "%s", names[i]);
		look->snapshot.type_count++;
	}
	look->snapshot.regions = (struct heap_regions){ .rss_bytes = 10000,
							.objects_bytes = 7000,
							.libraries_bytes = 3000 };
	return look;
}

/*
 * app.cache (dict) 100 + {*} (Order) 5000 + .name (str) 900
 * sys.modules (dict) 50 + {*} 20, + {key} 10
 */
static struct heap_look *make_look(void)
{
	struct heap_look *look = begin_look();
	uint32_t modules = add_path(look, 0, "sys.modules", DICT, 1, 50);
	uint32_t cache = add_path(look, 0, "app.cache", DICT, 1, 100), order;

	add_path(look, modules, "{*}", DICT, 2, 20);
	add_path(look, modules, "{key}", STR, 1, 10);
	order = add_path(look, cache, "{*}", ORDER, 50, 5000);
	add_path(look, order, ".name", STR, 50, 900);
	hold(&look->snapshot);
	return look;
}

static char *written(const struct heap_look *look, const struct writer *writer, size_t *ret_size)
{
	char *text = NULL;
	FILE *file = open_memstream(&text, ret_size);

	assert_non_null(file);
	assert_non_null(heap_write_of(writer));
	assert_int_equal(heap_write_of(writer)(look, &defaults, file), 0);
	assert_int_equal(fclose(file), 0);
	return text;
}

/* ---- holders */

/* Each as far from its root as most of it goes one way; none inside of another. */
static void test_holders(void **state)
{
	struct heap_look *look = make_look();
	struct heap_holder *holders;
	char words[64];
	size_t count;

	(void)state;
	assert_int_equal(heap_holders_choose(&look->snapshot, 10, &holders, &count), 0);
	assert_int_equal(count, 2);
	heap_holder_words(&look->snapshot, holders[0].path, words, sizeof(words));
	assert_string_equal(words, "app.cache{*}");
	assert_int_equal(holders[0].bytes, 5900);
	assert_int_equal(holders[0].count, 50);
	assert_string_equal(heap_holder_type(&look->snapshot, holders[0].path), "app.Order");
	heap_holder_words(&look->snapshot, holders[1].path, words, sizeof(words));
	assert_string_equal(words, "sys.modules");
	free(holders);

	assert_int_equal(heap_holders_choose(&look->snapshot, 1, &holders, &count), 0);
	assert_int_equal(count, 1);
	free(holders);
	assert_int_equal(heap_holders_all(&look->snapshot, 100, &holders, &count), 0);
	assert_int_equal(count, 6);
	assert_int_equal(holders[0].bytes, 6000);
	free(holders);
	heap_look_destroy(look);
}

/* ---- the tree */

static void check_node(const struct heap_tree *tree, size_t node, uint32_t depth, const char *words,
		       uint64_t bytes)
{
	char frame[HEAP_FRAME_BYTES];

	assert_int_equal(tree->nodes[node].depth, depth);
	heap_frame_words(&tree->frames[tree->nodes[node].frame], frame);
	assert_string_equal(frame, words);
	assert_int_equal(tree->nodes[node].bytes, bytes);
}

static uint64_t bytes_of(const struct heap_tree *tree)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < tree->node_count; i++)
		sum += tree->nodes[i].bytes;
	return sum;
}

/* In preorder, of each the child that holds most first. */
static void test_tree(void **state)
{
	struct heap_look *look = make_look();
	struct heap_tree tree;

	(void)state;
	assert_int_equal(heap_tree_init(&tree, &look->snapshot, 100), 0);
	assert_int_equal(tree.node_count, 6);
	check_node(&tree, 0, 0, "app.cache (dict)", 100);
	check_node(&tree, 1, 1, "{*} (app.Order)", 5000);
	check_node(&tree, 2, 2, ".name (" HOSTILE ")", 900);
	check_node(&tree, 3, 0, "sys.modules (dict)", 50);
	check_node(&tree, 4, 1, "{*} (dict)", 20);
	check_node(&tree, 5, 1, "{key} (" HOSTILE ")", 10);
	assert_int_equal(tree.nodes[0].held_bytes, 6000);
	assert_int_equal(tree.nodes[1].count, 50);
	assert_int_equal(tree.folded, 0);
	heap_tree_deinit(&tree);

	/* With less room, what holds least is part of its parents, or of one for all roots, and
	 * nothing gets lost. */
	for (size_t limit = 1; limit <= 6; limit++) {
		assert_int_equal(heap_tree_init(&tree, &look->snapshot, limit), 0);
		assert_true(tree.node_count <= limit + 1);
		assert_int_equal(bytes_of(&tree), 6080);
		assert_int_equal(tree.folded, 6 - tree.node_count + (limit < 4));
		if (limit < 4)
			check_node(&tree, limit, 0, "[smaller holders]", 80);
		heap_tree_deinit(&tree);
	}
	heap_look_destroy(look);
}

/* A chain that is deeper than stacks may be. */
static void test_deep_tree(void **state)
{
	struct heap_look *look = begin_look();
	struct heap_tree tree;
	uint32_t path = 0;
	char step[16];

	(void)state;
	for (unsigned i = 0; i < 3 * HEAP_TREE_DEPTH_MAX; i++) {
		snprintf(step, sizeof(step), ".step_%u", i);
		path = add_path(look, path, step, DICT, 1, 10);
	}
	add_path(look, 0, "app.other", DICT, 1, 1);
	hold(&look->snapshot);
	assert_int_equal(heap_tree_init(&tree, &look->snapshot, 1000), 0);
	assert_int_equal(tree.node_count, HEAP_TREE_DEPTH_MAX + 1);
	assert_int_equal(tree.folded, 2 * HEAP_TREE_DEPTH_MAX);
	assert_int_equal(tree.nodes[HEAP_TREE_DEPTH_MAX - 1].bytes,
			 10 * (2 * HEAP_TREE_DEPTH_MAX + 1));
	assert_int_equal(bytes_of(&tree), 30 * HEAP_TREE_DEPTH_MAX + 1);
	check_node(&tree, HEAP_TREE_DEPTH_MAX, 0, "app.other (dict)", 1);
	heap_tree_deinit(&tree);
	heap_look_destroy(look);
}

static void test_tree_without_holders(void **state)
{
	struct heap_look *look = make_look();
	struct heap_tree tree;

	(void)state;
	look->snapshot.holders = HEAP_HOLDERS_TOO_LARGE;
	assert_int_equal(heap_tree_init(&tree, &look->snapshot, 2), 0);
	assert_int_equal(tree.node_count, 3);
	assert_int_equal(tree.folded, 1);
	/* What is left out is the root's own. */
	check_node(&tree, 0, 0, "[too large to look for holders]", 1010);
	check_node(&tree, 1, 1, "dict", 3010);
	check_node(&tree, 2, 1, "app.Order", 2010);
	heap_tree_deinit(&tree);
	heap_look_destroy(look);
}

/* ---- formats */

static void test_json(void **state)
{
	struct heap_look *look = make_look();
	size_t size;
	char *text = written(look, &writer_json, &size);
	json_t *root = json_loadb(text, size, 0, NULL), *heap, *holders, *first, *path;

	(void)state;
	assert_non_null(root);
	heap = json_object_get(root, "heap");
	assert_int_equal(
		json_integer_value(json_object_get(json_object_get(heap, "process"), "pid")), 1234);
	assert_int_equal(json_integer_value(json_object_get(json_object_get(heap, "regions"),
							    "objects_bytes")),
			 7000);
	holders = json_object_get(heap, "holders");
	assert_int_equal(json_array_size(holders), 6);
	first = json_array_get(holders, 1);
	assert_int_equal(json_integer_value(json_object_get(first, "bytes")), 5900);
	assert_int_equal(json_integer_value(json_object_get(first, "own_bytes")), 5000);
	path = json_object_get(first, "path");
	assert_int_equal(json_array_size(path), 2);
	assert_string_equal(json_string_value(json_object_get(json_array_get(path, 1), "step")),
			    "{*}");
	assert_string_equal(json_string_value(json_object_get(json_array_get(path, 1), "type")),
			    "app.Order");
	assert_int_equal(json_array_size(json_object_get(heap, "types")), 3);
	json_decref(root);
	free(text);

	look->snapshot.holders = HEAP_HOLDERS_UNWANTED;
	text = written(look, &writer_json, &size);
	root = json_loadb(text, size, 0, NULL);
	assert_true(json_is_null(json_object_get(json_object_get(root, "heap"), "holders")));
	json_decref(root);
	free(text);
	heap_look_destroy(look);
}

static void test_collapsed(void **state)
{
	struct heap_look *look = make_look();
	size_t size;
	char *text = written(look, &writer_collapsed, &size);

	(void)state;
	assert_string_equal(
		text, "app.cache (dict) 100\n"
		      "app.cache (dict);{*} (app.Order) 5000\n"
		      "app.cache (dict);{*} (app.Order);.name "
		      "(<img src=x>\\x3b\"\\n\\u001b[2J&\\xff) 900\n"
		      "sys.modules (dict) 50\n"
		      "sys.modules (dict);{*} (dict) 20\n"
		      "sys.modules (dict);{key} (<img src=x>\\x3b\"\\n\\u001b[2J&\\xff) 10\n");
	free(text);
	/* Of one in a container that says so. */
	look->container =
		(struct profile_container){ .runtime = "podman", .id = "abc", .name = "web" };
	text = written(look, &writer_collapsed, &size);
	assert_memory_equal(text, "[container web (podman abc)];app.cache (dict) 100\n", 49);
	free(text);
	heap_look_destroy(look);
}

/* Nothing of a name is of the page's own. */
static void test_page(void **state)
{
	struct heap_look *look = make_look();
	static char program[] = HOSTILE;
	char **command = calloc(2, sizeof(*command));
	size_t size;
	char *text;

	(void)state;
	assert_non_null(command);
	command[0] = program;
	look->command = command;
	text = written(look, &writer_html, &size);
	assert_null(strstr(text, "<img"));
	assert_null(strchr(text, '\x1b'));
	assert_non_null(strstr(text, "&lt;img src=x&gt;"));
	assert_non_null(strstr(text, "\\u003cimg src=x\\u003e"));
	assert_null(strstr(text, "@TITLE@"));
	assert_non_null(strstr(text, "width=\"70.000%\""));
	free(text);
	heap_look_destroy(look);
}

static void test_formats(void **state)
{
	struct heap_look *look = make_look();
	size_t size;
	char *bytes = written(look, &writer_pprof, &size);

	(void)state;
	/* By Go's reader in heap_formats.stacks. */
	assert_true(size > 100 && !memcmp(bytes, "\x1f\x8b", 2));
	free(bytes);
	assert_null(heap_write_of(&writer_sarif));
	heap_look_destroy(look);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_holders),   cmocka_unit_test(test_tree),
		cmocka_unit_test(test_deep_tree), cmocka_unit_test(test_tree_without_holders),
		cmocka_unit_test(test_json),      cmocka_unit_test(test_collapsed),
		cmocka_unit_test(test_page),      cmocka_unit_test(test_formats),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
