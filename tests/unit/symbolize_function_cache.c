/* SPDX-License-Identifier: Apache-2.0 */
/* Lists that are kept: found again for the very same files, within bounds, alive while held. */
#include "symbolize/function_cache.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

/* As in docs/SECURITY.md. */
#define LISTS_MAX 64
#define BYTES_MAX (32u << 20)

static struct layout_source source_of(uint64_t inode)
{
	return (struct layout_source){ .module = { .inode = inode, .known = true } };
}

static struct function_list *list_of(size_t count)
{
	struct function_list *list = calloc(1, sizeof(*list));

	assert_non_null(list);
	list->items = calloc(count, sizeof(list->items[0]));
	assert_non_null(list->items);
	list->count = count;
	list->holders = 1;
	return list;
}

static void keep(struct function_cache *cache, uint64_t inode, size_t count)
{
	struct layout_source source = source_of(inode);
	struct function_list *list = list_of(count);

	function_cache_keep(cache, &source, list);
	function_list_release(list);
}

/* How many functions its list has; 0: there is none. */
static size_t found(struct function_cache *cache, const struct layout_source *source)
{
	struct function_list *list = function_cache_find(cache, source);
	size_t count = list ? list->count : 0;

	function_list_release(list);
	return count;
}

static void test_of_the_same_files(void **state)
{
	struct function_cache *cache = function_cache_create();
	struct layout_source source = source_of(1), debug = source_of(1), other = source_of(2);
	struct layout_source unknown = { .module = { .inode = 1 } };
	struct function_list *list;

	(void)state;
	assert_non_null(cache);
	keep(cache, 1, 3);
	assert_int_equal(found(cache, &source), 3);
	assert_int_equal(found(cache, &other), 0);
	debug.has_debug = true;
	debug.debug = (struct file_identity){ .inode = 7, .known = true };
	assert_int_equal(found(cache, &debug), 0);
	debug.debug.known = false;
	assert_int_equal(found(cache, &debug), 0);
	assert_int_equal(found(cache, &unknown), 0);
	/* The first one stays: whoever has it goes on with it. */
	keep(cache, 1, 4);
	assert_int_equal(found(cache, &source), 3);
	list = list_of(5);
	function_cache_keep(cache, &unknown, list);
	assert_int_equal(found(cache, &unknown), 0);
	function_cache_keep(NULL, &source, list);
	assert_int_equal(found(NULL, &source), 0);
	function_list_release(list);
	list = function_cache_find(cache, &source);
	function_cache_destroy(cache);
	assert_int_equal(list->count, 3);
	assert_int_equal(list->holders, 1);
	function_list_release(list);
	function_list_release(NULL);
}

static void test_bounds(void **state)
{
	struct function_cache *cache = function_cache_create();
	const size_t half = BYTES_MAX / 2 / sizeof(struct listed_function) - 10;
	struct layout_source source;

	(void)state;
	for (uint64_t i = 1; i <= LISTS_MAX; i++)
		keep(cache, i, i);
	/* The second is the one that was asked for longest ago. */
	source = source_of(1);
	assert_int_equal(found(cache, &source), 1);
	keep(cache, 100, 100);
	assert_int_equal(found(cache, &source), 1);
	source = source_of(2);
	assert_int_equal(found(cache, &source), 0);
	source = source_of(100);
	assert_int_equal(found(cache, &source), 100);
	/* By their size. */
	keep(cache, 101, half);
	keep(cache, 102, half);
	keep(cache, 103, half);
	source = source_of(101);
	assert_int_equal(found(cache, &source), 0);
	source = source_of(103);
	assert_int_equal(found(cache, &source), half);
	keep(cache, 104, 3 * half);
	source = source_of(104);
	assert_int_equal(found(cache, &source), 0);
	source = source_of(102);
	assert_int_equal(found(cache, &source), half);
	function_cache_destroy(cache);
	function_cache_destroy(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_of_the_same_files),
		cmocka_unit_test(test_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
