/* SPDX-License-Identifier: Apache-2.0 */
/* Files out of zip archives, ordinary ones and those that lie about themselves. */
#include "daemon/report/encode/zip_member.h"

#include "daemon/report/model/source.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#define TEXT_SIZE 5000
#define ROOM      65536

static char folder[] = "/tmp/pieprofd-zip-XXXXXX";

/* One file in an archive; members that are not 0 replace what is right. */
struct forged {
	const char *before, *name;
	bool deflated, encrypted;
	uint32_t size, packed_size, offset, directory_size, magic;
	size_t cut; /* bytes from the end */
};

static char text[TEXT_SIZE];

static size_t put(uint8_t *at, uint64_t value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		at[i] = i < sizeof(value) ? (uint8_t)(value >> (8 * i)) : 0;
	return size;
}

static size_t put_data(uint8_t *at, bool deflated)
{
	z_stream stream = { .next_in = (Bytef *)text,
			    .avail_in = TEXT_SIZE,
			    .next_out = at,
			    .avail_out = ROOM / 2 };

	if (!deflated) {
		memcpy(at, text, TEXT_SIZE);
		return TEXT_SIZE;
	}
	assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY),
			 Z_OK);
	assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
	deflateEnd(&stream);
	return ROOM / 2 - stream.avail_out;
}

/* Of the fields that both headers have: flags to sizes. */
static size_t put_facts(uint8_t *at, const struct forged *forged, size_t packed)
{
	size_t used = put(at, forged->encrypted, 2);

	used += put(at + used, forged->deflated ? 8 : 0, 2);
	used += put(at + used, 0, 8);
	used += put(at + used, forged->packed_size ? forged->packed_size : packed, 4);
	return used + put(at + used, forged->size ? forged->size : TEXT_SIZE, 4);
}

static int forge(const struct forged *forged)
{
	static uint8_t bytes[ROOM], data[ROOM / 2];
	size_t length = strlen(forged->name), packed = put_data(data, forged->deflated), used = 0;
	size_t before = forged->before ? strlen(forged->before) : 0, directory;
	char path[64];
	int fd;

	if (forged->before)
		memcpy(bytes, forged->before, before);
	used = before;
	used += put(bytes + used, forged->magic ? forged->magic : 0x04034b50, 4);
	used += put(bytes + used, 20, 2);
	used += put_facts(bytes + used, forged, packed);
	used += put(bytes + used, length, 2);
	used += put(bytes + used, 0, 2);
	memcpy(bytes + used, forged->name, length);
	used += length;
	memcpy(bytes + used, data, packed);
	used += packed;
	directory = used;
	used += put(bytes + used, 0x02014b50, 4);
	used += put(bytes + used, 20, 2);
	used += put(bytes + used, 20, 2);
	used += put_facts(bytes + used, forged, packed);
	used += put(bytes + used, length, 2);
	used += put(bytes + used, 0, 12);
	used += put(bytes + used, forged->offset, 4);
	memcpy(bytes + used, forged->name, length);
	used += length;
	directory = used - directory;
	used += put(bytes + used, 0x06054b50, 4);
	used += put(bytes + used, 0, 4);
	used += put(bytes + used, 1, 2);
	used += put(bytes + used, 1, 2);
	used += put(bytes + used, forged->directory_size ? forged->directory_size : directory, 4);
	used += put(bytes + used, used - directory - before - 16, 4);
	used += put(bytes + used, 0, 2);
	snprintf(path, sizeof(path), "%s/app.pyz", folder);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, used - forged->cut), used - forged->cut);
	return fd;
}

static int read_forged(const struct forged *forged, const char *name, size_t limit, char **ret_text)
{
	int fd = forge(forged), error;
	size_t size = 0;

	error = zip_member_read(fd, name, limit, ret_text, &size);
	if (!error)
		assert_int_equal(size, TEXT_SIZE);
	close(fd);
	return error;
}

static void check_read(const struct forged *forged)
{
	char *read = NULL;

	assert_int_equal(read_forged(forged, forged->name, TEXT_SIZE, &read), 0);
	assert_memory_equal(read, text, TEXT_SIZE);
	assert_int_equal(read[TEXT_SIZE], 0);
	free(read);
}

