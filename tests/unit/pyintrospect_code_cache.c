/* SPDX-License-Identifier: Apache-2.0 */
/* Forged code objects, more than are kept, and more places than are remembered. */
#include "pyintrospect/code_cache.h"

#include "pyintrospect/runtime_internal.h"
#include "tests/unit/own_memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

/* As in docs/SECURITY.md. */
#define RECORDS 65536
#define PLACES  65536
#define BEYOND  100

#define MINOR 12
/* A compact ASCII str of one byte a character. */
#define STATE_ASCII (1u << 2 | 1u << 5 | 1u << 6)
/* Code objects lie in no memory of ours: their heads are given, and they have no bytecode. */
#define CODES_AT 0x100000u

static unsigned long reads;

static int counted_read(void *context, struct memory_range *ranges, size_t count)
{
	reads++;
	return own_memory.read(context, ranges, count);
}

static const struct memory_reader counted = { counted_read, NULL };

struct forged {
	const struct python_layout *layout;
	struct code_cache *cache;
	struct remote_copy copy;
	uint8_t name[128], bytes[128];
	uint8_t head[OFFSET_BLOCK_MAX];
};

static struct forged *forge(void)
{
	struct forged *forged = calloc(1, sizeof(*forged));
	const struct python_offsets *offsets;

	assert_non_null(forged);
	forged->layout = python_layout_builtin(MINOR);
	offsets = &forged->layout->offsets;
	forged->cache = code_cache_create();
	assert_non_null(forged->cache);
	assert_int_equal(remote_copy_init(&forged->copy, &counted), 0);
	own_forge(forged->name, (size_t)offsets->string_length, 1);
	own_forge(forged->name, (size_t)offsets->string_state, STATE_ASCII);
	forged->name[offsets->string_ascii_data] = 'f';
	own_forge(forged->head, (size_t)offsets->code_qualname, own_address(forged->name));
	own_forge(forged->head, (size_t)offsets->code_name, own_address(forged->name));
	own_forge(forged->head, (size_t)offsets->code_filename, own_address(forged->name));
	own_forge(forged->head, (size_t)offsets->code_line_table, own_address(forged->bytes));
	own_forge(forged->head, (size_t)offsets->code_exceptions, own_address(forged->bytes));
	return forged;
}

static void forged_destroy(struct forged *forged)
{
	code_cache_destroy(forged->cache);
	remote_copy_deinit(&forged->copy);
	free(forged);
}

/* The object at a place, told from others by its first line; every version of one is known. */
static const struct python_code *resolve(struct forged *forged, size_t place, uint32_t line)
{
	const uint32_t version = 1;
	const struct python_code *code;

	memcpy(forged->head + forged->layout->offsets.code_first_line, &line, sizeof(line));
	memcpy(forged->head + forged->layout->offsets.code_version, &version, sizeof(version));
	remote_copy_begin(&forged->copy, NULL);
	assert_int_equal(code_cache_resolve(forged->cache, forged->layout, CODES_AT + 256 * place,
					    forged->head, &forged->copy, &code),
			 0);
	return code;
}

static void test_records(void **state)
{
	struct forged *forged = forge();

	(void)state;
	for (uint32_t i = 0; i < RECORDS + BEYOND; i++) {
		const struct python_code *code = resolve(forged, i % 8, i);

		assert_string_equal(code->function, i < RECORDS ? "f" : "?");
		assert_int_equal(code->first_line, i < RECORDS ? i : 0);
	}
	assert_int_equal(code_cache_count(forged->cache), RECORDS);
	assert_int_equal(code_cache_dropped(forged->cache), BEYOND);
	/* Those that are kept are found. */
	assert_int_equal(resolve(forged, 0, RECORDS - 1)->first_line, RECORDS - 1);
	forged_destroy(forged);
}

/* One code object at ever new places: what is at a known one is not read again. */
static void test_places(void **state)
{
	struct forged *forged = forge();
	const struct python_code *code = resolve(forged, 0, 1);
	unsigned long before;

	(void)state;
	for (size_t i = 1; i < PLACES; i++)
		assert_ptr_equal(resolve(forged, i, 1), code);
	before = reads;
	for (size_t i = 0; i < PLACES; i++)
		assert_ptr_equal(resolve(forged, i, 1), code);
	assert_int_equal(reads, before);
	/* With one more, all others are forgotten, and read again. */
	assert_ptr_equal(resolve(forged, PLACES, 1), code);
	before = reads;
	assert_ptr_equal(resolve(forged, PLACES, 1), code);
	assert_int_equal(reads, before);
	for (size_t i = 0; i < 100; i++) {
		before = reads;
		assert_ptr_equal(resolve(forged, i, 1), code);
		assert_true(reads > before);
	}
	assert_int_equal(code_cache_count(forged->cache), 1);
	forged_destroy(forged);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_records),
		cmocka_unit_test(test_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
