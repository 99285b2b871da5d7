/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/heap/heap_storage.h"

#include "pyintrospect/dict_layout.h"
#include "pyintrospect/field.h"

#define TABLE_BELIEVED (1ull << 40)
#define DIMENSIONS_MAX 64

enum {
	LIST_ALLOCATED = 32,
	BYTEARRAY_ALLOCATED = 24,
	ARRAY_DIMENSIONS = 24,
	ARRAY_SIZES = 32,
	ARRAY_STRIDES = 40,
	ARRAY_BASE = 48,
};

static uint64_t believed(uint64_t bytes)
{
	return bytes < TABLE_BELIEVED ? bytes : 0;
}

uint64_t heap_storage_keys(const struct heap_types *types, const uint8_t *dict)
{
	const uint8_t *fields = object_fields(&types->layout, dict);
	remote_addr keys = field_u64(fields, DICT_KEYS);
	uint8_t head[KEYS_HEAD_SIZE];
	struct dict_keys table;
	uint64_t size;

	/* Those with values beside are their class's. */
	if (field_u64(fields, DICT_VALUES) ||
	    heap_image_read(types->image, keys, head, sizeof(head)) ||
	    !dict_keys_parse(head, keys, types->layout.minor, &table))
		return 0;
	size = types->layout.minor >= 11 ? (head[8] < 40 ? 1ull << head[8] : 0)
					 : field_u64(head, 8);
	/* An empty dict's are the interpreter's own. */
	if (size <= 1)
		return 0;
	return believed(table.entries - keys +
			believed(size) * 2 / 3 * (table.hashed ? 3 : 2) * WORD_SIZE);
}

/* An array that owns its data: the larger end of it, by its first dimension. */
static uint64_t array_bytes(const struct heap_types *types, const uint8_t *array)
{
	int32_t dimensions = field_i32(array, ARRAY_DIMENSIONS);
	uint64_t bytes = 0;

	if (field_u64(array, ARRAY_BASE) || dimensions <= 0 || dimensions > DIMENSIONS_MAX)
		return 0;
	for (int32_t i = 0; i < dimensions; i++) {
		uint64_t at = (uint64_t)i * WORD_SIZE, extent;

		extent = believed(heap_image_word(types->image,
						  field_u64(array, ARRAY_SIZES) + at)) *
			 (heap_image_word(types->image, field_u64(array, ARRAY_STRIDES) + at) &
			  UINT16_MAX);
		bytes = extent > bytes ? extent : bytes;
	}
	return believed(bytes);
}

uint64_t heap_storage_bytes(const struct heap_types *types, const struct heap_type *type,
			    const uint8_t *object)
{
	const uint8_t *fields = object_fields(&types->layout, object);

	switch (type->kind) {
	case HEAP_KIND_LIST:
		return field_u64(fields, LIST_ITEMS)
			       ? believed(field_u64(fields, LIST_ALLOCATED)) * WORD_SIZE
			       : 0;
	case HEAP_KIND_DICT:
		return heap_storage_keys(types, object);
	case HEAP_KIND_SET:
		/* A small one has eight entries inside. */
		return field_u64(fields, SET_MASK) > 7
			       ? (believed(field_u64(fields, SET_MASK)) + 1) * SET_ENTRY
			       : 0;
	case HEAP_KIND_BYTEARRAY:
		return believed(field_u64(fields, BYTEARRAY_ALLOCATED));
	case HEAP_KIND_ARRAY:
		return array_bytes(types, fields);
	default:
		return 0;
	}
}
