/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/runtime_search.h"

#include "pyintrospect/field.h"
#include "pyintrospect/version.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SECTION_BYTES_MAX (32u << 20)
#define PIECE_BYTES       (64u << 10)
#define NAMES_MAX         4096 /* places where "code" ends a string */
#define BATCH             512
#define SURVIVORS_MAX     64
#define ADDRESS_MIN       0x10000ull
#define ADDRESS_MAX       (1ull << 47)

/* PyTypeObject, from 3.6 on */
#define TYPE_NAME       24
#define TYPE_BASIC_SIZE 32
#define TYPE_HEAD_SIZE  40

#define COOKIE_VERSION 8

static int read_section(const struct debug_info *info, const struct memory_reader *reader,
			const char *name, remote_addr *ret_address, uint8_t **ret_bytes,
			size_t *ret_size)
{
	remote_addr address;
	uint64_t size;
	uint8_t *bytes;

	if (info->section(info->context, name, &address, &size) || size == 0)
		return -ENOENT;
	if (size > SECTION_BYTES_MAX)
		size = SECTION_BYTES_MAX;
	bytes = calloc(1, size);
	if (!bytes)
		return -ENOMEM;
	for (size_t at = 0; at < size; at += PIECE_BYTES) {
		size_t part = size - at < PIECE_BYTES ? size - at : PIECE_BYTES;
		int error = memory_read(reader, address + at, bytes + at, part);

		/* A piece that cannot be read stays empty. */
		if (error && error != -EFAULT) {
			free(bytes);
			return error;
		}
	}
	*ret_address = address;
	*ret_bytes = bytes;
	*ret_size = size;
	return 0;
}

int runtime_search_version(const struct debug_info *info, const struct memory_reader *reader,
			   struct python_version *ret_version)
{
	struct python_version version = { .major = 3, .minor = -1, .micro = -1 };
	remote_addr address;
	uint8_t *bytes;
	size_t size;
	int error = read_section(info, reader, ".rodata", &address, &bytes, &size);

	if (error)
		return error;
	for (int minor = PYTHON_MINOR_MIN; minor <= PYTHON_MINOR_MAX; minor++) {
		int micro = python_version_scan((const char *)bytes, size, 3, minor);

		if (micro == -1)
			continue;
		if (micro < 0 || version.minor >= 0) {
			error = -ENOENT;
			break;
		}
		version.minor = minor;
		version.micro = micro;
	}
	free(bytes);
	if (error || version.minor < 0)
		return -ENOENT;
	*ret_version = version;
	return 0;
}

/* Addresses at which "code" ends a string, in ascending order. */
static int find_names(const struct debug_info *info, const struct memory_reader *reader,
		      remote_addr *names, size_t *ret_count)
{
	static const char name[] = "code";
	remote_addr address;
	const uint8_t *at;
	uint8_t *bytes;
	size_t size, count = 0;
	int error = read_section(info, reader, ".rodata", &address, &bytes, &size);

	if (error)
		return error;
	for (at = bytes; count < NAMES_MAX; at++) {
		at = memmem(at, size - (size_t)(at - bytes), name, sizeof(name));
		if (!at)
			break;
		names[count++] = address + (uint64_t)(at - bytes);
	}
	free(bytes);
	*ret_count = count;
	return 0;
}

static int compare_addresses(const void *a, const void *b)
{
	remote_addr x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return x < y ? -1 : x > y;
}

/* The type of this type, when it is "type", whose type is itself; 0: it is none. */
static remote_addr type_of_type(const struct memory_reader *reader, const uint8_t *head)
{
	remote_addr meta = field_u64(head, 8), name;
	uint8_t meta_head[TYPE_HEAD_SIZE];
	char text[5];

	if (memory_read(reader, meta, meta_head, sizeof(meta_head)) ||
	    field_u64(meta_head, 8) != meta)
		return 0;
	name = field_u64(meta_head, TYPE_NAME);
	if (memory_read(reader, name, text, sizeof(text)) ||
	    memcmp(text, "type", sizeof(text)) != 0)
		return 0;
	return meta;
}

