/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cct/cct.h"
#include "daemon/session/session_parts.h"
#include "unit_random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct python_code codes[32];

static struct frame python(size_t code, int offset)
{
	return (struct frame){ .kind = FRAME_PYTHON,
			       .python = { .code = &codes[code], .instruction_offset = offset } };
}

static struct frame native(remote_addr function, remote_addr pc)
{
	return (struct frame){ .kind = FRAME_NATIVE, .native = { .function = function, .pc = pc } };
}

static void test_equal_stacks_share_nodes(void **state)
{
	struct cct *cct = cct_create(100);
	struct frame a[] = { native(0x10, 0x11), python(0, 2), python(1, 4) };
	struct frame b[] = { native(0x10, 0x19), python(0, 2), python(1, 6) };
	struct cct_node *node_a = cct_insert(cct, a, 3), *node_b = cct_insert(cct, b, 3);

	(void)state;
	assert_non_null(node_a);
	assert_ptr_not_equal(node_a, node_b);
	assert_ptr_equal(node_a->parent, node_b->parent);
	assert_ptr_equal(node_a, cct_insert(cct, a, 3));
	assert_ptr_equal(node_a->parent, cct_insert(cct, a, 2));
	assert_int_equal(cct_node_count(cct), 5);
	/* The first pc seen of a function is kept. */
	assert_int_equal(node_a->parent->parent->frame.native.pc, 0x11);
	assert_int_equal(node_a->depth, 3);
	assert_ptr_equal(node_a->parent->parent->parent, cct_root(cct));
	/* Newest first. */
	assert_ptr_equal(node_a->parent->first_child, node_b);
	assert_ptr_equal(node_b->next_sibling, node_a);
	assert_null(node_a->next_sibling);
	cct_destroy(cct);
}

static void test_the_root(void **state)
{
	struct cct *cct = cct_create(10);

	(void)state;
	assert_ptr_equal(cct_insert(cct, NULL, 0), cct_root(cct));
	assert_ptr_equal(cct_node(cct, 0), cct_root(cct));
	assert_null(cct_root(cct)->parent);
	assert_null(cct_node(cct, 1));
	assert_int_equal(cct_root(cct)->depth, 0);
	cct_destroy(cct);
	cct_destroy(NULL);
}

static void test_order_matters(void **state)
{
	struct cct *cct = cct_create(10);
	struct frame ab[] = { python(0, 0), python(1, 0) }, ba[] = { python(1, 0), python(0, 0) };

	(void)state;
	assert_ptr_not_equal(cct_insert(cct, ab, 2), cct_insert(cct, ba, 2));
	assert_int_equal(cct_node_count(cct), 5);
	cct_destroy(cct);
}

static void test_flags_stay_while_all_samples_have_them(void **state)
{
	struct cct *cct = cct_create(10);
	struct frame frame = native(0x10, 0x11);
	const struct cct_node *node;

	(void)state;
	frame.flags = FRAME_GUESSED | FRAME_TRUNCATED_ABOVE;
	node = cct_insert(cct, &frame, 1);
	frame.flags = FRAME_GUESSED;
	cct_insert(cct, &frame, 1);
	assert_int_equal(node->frame.flags, FRAME_GUESSED);
	frame.flags = 0;
	cct_insert(cct, &frame, 1);
	assert_int_equal(node->frame.flags, 0);
	frame.flags = FRAME_GUESSED;
	cct_insert(cct, &frame, 1);
	assert_int_equal(node->frame.flags, 0);
	cct_destroy(cct);
}

static void test_limit(void **state)
{
	struct cct *cct = cct_create(4); /* the root and three more */
	struct frame frames[] = { python(0, 0), python(1, 0), python(2, 0), python(3, 0) };
	const struct cct_node *node = cct_insert(cct, frames, 3);

	(void)state;
	assert_non_null(node);
	assert_null(cct_insert(cct, frames, 4));
	assert_null(cct_insert(cct, &frames[1], 1));
	/* What is there goes on working. */
	assert_ptr_equal(cct_insert(cct, frames, 3), node);
	assert_int_equal(cct_node_count(cct), 4);
	cct_destroy(cct);
}

