/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/object_reader.h"

#include "pyintrospect/dict_layout.h"
#include "pyintrospect/field.h"
#include "pyintrospect/object_type.h"
#include "pyintrospect/runtime_internal.h"
#include "pyintrospect/unicode.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Byte offsets of x86-64 builds with the GIL, from CPython's headers, beside
 * those of dict_layout.h. In free-threaded builds all that lies behind an
 * object's head is object_head_extra() further on.
 */
enum {
	OBJECT_HEAD_SIZE = 16,
	MANAGED_DICT_BEFORE_FREE_THREADED = 8,
	TYPE_BASIC_SIZE = 32,
	TYPE_FLAGS = 168,
	TYPE_DICT_OFFSET = 288,
	TYPE_HEAD_SIZE = 296,
	FLAG_HEAP_TYPE = 1 << 9,
	MODULE_DICT = 16,
	LONG_SIZE = 16, /* ob_size to 3.11, then lv_tag */
	LONG_DIGITS = 24,
	LONG_DIGIT_BITS = 30,
};

static bool at_least(const struct python_runtime *runtime, int minor)
{
	return runtime->layout.minor >= minor;
}

/* Of at most limit entries; *ret_cut: there are more. */
static int read_keys(const struct python_runtime *runtime, remote_addr keys, size_t limit,
		     struct dict_keys *ret_keys, bool *ret_cut)
{
	uint8_t head[KEYS_HEAD_SIZE];
	int error = memory_read(runtime->reader, keys, head, sizeof(head));

	if (error)
		return error;
	if (!dict_keys_parse(head, keys, runtime->layout.minor, ret_keys))
		return -EBADMSG;
	*ret_cut = ret_keys->count > limit;
	if (*ret_cut)
		ret_keys->count = limit;
	return 0;
}

/* values: 0 when they are in the entries. */
static int read_entries(const struct python_runtime *runtime, remote_addr keys, remote_addr values,
			size_t limit, struct object_entries *ret_entries)
{
	struct object_entries entries = { 0 };
	struct dict_keys table;
	uint64_t *words = NULL;
	size_t stride;
	int error = read_keys(runtime, keys, limit, &table, &entries.cut);

	if (error)
		return error;
	stride = table.hashed ? 3 : 2;
	words = calloc(table.count * (stride + 1) + 1, sizeof(*words));
	entries.items = calloc(table.count + 1, sizeof(*entries.items));
	if (!words || !entries.items) {
		error = -ENOMEM;
		goto out;
	}
	error = memory_read(runtime->reader, table.entries, words,
			    table.count * stride * sizeof(*words));
	if (!error && values)
		error = memory_read(runtime->reader, values, words + table.count * stride,
				    table.count * sizeof(*words));
	if (error)
		goto out;
	for (size_t i = 0; i < table.count; i++) {
		const uint64_t *entry = words + i * stride + (stride - 2);
		uint64_t value = values ? words[table.count * stride + i] : entry[1];

		if (entry[0] && value) /* else it was removed, or never set */
			entries.items[entries.count++] =
				(struct object_entry){ .key = entry[0], .value = value };
	}
	*ret_entries = entries;
	entries.items = NULL;
out:
	free(words);
	free(entries.items);
	return error;
}

/* Behind the state that precedes them, where there is one. */
static remote_addr values_start(const struct python_runtime *runtime, remote_addr values)
{
	return at_least(runtime, 13) ? values + VALUES_INLINE_HEAD : values;
}

int object_read_dict_first(const struct python_runtime *runtime, remote_addr dict, size_t limit,
			   struct object_entries *ret_entries)
{
	uint8_t head[DICT_HEAD_SIZE];
	remote_addr values;
	int error =
		memory_read(runtime->reader, dict + object_head_extra(runtime), head, sizeof(head));

	if (error)
		return error;
	values = field_u64(head, DICT_VALUES);
	return read_entries(runtime, field_u64(head, DICT_KEYS),
			    values ? values_start(runtime, values) : 0, limit, ret_entries);
}

int object_read_dict(const struct python_runtime *runtime, remote_addr dict,
		     struct object_entries *ret_entries)
{
	if (!python_object_is(runtime, dict, "dict"))
		return -EBADMSG;
	return object_read_dict_first(runtime, dict, OBJECT_ENTRIES_MAX, ret_entries);
}

