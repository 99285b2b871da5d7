/* SPDX-License-Identifier: Apache-2.0 */
/* From the calling context tree to the profile's: merging, order, sums, limits. */
#include "daemon/report/model/call_tree.h"

#include "daemon/report/model/start_frame.h"

#include "unit_random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Without tables every instruction is on the function's first line. */
static const struct python_code codes[] = {
	{ .function = "alpha", .file = "/a.py", .first_line = 10 },
	{ .function = "beta", .file = "/a.py", .first_line = 20 },
	{ .function = "gamma", .file = "/b.py", .first_line = 30 },
	/* Compiled again: a reader cannot tell it from the first. */
	{ .function = "alpha", .file = "/a.py", .first_line = 10 },
};

static struct frame python(size_t code, int offset)
{
	return (struct frame){ .kind = FRAME_PYTHON,
			       .python = { .code = &codes[code], .instruction_offset = offset } };
}

/* Without a symbolizer its place is its address. */
static struct frame native(uint64_t address)
{
	return (struct frame){ .kind = FRAME_NATIVE, .native = { .pc = address } };
}

struct built {
	struct cct *cct;
	struct place_table places;
	struct path_table paths;
	struct source_cache *sources;
	struct arena arena;
	struct profile_tree tree;
	uint32_t *positions; /* by node of the cct */
	bool without_start;
};

static void built_init(struct built *built)
{
	*built = (struct built){ .cct = cct_create(1u << 20) };
	assert_non_null(built->cct);
}

static void build(struct built *built, size_t nodes_max, uint64_t stack_frames_max)
{
	struct call_tree_input input = {
		.cct = built->cct,
		.paths = &built->paths,
		.nodes_max = nodes_max,
		.stack_frames_max = stack_frames_max,
		.positions = calloc(cct_node_count(built->cct), sizeof(uint32_t)),
	};

	built->positions = input.positions;
	assert_non_null(input.positions);
	input.sources = built->sources = source_cache_create(NULL, NULL);
	place_table_init(&built->places, NULL);
	assert_int_equal(path_table_init(&built->paths, &built->places, NULL, built->cct), 0);
	built->paths.start_frames = !built->without_start;
	arena_init(&built->arena, 64u << 20);
	assert_int_equal(call_tree_build(&input, &built->arena, &built->tree), 0);
}

static void built_deinit(struct built *built)
{
	free(built->positions);
	arena_deinit(&built->arena);
	source_cache_destroy(built->sources);
	path_table_deinit(&built->paths);
	place_table_deinit(&built->places);
	cct_destroy(built->cct);
}

static void charge(struct built *built, const struct frame *frames, size_t count,
		   enum time_class time_class, uint64_t time_ns)
{
	struct cct_node *node = cct_insert(built->cct, frames, count);

	assert_non_null(node);
	cct_node_charge(node, time_class, 1, time_ns);
}

static const struct profile_frame *frame_of(const struct profile_tree *tree, size_t node)
{
	return &tree->frames[tree->nodes[node].frame];
}

static void check_node(const struct profile_tree *tree, size_t node, uint32_t parent,
		       const char *function, uint64_t time_ns)
{
	uint64_t sum = 0;

	assert_true(node < tree->node_count);
	for (size_t c = 0; c < TIME_CLASS_COUNT; c++)
		sum += tree->nodes[node].time_ns[c];
	assert_int_equal(tree->nodes[node].parent, parent);
	assert_string_equal(frame_of(tree, node)->function, function);
	assert_true(sum == time_ns);
}

static int compare_frames(const struct profile_frame *a, const struct profile_frame *b)
{
	struct place place_a = { a->kind, a->function, a->file, a->line, a->address };
	struct place place_b = { b->kind, b->function, b->file, b->line, b->address };

	if (a->kind == FRAME_NATIVE)
		place_a.line = place_b.line = 0;
	return place_compare(&place_a, &place_b);
}

static void check_positions(const struct built *built);