static void test_charge(void **state)
{
	struct cct *cct = cct_create(10);
	struct frame frame = python(0, 0);
	struct cct_node *node = cct_insert(cct, &frame, 1);

	(void)state;
	cct_node_charge(node, TIME_NATIVE, 1, 10);
	cct_node_charge(node, TIME_NATIVE, 1, 5);
	cct_node_charge(node, TIME_PYTHON, 1, 7);
	assert_int_equal(node->samples[TIME_NATIVE], 2);
	assert_int_equal(node->time_ns[TIME_NATIVE], 15);
	assert_int_equal(node->samples[TIME_PYTHON], 1);
	assert_int_equal(node->time_ns[TIME_PYTHON], 7);
	assert_int_equal(node->time_ns[TIME_SYSTEM], 0);
	cct_destroy(cct);
}

#define STACKS    20000
#define DEPTH_MAX 12

/* Against the definition: a node's path to the root is the stack that was inserted, and equal
 * stacks are one node. */
static void test_random_stacks(void **state)
{
	struct unit_random random = { .state = 42 };
	struct cct *cct = cct_create(1000000);
	static struct frame stacks[STACKS][DEPTH_MAX];
	static size_t depths[STACKS];
	static const struct cct_node *nodes[STACKS];
	size_t links = 0;

	(void)state;
	for (size_t s = 0; s < STACKS; s++) {
		depths[s] = unit_random_below(&random, DEPTH_MAX + 1);
		for (size_t i = 0; i < depths[s]; i++)
			stacks[s][i] =
				unit_random_below(&random, 2)
					? python(unit_random_below(&random, 3),
						 (int)unit_random_below(&random, 2))
					: native(0x100 * (1 + unit_random_below(&random, 2)), s);
		nodes[s] = cct_insert(cct, stacks[s], depths[s]);
		assert_non_null(nodes[s]);
	}
	for (size_t s = 0; s < STACKS; s++) {
		const struct cct_node *node = nodes[s];

		assert_int_equal(node->depth, depths[s]);
		assert_ptr_equal(cct_insert(cct, stacks[s], depths[s]), node);
		for (size_t i = depths[s]; i > 0; i--, node = node->parent) {
			assert_true(frame_equal(&node->frame, &stacks[s][i - 1]));
			assert_true(node->parent->id < node->id);
		}
		assert_ptr_equal(node, cct_root(cct));
	}
	/* Each node hangs once below its parent, and no two siblings are equal. */
	for (uint32_t id = 0; id < cct_node_count(cct); id++) {
		const struct cct_node *node = cct_node(cct, id);

		assert_int_equal(node->id, id);
		for (const struct cct_node *a = node->first_child; a;
		     a = a->next_sibling, links++) {
			assert_ptr_equal(a->parent, node);
			for (const struct cct_node *b = a->next_sibling; b; b = b->next_sibling)
				assert_false(frame_equal(&a->frame, &b->frame));
		}
	}
	assert_int_equal(links, cct_node_count(cct) - 1);
	cct_destroy(cct);
}

/* As many as a session has, by docs/SECURITY.md. */
static void test_limit_of_a_session(void **state)
{
	struct session session = { .options = { .node_limit = 0 } };
	struct cct *cct = cct_create(session_node_limit(&session));
	const int most = 500000, side = 1000;
	struct frame frames[] = { python(0, 0), python(1, 0) };
	int inserted = 1;

	(void)state;
	for (int outer = 0; outer < side; outer++) {
		frames[0].python.instruction_offset = outer;
		for (int inner = 0; inner < side; inner++) {
			frames[1].python.instruction_offset = inner;
			inserted += cct_insert(cct, frames, 2) ? inner ? 1 : 2 : 0;
		}
	}
	assert_int_equal(cct_node_count(cct), most);
	/* The last one of a stack may be missing. */
	assert_in_range(inserted, most - 1, most);
	cct_destroy(cct);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal_stacks_share_nodes),
		cmocka_unit_test(test_the_root),
		cmocka_unit_test(test_order_matters),
		cmocka_unit_test(test_flags_stay_while_all_samples_have_them),
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_limit_of_a_session),
		cmocka_unit_test(test_charge),
		cmocka_unit_test(test_random_stacks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
