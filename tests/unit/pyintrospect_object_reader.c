/* SPDX-License-Identifier: Apache-2.0 */
/* Forged dicts with more entries than are read. */
#include "pyintrospect/object_reader.h"

#include "pyintrospect/runtime_internal.h"
#include "tests/unit/own_memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define ENTRIES 65536 /* as in docs/SECURITY.md */

/* From CPython's headers, see object_reader.c. */
#define DICT_KEYS        32
#define INDEX_LOG2_BYTES 17

struct forged_dict {
	uint8_t type[512];
	uint8_t dict[64];
	uint8_t *keys;
};

/* Entry i has the key i + 1 and the value ~i, combined or split. */
static void forge(struct forged_dict *forged, const struct python_layout *layout, size_t count)
{
	static const char name[] = "dict";
	bool old = layout->minor < 11;
	size_t head = old ? 40 : 32, indices = (size_t)1 << INDEX_LOG2_BYTES;

	*forged = (struct forged_dict){ .keys = calloc(1, head + 4 * indices + 24 * count + 40) };
	assert_non_null(forged->keys);
	own_forge(forged->type, (size_t)layout->offsets.type_name, own_address(name));
	own_forge(forged->dict, (size_t)layout->offsets.object_type, own_address(forged->type));
	own_forge(forged->dict, DICT_KEYS + (layout->free_threaded ? 16 : 0),
		  own_address(forged->keys));
	if (old) {
		own_forge(forged->keys, 8, indices);
		own_forge(forged->keys, 32, count);
		indices *= 4;
	} else {
		forged->keys[9] = INDEX_LOG2_BYTES;
		own_forge(forged->keys, 24, count);
	}
	for (size_t i = 0; i < count; i++) {
		own_forge(forged->keys, head + indices + 24 * i + 8, i + 1);
		own_forge(forged->keys, head + indices + 24 * i + 16, ~(uint64_t)i);
	}
}

static void test_limit(void **state)
{
	const struct python_layout *layouts[] = { python_layout_builtin(10),
						  python_layout_builtin(12),
						  python_layout_free_threaded(13) };
	static const size_t sizes[] = { ENTRIES, ENTRIES + 1, ENTRIES + 1000 };

	(void)state;
	for (size_t i = 0; i < 3 * sizeof(sizes) / sizeof(sizes[0]); i++) {
		const struct python_layout *layout = layouts[i % 3];
		struct python_runtime *runtime = calloc(1, sizeof(*runtime));
		struct object_entries entries;
		struct forged_dict forged;

		assert_non_null(runtime);
		runtime->reader = &own_memory;
		runtime->layout = *layout;
		forge(&forged, layout, sizes[i / 3]);
		assert_int_equal(object_read_dict(runtime, own_address(forged.dict), &entries), 0);
		/* The first ones are there, the others left out. */
		assert_int_equal(entries.count, ENTRIES);
		assert_int_equal(entries.cut, sizes[i / 3] > ENTRIES);
		for (size_t k = 0; k < entries.count; k++) {
			assert_int_equal(entries.items[k].key, k + 1);
			assert_int_equal(entries.items[k].value, ~(uint64_t)k);
		}
		object_entries_deinit(&entries);
		free(forged.keys);
		free(runtime);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