/* What profile.h promises of every tree. */
static void check_promises(const struct built *built)
{
	const struct profile_tree *tree = &built->tree;
	uint64_t samples[TIME_CLASS_COUNT] = { 0 }, time_ns[TIME_CLASS_COUNT] = { 0 };
	uint32_t *newest = calloc(tree->node_count + 1, sizeof(*newest)); /* child by parent */
	bool *used = calloc(tree->frame_count + 1, sizeof(*used));
	bool *alive = calloc(tree->node_count + 1, sizeof(*alive));
	uint32_t frames_used = 0;

	for (size_t i = 0; i < tree->node_count; i++) {
		const struct profile_node *node = &tree->nodes[i];
		bool root = node->parent == PROFILE_NODE_NONE;
		size_t slot = root ? tree->node_count : node->parent;

		assert_true(root || node->parent < i);
		assert_int_equal(node->depth, root ? 0 : tree->nodes[node->parent].depth + 1);
		/* In preorder: the node before is the parent, or ends in a sibling's subtree. */
		if (i > 0)
			assert_true(node->depth <= tree->nodes[i - 1].depth + 1);
		assert_true(node->frame < tree->frame_count);
		if (!used[node->frame])
			assert_int_equal(node->frame, frames_used++);
		used[node->frame] = true;
		/* Ids plus one. The unknown frame, which has no address, is before all others. */
		if (newest[slot] && (frame_of(tree, newest[slot] - 1)->kind == FRAME_PYTHON ||
				     frame_of(tree, newest[slot] - 1)->address))
			assert_true(compare_frames(frame_of(tree, newest[slot] - 1),
						   frame_of(tree, i)) < 0);
		newest[slot] = (uint32_t)i + 1;
		for (size_t c = 0; c < TIME_CLASS_COUNT; c++) {
			samples[c] += node->samples[c];
			time_ns[c] += node->time_ns[c];
			alive[i] = alive[i] || node->samples[c];
		}
	}
	assert_int_equal(frames_used, tree->frame_count);
	for (size_t i = tree->node_count; i-- > 0;) {
		assert_true(alive[i]);
		if (tree->nodes[i].parent != PROFILE_NODE_NONE)
			alive[tree->nodes[i].parent] = true;
	}
	for (uint32_t id = 0; id < cct_node_count(built->cct); id++)
		for (size_t c = 0; c < TIME_CLASS_COUNT; c++) {
			samples[c] -= cct_node(built->cct, id)->samples[c];
			time_ns[c] -= cct_node(built->cct, id)->time_ns[c];
		}
	for (size_t c = 0; c < TIME_CLASS_COUNT; c++)
		assert_true(samples[c] == 0 && time_ns[c] == 0);
	check_positions(built);
	free(alive);
	free(used);
	free(newest);
}

/* What ended at each node of the cct is in the tree where its position says. */
static void check_positions(const struct built *built)
{
	const struct profile_tree *tree = &built->tree;
	uint64_t(*left)[TIME_CLASS_COUNT] = calloc(tree->node_count + 1, sizeof(*left));

	for (size_t i = 0; i < tree->node_count; i++)
		memcpy(left[i], tree->nodes[i].time_ns, sizeof(left[i]));
	for (uint32_t id = 0; id < cct_node_count(built->cct); id++)
		for (size_t c = 0; c < TIME_CLASS_COUNT; c++) {
			uint64_t time_ns = cct_node(built->cct, id)->time_ns[c];

			if (!time_ns)
				continue;
			assert_true(built->positions[id] < tree->node_count);
			assert_true(left[built->positions[id]][c] >= time_ns);
			left[built->positions[id]][c] -= time_ns;
		}
	for (size_t i = 0; i < tree->node_count; i++)
		for (size_t c = 0; c < TIME_CLASS_COUNT; c++)
			assert_true(left[i][c] == 0);
	free(left);
}

#define UNLIMITED SIZE_MAX, UINT64_MAX

static void test_merging_and_order(void **state)
{
	struct frame deep[] = { native(0x100), python(2, 0), python(1, 0), native(0x200) };
	struct frame again[] = { native(0x100), python(0, 2) };
	struct frame recompiled[] = { native(0x100), python(3, 8) };
	struct frame guessed[] = { native(0x100), python(0, 4) };
	struct frame no_samples[] = { native(0x100), native(0x300), native(0x400) };
	struct built built;

	(void)state;
	built_init(&built);
	charge(&built, deep, 4, TIME_NATIVE, 40);
	charge(&built, deep, 2, TIME_SYSTEM, 5);
	assert_non_null(cct_insert(built.cct, no_samples, 3));
	again[0].flags = guessed[0].flags = 0;
	charge(&built, again, 2, TIME_PYTHON, 1);
	guessed[1].flags = FRAME_UNMATCHED;
	charge(&built, guessed, 2, TIME_PYTHON, 2);
	charge(&built, recompiled, 2, TIME_PYTHON, 3);
	build(&built, UNLIMITED);
	check_promises(&built);
	assert_int_equal(built.tree.node_count, 5);
	assert_int_equal(built.tree.nodes_folded, 0);
	check_node(&built.tree, 0, PROFILE_NODE_NONE, "?", 0);
	assert_int_equal(frame_of(&built.tree, 0)->address, 0x100);
	/* Three instructions and two code objects are one; doubtful only if all were. */
	check_node(&built.tree, 1, 0, "alpha", 6);
	assert_int_equal(built.tree.nodes[1].samples[TIME_PYTHON], 3);
	assert_int_equal(built.tree.nodes[1].flags, 0);
	assert_int_equal(frame_of(&built.tree, 1)->line, 10);
	check_node(&built.tree, 2, 0, "gamma", 5);
	check_node(&built.tree, 3, 2, "beta", 0);
	check_node(&built.tree, 4, 3, "?", 40);
	built_deinit(&built);
}

