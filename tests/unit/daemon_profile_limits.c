/* SPDX-License-Identifier: Apache-2.0 */
/* More frames of stacks and of pairs than a profile has, and its text's limit. */
#include "daemon/report/model/owned_profile.h"
#include "daemon/report/model/profile_build.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

/* As in docs/SECURITY.md. */
#define NODES        262144u
#define STACK_FRAMES 33554432u
#define PAIR_FRAMES  1048576u
#define TEXT_BYTES   ((size_t)512 << 20)

/* Stacks of 1, 2, ... so many frames, and one of HALF, have STACK_FRAMES together. */
#define DEEPEST 8191u
#define HALF    4096u

_Static_assert(DEEPEST *(DEEPEST + 1) / 2 + HALF == STACK_FRAMES, "the stacks below");

static const struct python_code code = { .function = "f", .file = "/a.py", .first_line = 1 };

/* The stack of so many frames, its innermost one at an address of its own (not 0). */
static struct cct_node *insert(struct cct *cct, size_t count, uint64_t innermost)
{
	static struct frame frames[DEEPEST];

	for (size_t i = 0; i < count; i++)
		frames[i] = (struct frame){ .kind = FRAME_NATIVE,
					    .native = { .pc = 0x100000 + 16 * i } };
	/* A path of a pair has a line: this is it. */
	frames[0] = (struct frame){ .kind = FRAME_PYTHON, .python = { .code = &code } };
	if (innermost)
		frames[count - 1] =
			(struct frame){ .kind = FRAME_NATIVE, .native = { .pc = innermost } };
	return cct_insert(cct, frames, count);
}

struct built {
	struct cct *cct;
	struct pair_table *pairs;
	struct profile *profile;
};

static void built_init(struct built *built)
{
	*built = (struct built){ .cct = cct_create(300000), .pairs = pair_table_create(100000) };
	assert_true(built->cct && built->pairs);
}

static void build(struct built *built)
{
	const struct profile_facts facts = { .version = "1", .sampler = "clock" };

	built->profile = profile_build(built->cct, built->pairs, NULL, &facts);
	assert_non_null(built->profile);
}

static void built_deinit(struct built *built)
{
	profile_destroy(built->profile);
	pair_table_destroy(built->pairs);
	cct_destroy(built->cct);
}

static void test_nodes(void **state)
{
	struct built built;

	(void)state;
	built_init(&built);
	for (size_t i = 0; i < NODES; i++)
		cct_node_charge(insert(built.cct, 1, 16 * i + 16), TIME_NATIVE, 1, 10);
	build(&built);
	assert_int_equal(built.profile->tree.node_count, NODES);
	assert_int_equal(built.profile->tree.nodes_folded, 0);
	profile_destroy(built.profile);
	cct_node_charge(insert(built.cct, 1, 8), TIME_NATIVE, 1, 10);
	build(&built);
	assert_int_equal(built.profile->tree.nodes_folded, 1);
	built_deinit(&built);
}

static void test_stack_frames(void **state)
{
	(void)state;
	for (size_t beyond = 0; beyond < 2; beyond++) {
		struct built built;

		built_init(&built);
		cct_node_charge(insert(built.cct, DEEPEST, 0), TIME_NATIVE, 1, 10);
		cct_node_charge(insert(built.cct, HALF, 0x10), TIME_NATIVE, 1, 10);
		if (beyond)
			cct_node_charge(insert(built.cct, 1, 0x20), TIME_NATIVE, 1, 10);
		build(&built);
		assert_int_equal(built.profile->tree.nodes_folded, beyond);
		built_deinit(&built);
	}
}

static void test_pair_frames(void **state)
{
	const size_t pairs = PAIR_FRAMES / (2 * HALF);
	const struct pair_evidence evidence = {
		.call_ns = 10, .distance_ns = 1, .memory = MEMORY_HEAP, .bytes = 8
	};

	(void)state;
	for (size_t beyond = 0; beyond < 2; beyond++) {
		struct built built;

		built_init(&built);
		for (size_t i = 0; i < pairs; i++) {
			struct cct_node *node = insert(built.cct, HALF, 16 * i + 16);
			/* The last pair has a frame more. */
			struct cct_node *first =
				i + 1 < pairs || !beyond ? node : insert(built.cct, HALF + 1, 0x20);

			assert_int_equal(pair_table_add(built.pairs, PAIR_LOAD, first, node,
							VERDICT_REDUNDANT, &evidence),
					 0);
		}
		build(&built);
		assert_int_equal(built.profile->pair_count, pairs - beyond);
		assert_int_equal(built.profile->pairs_omitted, beyond);
		built_deinit(&built);
	}
}

static void test_text(void **state)
{
	const struct owned_profile *owned;
	struct built built;

	(void)state;
	built_init(&built);
	build(&built);
	owned = (const struct owned_profile *)built.profile;
	assert_int_equal(owned->arena.limit, TEXT_BYTES);
	built_deinit(&built);
}

/* Memory that nobody touches is not there. */
static void test_arena(void **state)
{
	const size_t piece = 1u << 20;
	struct arena arena;

	(void)state;
	arena_init(&arena, TEXT_BYTES);
	for (size_t i = 0; i < TEXT_BYTES / piece; i++)
		assert_non_null(arena_array(&arena, piece, 1));
	assert_false(arena.failed);
	assert_null(arena_array(&arena, 1, 1));
	assert_true(arena.failed);
	assert_int_equal(arena.bytes, TEXT_BYTES);
	arena_deinit(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nodes),       cmocka_unit_test(test_stack_frames),
		cmocka_unit_test(test_pair_frames), cmocka_unit_test(test_text),
		cmocka_unit_test(test_arena),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