int runtime_search_types(const struct debug_info *info, const struct memory_reader *reader,
			 remote_addr *ret_code_type, remote_addr *ret_type_type)
{
	remote_addr *names = calloc(NAMES_MAX, sizeof(*names));
	remote_addr address, code_type = 0, type_type = 0;
	size_t count = 0, size, found = 0;
	uint8_t *bytes;
	int error;

	if (!names)
		return -ENOMEM;
	error = find_names(info, reader, names, &count);
	if (!error)
		error = read_section(info, reader, ".data", &address, &bytes, &size);
	if (error) {
		free(names);
		return error;
	}
	for (size_t at = 0; at + TYPE_HEAD_SIZE <= size; at += 8) {
		remote_addr name = field_u64(bytes + at, TYPE_NAME), meta;
		uint64_t basic_size = field_u64(bytes + at, TYPE_BASIC_SIZE);

		if (basic_size == 0 || basic_size > OFFSET_BLOCK_MAX ||
		    !bsearch(&name, names, count, sizeof(*names), compare_addresses))
			continue;
		meta = type_of_type(reader, bytes + at);
		if (!meta)
			continue;
		code_type = address + at;
		type_type = meta;
		found++;
	}
	free(bytes);
	free(names);
	if (found != 1)
		return -ENOENT;
	*ret_code_type = code_type;
	*ret_type_type = type_type;
	return 0;
}

static const char *const writable_sections[] = { ".data", ".bss" };
#define WRITABLE_SECTIONS 2

int runtime_search_cookie(const struct debug_info *info, const struct memory_reader *reader,
			  int minor, remote_addr *ret_runtime)
{
	remote_addr address, runtime = 0;
	size_t size, found = 0;
	uint8_t *bytes;

	for (size_t i = 0; i < WRITABLE_SECTIONS; i++) {
		int error =
			read_section(info, reader, writable_sections[i], &address, &bytes, &size);

		if (error == -ENOENT)
			continue;
		if (error)
			return error;
		for (size_t at = 0; at + 16 <= size; at += 8) {
			if (memcmp(bytes + at, "xdebugpy", 8) != 0 ||
			    field_u64(bytes + at, COOKIE_VERSION) >> 16 !=
				    (3ull << 8 | (uint64_t)minor))
				continue;
			runtime = address + at;
			found++;
		}
		free(bytes);
	}
	if (found != 1)
		return -ENOENT;
	*ret_runtime = runtime;
	return 0;
}

/* A place that holds what may be a pointer to an interpreter. */
struct candidate {
	remote_addr place, interpreter, thread, back;
};

struct candidates {
	struct candidate items[BATCH];
	size_t count;
	struct candidate survivors[SURVIVORS_MAX];
	size_t survivor_count;
};

static bool plausible(remote_addr address)
{
	return address >= ADDRESS_MIN && address < ADDRESS_MAX && address % 8 == 0;
}

/*
 * More than links that fit together, which lists of all kinds have: the thread
 * has a pthread, whose first word is its own address on x86-64 (what %fs:0
 * reads).
 */
static bool thread_believable(const struct memory_reader *reader,
			      const struct python_offsets *offsets,
			      const struct candidate *candidate)
{
	remote_addr pthread, self;

	return candidate->thread != candidate->interpreter &&
	       memory_read_u64(reader, candidate->thread + (uint64_t)offsets->thread_pthread,
			       &pthread) == 0 &&
	       plausible(pthread) && memory_read_u64(reader, pthread, &self) == 0 &&
	       self == pthread;
}