/* Those outside of the outermost Python frame, but for time of their own. */
static void test_start_is_left_out(void **state)
{
	struct frame stack[] = { native(0x100), native(0x200), python(0, 0), native(0x300),
				 python(1, 0) };
	struct built built;

	(void)state;
	built_init(&built);
	built.without_start = true;
	charge(&built, stack, 5, TIME_PYTHON, 40);
	charge(&built, stack, 3, TIME_PYTHON, 1);
	/* Before Python has begun. */
	charge(&built, stack, 1, TIME_SYSTEM, 5);
	build(&built, UNLIMITED);
	check_promises(&built);
	assert_int_equal(built.tree.node_count, 4);
	check_node(&built.tree, 0, PROFILE_NODE_NONE, "alpha", 1);
	check_node(&built.tree, 1, 0, "?", 0);
	check_node(&built.tree, 2, 1, "beta", 40);
	check_node(&built.tree, 3, PROFILE_NODE_NONE, "?", 5);
	built_deinit(&built);
}

static void test_frames_of_a_start(void **state)
{
	static const struct {
		const char *function, *file;
		uint32_t flags;
		bool start;
	} cases[] = {
		{ "_start", "/usr/bin/python3.11", 0, true },
		{ "Py_RunMain", "/opt/lib/libpython3.12.so.1.0", 0, true },
		{ "start_thread", "/lib/x86_64-linux-gnu/libc.so.6", 0, true },
		{ "clone", "/lib/libc-2.28.so", 0, true },
		{ "?", "/opt/app/server", 0, true },
		{ "main", "/opt/app/server", 0, false },
		{ "?", "/usr/bin/python3.11", FRAME_TRUNCATED_ABOVE, false },
	};
	struct profile_frame frames[] = {
		{ .kind = FRAME_NATIVE, .function = "?", .file = "?" },
		{ .kind = FRAME_NATIVE, .function = "main", .file = "python3" },
		{ .kind = FRAME_PYTHON, .function = "f", .file = "f.py" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(start_frame_is(FRAME_NATIVE, cases[i].flags, cases[i].function,
						cases[i].file),
				 cases[i].start);
		assert_false(start_frame_is(FRAME_PYTHON, 0, cases[i].function, cases[i].file));
	}
	assert_int_equal(start_frames_count(frames, 3), 2);
	assert_int_equal(start_frames_count(frames, 2), 0);
	frames[1].file = "server";
	assert_int_equal(start_frames_count(frames, 3), 0);
}

static void test_empty(void **state)
{
	struct built built;

	(void)state;
	built_init(&built);
	build(&built, UNLIMITED);
	assert_int_equal(built.tree.node_count, 0);
	assert_int_equal(built.tree.frame_count, 0);
	built_deinit(&built);
}

/* Time in the kernel of a thread that was never seen in user code. */
static void test_time_without_stack(void **state)
{
	struct frame frame = python(0, 0);
	struct built built;

	(void)state;
	built_init(&built);
	cct_node_charge(cct_root(built.cct), TIME_SYSTEM, 1, 7);
	charge(&built, &frame, 1, TIME_PYTHON, 3);
	build(&built, UNLIMITED);
	check_promises(&built);
	assert_int_equal(built.tree.node_count, 2);
	check_node(&built.tree, 0, PROFILE_NODE_NONE, "?", 7);
	assert_string_equal(frame_of(&built.tree, 0)->file, "?");
	check_node(&built.tree, 1, PROFILE_NODE_NONE, "alpha", 3);
	built_deinit(&built);
}

static size_t random_stack(struct unit_random *random, struct frame *frames)
{
	size_t count = 1 + unit_random_below(random, 9);

	for (size_t i = 0; i < count; i++)
		frames[i] = unit_random_below(random, 2)
				    ? python(unit_random_below(random, 4),
					     (int)unit_random_below(random, 3))
				    : native(0x1000 + unit_random_below(random, 3));
	return count;
}

static void charge_random(struct built *built, uint64_t seed, unsigned samples)
{
	struct unit_random random = { seed };
	struct frame frames[10];

	for (unsigned i = 0; i < samples; i++) {
		size_t count = random_stack(&random, frames);

		charge(built, frames, count,
		       (enum time_class)unit_random_below(&random, TIME_CLASS_COUNT),
		       1 + unit_random_below(&random, 100));
	}
}

static void test_random_trees(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 50; seed++) {
		struct built built;

		built_init(&built);
		charge_random(&built, seed, 200);
		build(&built, UNLIMITED);
		check_promises(&built);
		built_deinit(&built);
	}
}

