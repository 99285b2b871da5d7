/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/version.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RODATA_BYTES_MAX (16u << 20)
#define MICRO_MAX        99

/* Public functions by the first minor that has them, newest first. */
static const struct {
	int minor;
	const char *symbol;
} first_seen[] = {
	{ 10, "Py_NewRef" },          { 9, "PyFrame_GetCode" }, { 8, "PyInterpreterState_GetDict" },
	{ 7, "PyThread_tss_create" }, { 6, "PyOS_FSPath" },
};

static const struct python_version ancient[] = {
	{ .major = 2, .minor = 7 }, { .major = 3, .minor = 5 }, { .major = 3, .minor = 4 },
	{ .major = 3, .minor = 3 }, { .major = 2, .minor = 6 },
};

static bool has_symbol(const struct debug_info *info, const char *name)
{
	remote_addr address;
	uint64_t size;

	return info->symbol(info->context, name, &address, &size) == 0;
}

static bool digit(char c)
{
	return c >= '0' && c <= '9';
}

int python_version_scan(const char *bytes, size_t size, int major, int minor)
{
	char prefix[16];
	size_t length = (size_t)snprintf(prefix, sizeof(prefix), "%d.%d.", major, minor);
	int found = -1;
	const char *end = bytes + size, *at = bytes;

	while ((at = memmem(at, (size_t)(end - at), prefix, length))) {
		const char *next = at + length;
		int micro = 0;

		if (at > bytes && (digit(at[-1]) || at[-1] == '.')) {
			at++;
			continue;
		}
		at = next;
		while (next < end && digit(*next) && micro <= MICRO_MAX)
			micro = 10 * micro + (*next++ - '0');
		if (next == at)
			continue;
		if (next < end && *next == '+')
			next++;
		if (next == end || *next != '\0' || micro > MICRO_MAX)
			continue;
		if (found >= 0 && found != micro)
			return -2;
		found = micro;
	}
	return found;
}

/* PY_VERSION is a string of its own in the read-only data. */
static char *read_rodata(const struct debug_info *info, const struct memory_reader *reader,
			 size_t *ret_size)
{
	remote_addr address;
	uint64_t size;
	char *bytes;

	if (info->section(info->context, ".rodata", &address, &size) || size > RODATA_BYTES_MAX)
		return NULL;
	bytes = malloc(size);
	if (bytes && memory_read(reader, address, bytes, size)) {
		free(bytes);
		bytes = NULL;
	}
	*ret_size = size;
	return bytes;
}

static int find_micro(const struct debug_info *info, const struct memory_reader *reader, int major,
		      int minor)
{
	size_t size;
	char *bytes = read_rodata(info, reader, &size);
	int micro = bytes ? python_version_scan(bytes, size, major, minor) : -1;

	free(bytes);
	return micro < 0 ? -1 : micro;
}

static int read_version_hex(const struct memory_reader *reader, remote_addr address,
			    struct python_version *ret_version)
{
	uint32_t hex; /* PY_VERSION_HEX: major, minor, micro, then level and serial in a byte */
	int error = memory_read(reader, address, &hex, sizeof(hex));

	if (error)
		return error;
	*ret_version = (struct python_version){
		.major = (int)(hex >> 24),
		.minor = (int)((hex >> 16) & 0xff),
		.micro = (int)((hex >> 8) & 0xff),
	};
	return 0;
}

int python_version_find(const struct debug_info *info, const struct memory_reader *reader,
			struct python_version *ret_version)
{
	remote_addr address;
	uint64_t size;

	if (info->symbol(info->context, "Py_Version", &address, &size) == 0)
		return read_version_hex(reader, address, ret_version);
	for (size_t i = 0; i < sizeof(first_seen) / sizeof(first_seen[0]); i++) {
		if (!has_symbol(info, first_seen[i].symbol))
			continue;
		*ret_version = (struct python_version){
			.major = 3,
			.minor = first_seen[i].minor,
			.micro = find_micro(info, reader, 3, first_seen[i].minor),
		};
		return 0;
	}
	/* Too old to be supported, but to be named. */
	for (size_t i = 0; i < sizeof(ancient) / sizeof(ancient[0]); i++) {
		struct python_version version = ancient[i];

		version.micro = find_micro(info, reader, version.major, version.minor);
		if (version.micro < 0)
			continue;
		*ret_version = version;
		return 0;
	}
	return -ENOENT;
}