static int read_values(const struct python_runtime *runtime, remote_addr type, remote_addr values,
		       struct object_entries *ret_entries)
{
	const uint64_t offset =
		object_head_extra(runtime) + dict_cached_keys_offset(runtime->layout.minor);
	remote_addr keys;
	int error = memory_read_u64(runtime->reader, type + offset, &keys);

	return error ? error : read_entries(runtime, keys, values, OBJECT_ENTRIES_MAX, ret_entries);
}

/* 3.11+: what precedes an instance, and from 3.13 what follows its fixed part. */
static int read_managed(const struct python_runtime *runtime, remote_addr instance,
			remote_addr type, const uint8_t *type_head,
			struct object_entries *ret_entries)
{
	uint64_t before[2] = { 0 }; /* 32 and 24 bytes before it */
	uint64_t basic_size = field_u64(type_head, TYPE_BASIC_SIZE);
	uint8_t state[VALUES_INLINE_HEAD];
	int error;

	if (runtime->layout.free_threaded)
		error = memory_read_u64(runtime->reader,
					instance - MANAGED_DICT_BEFORE_FREE_THREADED, &before[1]);
	else
		error = memory_read(runtime->reader, instance - MANAGED_VALUES_BEFORE, before,
				    sizeof(before));
	if (error)
		return error;
	if (!at_least(runtime, 12) && before[0])
		return read_values(runtime, type, before[0], ret_entries);
	if (runtime->layout.minor == 12 && (before[1] & 1))
		return read_values(runtime, type, before[1] + 1, ret_entries);
	if (before[1])
		return object_read_dict(runtime, before[1], ret_entries);
	if (!at_least(runtime, 13) ||
	    !(field_u64(type_head, TYPE_FLAGS) & TYPE_FLAG_INLINE_VALUES) ||
	    basic_size < OBJECT_HEAD_SIZE || basic_size > INSTANCE_SIZE_MAX)
		return -EBADMSG;
	error = memory_read(runtime->reader, instance + basic_size, state, sizeof(state));
	if (error)
		return error;
	if (!state[VALUES_VALID])
		return -EBADMSG;
	return read_values(runtime, type, instance + basic_size + VALUES_INLINE_HEAD, ret_entries);
}

int object_read_attributes(const struct python_runtime *runtime, remote_addr instance,
			   struct object_entries *ret_entries)
{
	uint8_t head[TYPE_HEAD_SIZE];
	remote_addr type, dict;
	uint64_t flags, offset;
	int error;

	error = memory_read_u64(runtime->reader,
				instance + (uint64_t)runtime->layout.offsets.object_type, &type);
	if (!error)
		error = memory_read(runtime->reader, type + object_head_extra(runtime), head,
				    sizeof(head));
	if (error)
		return error;
	flags = field_u64(head, TYPE_FLAGS);
	if (!(flags & FLAG_HEAP_TYPE))
		return -EBADMSG;
	if (at_least(runtime, 11) && (flags & TYPE_FLAG_MANAGED_DICT))
		return read_managed(runtime, instance, type, head, ret_entries);
	offset = field_u64(head, TYPE_DICT_OFFSET);
	if (offset < OBJECT_HEAD_SIZE || offset > INSTANCE_SIZE_MAX ||
	    offset >= field_u64(head, TYPE_BASIC_SIZE))
		return -EBADMSG;
	error = memory_read_u64(runtime->reader, instance + offset, &dict);
	return error ? error : object_read_dict(runtime, dict, ret_entries);
}

void object_entries_deinit(struct object_entries *entries)
{
	free(entries->items);
	*entries = (struct object_entries){ 0 };
}

/* Bytes of a str's head and the characters of a short ASCII key, read at once. */
#define KEY_LENGTH_MAX 32
#define KEY_BYTES      (UNICODE_HEAD_MAX + KEY_LENGTH_MAX)
#define KEYS_A_BATCH   256

static bool key_is(const struct python_runtime *runtime, remote_addr object, const uint8_t *bytes,
		   const char *key, size_t length)
{
	struct unicode unicode;

	if (unicode_parse(&runtime->layout.offsets, object, bytes, &unicode) ||
	    unicode.width != 1 || unicode.characters != length)
		return false;
	/* Interned names are compact: their characters follow the head. */
	return unicode.data >= object && unicode.data - object <= KEY_BYTES - length &&
	       memcmp(bytes + (unicode.data - object), key, length) == 0;
}