/* Keeps of the batch those whose thread state points back. */
static int check_candidates(const struct memory_reader *reader,
			    const struct python_offsets *offsets, struct candidates *candidates)
{
	struct memory_range ranges[BATCH];
	size_t kept = 0;
	int error;

	for (size_t i = 0; i < candidates->count; i++)
		ranges[i] = (struct memory_range){
			.address = candidates->items[i].interpreter +
				   (uint64_t)offsets->interpreter_threads,
			.buffer = &candidates->items[i].thread,
			.size = sizeof(remote_addr),
		};
	error = memory_read_ranges(reader, ranges, candidates->count);
	for (size_t i = 0; !error && i < candidates->count; i++)
		if (!ranges[i].error && plausible(candidates->items[i].thread))
			candidates->items[kept++] = candidates->items[i];
	candidates->count = 0;
	if (error || kept == 0)
		return error;
	for (size_t i = 0; i < kept; i++)
		ranges[i] = (struct memory_range){
			.address =
				candidates->items[i].thread + (uint64_t)offsets->thread_interpreter,
			.buffer = &candidates->items[i].back,
			.size = sizeof(remote_addr),
		};
	error = memory_read_ranges(reader, ranges, kept);
	for (size_t i = 0; !error && i < kept; i++) {
		if (ranges[i].error ||
		    candidates->items[i].back != candidates->items[i].interpreter ||
		    !thread_believable(reader, offsets, &candidates->items[i]))
			continue;
		if (candidates->survivor_count == SURVIVORS_MAX)
			return -ENOENT;
		candidates->survivors[candidates->survivor_count++] = candidates->items[i];
	}
	return error;
}

static int check_section(const struct memory_reader *reader, const struct python_offsets *offsets,
			 remote_addr address, const uint8_t *bytes, size_t size,
			 struct candidates *candidates)
{
	int error = 0;

	for (size_t at = 0; !error && at + 8 <= size; at += 8) {
		remote_addr word = field_u64(bytes + at, 0);

		if (!plausible(word))
			continue;
		candidates->items[candidates->count++] =
			(struct candidate){ .place = address + at, .interpreter = word };
		if (candidates->count == BATCH)
			error = check_candidates(reader, offsets, candidates);
	}
	return !error && candidates->count ? check_candidates(reader, offsets, candidates) : error;
}

/*
 * From 3.7 the list's head is followed by a pointer to the main interpreter;
 * 3.6 has several pointers to the same one, any of which will do.
 */
static int choose_place(const struct candidates *candidates, bool followed, remote_addr *ret_place)
{
	remote_addr place = 0;
	size_t found = 0;

	for (size_t i = 0; i < candidates->survivor_count; i++) {
		const struct candidate *candidate = &candidates->survivors[i];

		if (followed && (i + 1 == candidates->survivor_count ||
				 candidate[1].place != candidate->place + 8))
			continue;
		if (!followed && place &&
		    candidate->interpreter != candidates->survivors[0].interpreter)
			return -ENOENT;
		if (followed || !place)
			place = candidate->place;
		found++;
	}
	if (found == 0 || (followed && found > 1))
		return -ENOENT;
	*ret_place = place;
	return 0;
}

int runtime_search_interpreters(const struct debug_info *info, const struct memory_reader *reader,
				const struct python_layout *layout, remote_addr *ret_interpreters)
{
	struct candidates *candidates = calloc(1, sizeof(*candidates));
	int error = 0;

	if (!candidates)
		return -ENOMEM;
	for (size_t i = 0; !error && i < WRITABLE_SECTIONS; i++) {
		remote_addr address;
		uint8_t *bytes;
		size_t size;

		error = read_section(info, reader, writable_sections[i], &address, &bytes, &size);
		if (error) {
			error = error == -ENOENT ? 0 : error;
			continue;
		}
		error = check_section(reader, &layout->offsets, address, bytes, size, candidates);
		free(bytes);
	}
	if (!error)
		error = choose_place(candidates,
				     layout->offsets.runtime_interpreters != OFFSET_ABSENT,
				     ret_interpreters);
	free(candidates);
	return error;
}