static void test_read(void **state)
{
	(void)state;
	check_read(&(struct forged){ .name = "__main__.py" });
	check_read(&(struct forged){ .name = "pkg/work.py", .deflated = true });
	check_read(&(struct forged){ .name = "a", .before = "#!/usr/bin/env python3\n" });
	check_read(&(struct forged){
		.name = "a", .deflated = true, .before = "#!/usr/bin/env python3\n" });
}

static void test_refused(void **state)
{
	static const struct {
		struct forged forged;
		const char *name;
		size_t limit;
		int error;
	} cases[] = {
		{ { .name = "a" }, "b", TEXT_SIZE, -ENOENT },
		{ { .name = "a" }, "", TEXT_SIZE, -ENOENT },
		{ { .name = "a", .cut = 1 }, "a", TEXT_SIZE, -ENOENT },
		{ { .name = "a", .cut = TEXT_SIZE }, "a", TEXT_SIZE, -ENOENT },
		{ { .name = "a" }, "a", TEXT_SIZE - 1, -E2BIG },
		{ { .name = "a", .encrypted = true }, "a", TEXT_SIZE, -ENOTSUP },
		{ { .name = "a", .magic = 1 }, "a", TEXT_SIZE, -EBADMSG },
		{ { .name = "a", .offset = 1u << 31 }, "a", TEXT_SIZE, -EBADMSG },
		{ { .name = "a", .directory_size = 20 }, "a", TEXT_SIZE, -ENOENT },
		{ { .name = "a", .directory_size = UINT32_MAX }, "a", TEXT_SIZE, -EBADMSG },
		/* Of another size than it says; too small for what is to come of it. */
		{ { .name = "a", .size = 17 }, "a", TEXT_SIZE, -EBADMSG },
		{ { .name = "a", .deflated = true, .size = 17 }, "a", TEXT_SIZE, -EBADMSG },
		{ { .name = "a", .deflated = true, .size = 4u << 20, .packed_size = 100 },
		  "a",
		  4u << 20,
		  -EBADMSG },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *read = NULL;
		int error = read_forged(&cases[i].forged, cases[i].name, cases[i].limit, &read);

		if (error != cases[i].error)
			fail_msg("case %zu: %d, not %d", i, error, cases[i].error);
		assert_null(read);
	}
}

static int open_file(void *context, const char *path)
{
	int fd;

	(void)context;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static void test_lines(void **state)
{
	struct source_cache *cache = source_cache_create(open_file, folder);
	struct source_version version;
	struct stat status;
	char path[64];
	int fd = forge(&(struct forged){ .name = "pkg/work.py", .deflated = true });

	(void)state;
	assert_non_null(cache);
	assert_int_equal(fstat(fd, &status), 0);
	close(fd);
	snprintf(path, sizeof(path), "%s/app.pyz/pkg/work.py", folder);
	assert_string_equal(source_cache_line(cache, path, 2), "line 1");
	assert_string_equal(source_cache_file(cache, 0, &version), path);
	/* The member's size, the archive's time. */
	assert_int_equal(version.size, TEXT_SIZE);
	assert_int_equal(version.modified_unix_ns / 1000000000, status.st_mtim.tv_sec);
	snprintf(path, sizeof(path), "%s/app.pyz/pkg/other.py", folder);
	assert_null(source_cache_line(cache, path, 2));
	snprintf(path, sizeof(path), "%s/none.pyz/pkg/work.py", folder);
	assert_null(source_cache_line(cache, path, 2));
	source_cache_destroy(cache);
}

static int set_up(void **state)
{
	size_t used = 0;

	(void)state;
	for (unsigned line = 0; used + 16 < TEXT_SIZE; line++)
		used += (size_t)snprintf(text + used, TEXT_SIZE - used, "line %u\n", line);
	memset(text + used, '#', TEXT_SIZE - used);
	return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
	char path[64];

	(void)state;
	snprintf(path, sizeof(path), "%s/app.pyz", folder);
	unlink(path);
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_lines),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