int object_find(const struct python_runtime *runtime, const struct object_entries *entries,
		const char *key, remote_addr *ret_value)
{
	const size_t length = strlen(key);
	/* No more than lies within the object, which may be the last of its page. */
	const size_t needed = (size_t)runtime->layout.offsets.string_ascii_data + length;
	struct memory_range ranges[KEYS_A_BATCH];
	uint8_t *bytes;
	int error = 0;

	if (length > KEY_LENGTH_MAX)
		return -ENOENT;
	bytes = calloc(KEYS_A_BATCH, KEY_BYTES);
	if (!bytes)
		return -ENOMEM;
	for (size_t first = 0; !error && first < entries->count; first += KEYS_A_BATCH) {
		size_t count = entries->count - first;

		count = count < KEYS_A_BATCH ? count : KEYS_A_BATCH;
		for (size_t i = 0; i < count; i++)
			ranges[i] = (struct memory_range){
				.address = entries->items[first + i].key,
				.buffer = bytes + i * KEY_BYTES,
				.size = needed,
			};
		error = memory_read_ranges(runtime->reader, ranges, count);
		for (size_t i = 0; !error && i < count; i++) {
			if (ranges[i].error || !key_is(runtime, entries->items[first + i].key,
						       bytes + i * KEY_BYTES, key, length))
				continue;
			*ret_value = entries->items[first + i].value;
			free(bytes);
			return 0;
		}
	}
	free(bytes);
	return error ? error : -ENOENT;
}

int object_read_string(const struct python_runtime *runtime, remote_addr object, char *buffer,
		       size_t size)
{
	uint8_t head[UNICODE_HEAD_MAX];
	struct unicode unicode;
	uint8_t *characters;
	int error;

	if (!python_object_is(runtime, object, "str"))
		return -EBADMSG;
	error = memory_read(runtime->reader, object, head,
			    unicode_head_size(&runtime->layout.offsets));
	if (!error)
		error = unicode_parse(&runtime->layout.offsets, object, head, &unicode);
	if (error)
		return error;
	characters = malloc(unicode.characters * unicode.width + 1);
	if (!characters)
		return -ENOMEM;
	error = memory_read(runtime->reader, unicode.data, characters,
			    unicode.characters * unicode.width);
	if (!error)
		unicode_to_utf8(characters, unicode.width, unicode.characters, buffer, size);
	free(characters);
	return error;
}

int object_read_integer(const struct python_runtime *runtime, remote_addr object,
			uint64_t *ret_value)
{
	uint32_t digits[3] = { 0 };
	uint64_t size, value = 0;
	int error;

	if (!python_object_is(runtime, object, "int"))
		return -EBADMSG;
	object += object_head_extra(runtime);
	error = memory_read_u64(runtime->reader, object + LONG_SIZE, &size);
	if (error)
		return error;
	if (at_least(runtime, 12)) {
		if (size & 3) /* zero or negative */
			return -EBADMSG;
		size >>= 3;
	}
	if (size == 0 || size > sizeof(digits) / sizeof(digits[0]))
		return -EBADMSG;
	error = memory_read(runtime->reader, object + LONG_DIGITS, digits,
			    size * sizeof(digits[0]));
	if (error)
		return error;
	for (size_t i = 0; i < size; i++) {
		if (digits[i] >> LONG_DIGIT_BITS || (i == 2 && digits[i] > 0xf))
			return -EBADMSG;
		value |= (uint64_t)digits[i] << (LONG_DIGIT_BITS * i);
	}
	*ret_value = value;
	return 0;
}

int object_read_module(const struct python_runtime *runtime, remote_addr module,
		       remote_addr *ret_dict)
{
	if (!python_object_is(runtime, module, "module"))
		return -EBADMSG;
	return memory_read_u64(runtime->reader, module + MODULE_DICT + object_head_extra(runtime),
			       ret_dict);
}

int object_read_imported(const struct python_runtime *runtime, remote_addr interpreter,
			 const char *name, struct object_entries *ret_entries)
{
	int32_t offset = runtime->layout.offsets.interpreter_modules;
	struct object_entries modules;
	remote_addr address;
	int error;

	if (offset == OFFSET_ABSENT)
		return -ENOENT;
	error = memory_read_u64(runtime->reader, interpreter + (uint64_t)offset, &address);
	if (!error)
		error = object_read_dict(runtime, address, &modules);
	if (error)
		return error;
	error = object_find(runtime, &modules, name, &address);
	object_entries_deinit(&modules);
	if (!error)
		error = object_read_module(runtime, address, &address);
	return error ? error : object_read_dict(runtime, address, ret_entries);
}