/* However many are kept, no time is lost, and those kept have the most. */
static void test_limits(void **state)
{
	size_t whole = 0;

	(void)state;
	for (size_t limit = 400; limit > 0; limit = limit * 3 / 4) {
		struct built built;

		built_init(&built);
		charge_random(&built, 99, 300);
		build(&built, limit, UINT64_MAX);
		check_promises(&built);
		if (!whole)
			whole = built.tree.node_count + built.tree.nodes_folded;
		/* And one of an unknown frame for what was outermost. */
		assert_true(built.tree.node_count <= limit + 1);
		assert_true(built.tree.nodes_folded == (limit < whole ? whole - limit : 0));
		built_deinit(&built);
	}
}

static void test_stack_limit(void **state)
{
	struct frame frames[20];
	struct built built;
	uint64_t sum = 0;

	(void)state;
	built_init(&built);
	for (size_t i = 0; i < 20; i++) {
		frames[i] = native(0x1000 + i);
		charge(&built, frames, i + 1, TIME_NATIVE, 10);
	}
	/* 1 + 2 + 3 + 4 = 10 frames fit, the fifth stack does not. */
	build(&built, SIZE_MAX, 14);
	check_promises(&built);
	assert_int_equal(built.tree.node_count, 4);
	assert_int_equal(built.tree.nodes_folded, 16);
	for (size_t i = 0; i < 4; i++)
		sum += built.tree.nodes[i].time_ns[TIME_NATIVE];
	assert_int_equal(sum, 200);
	check_node(&built.tree, 3, 2, "?", 170);
	built_deinit(&built);
}

/* The order of samples does not show. */
static void test_order_of_samples(void **state)
{
	struct frame stacks[60][10];
	size_t counts[60];
	struct unit_random random = { 5 };
	struct built forth, back;

	(void)state;
	built_init(&forth);
	built_init(&back);
	for (size_t i = 0; i < 60; i++) {
		counts[i] = random_stack(&random, stacks[i]);
		charge(&forth, stacks[i], counts[i], TIME_NATIVE, i + 1);
	}
	for (size_t i = 60; i-- > 0;)
		charge(&back, stacks[i], counts[i], TIME_NATIVE, i + 1);
	build(&forth, UNLIMITED);
	build(&back, UNLIMITED);
	assert_int_equal(forth.tree.node_count, back.tree.node_count);
	assert_int_equal(forth.tree.frame_count, back.tree.frame_count);
	assert_memory_equal(forth.tree.nodes, back.tree.nodes,
			    forth.tree.node_count * sizeof(forth.tree.nodes[0]));
	for (size_t i = 0; i < forth.tree.frame_count; i++)
		assert_int_equal(compare_frames(&forth.tree.frames[i], &back.tree.frames[i]), 0);
	built_deinit(&forth);
	built_deinit(&back);
}

static void test_no_memory(void **state)
{
	struct built built;
	struct call_tree_input input = { .nodes_max = SIZE_MAX, .stack_frames_max = UINT64_MAX };

	(void)state;
	built_init(&built);
	charge_random(&built, 3, 3000);
	build(&built, UNLIMITED);
	arena_deinit(&built.arena);
	arena_init(&built.arena, 100);
	input.cct = built.cct;
	input.paths = &built.paths;
	input.sources = built.sources;
	assert_true(call_tree_build(&input, &built.arena, &built.tree) < 0);
	built_deinit(&built);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_merging_and_order),
		cmocka_unit_test(test_start_is_left_out),
		cmocka_unit_test(test_frames_of_a_start),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_time_without_stack),
		cmocka_unit_test(test_random_trees),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_stack_limit),
		cmocka_unit_test(test_order_of_samples),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
