/* SPDX-License-Identifier: Apache-2.0 */
/* The functions around lines, found by their indentation. */
#include "daemon/report/model/profile_sources.h"
#include "daemon/report/model/source_text.h"
#include "recorded_files.h"

#include <errno.h>

static const char program[] = "import os\n"                     /* 1 */
			      "\n"                              /* 2 */
			      "class Shop:\n"                   /* 3 */
			      "    @cached\n"                   /* 4 */
			      "    def total(self,\n"           /* 5 */
			      "              rate):\n"          /* 6 */
			      "        result = 0\n"            /* 7 */
			      "# a remark\n"                    /* 8 */
			      "        for x in self.rows:\n"   /* 9 */
			      "            result += x\n"       /* 10 */
			      "\n"                              /* 11 */
			      "        return result\n"         /* 12 */
			      "\n"                              /* 13 */
			      "    async def other(self):\n"    /* 14 */
			      "        return [y\n"             /* 15 */
			      "                for y in 'z']\n" /* 16 */
			      "\n"                              /* 17 */
			      "print(Shop().total(1))\n";       /* 18 */

static int open_file(void *context, const char *path)
{
	int fd;

	(void)context;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	return fd;
}

static void check_scope(struct source_cache *cache, const char *path, int line, int first, int last)
{
	int from = 0, to = 0;

	source_text_scope(cache, path, line, 100, &from, &to);
	assert_int_equal(from, first);
	assert_int_equal(to, last);
}

static void test_scope(void **state)
{
	struct source_cache *cache = source_cache_create(open_file, NULL);
	char path[128];
	int from, to;

	(void)state;
	strcpy(path, path_of("x.py"));
	write_file(path, program, sizeof(program) - 1);
	check_scope(cache, path, 10, 4, 12);
	check_scope(cache, path, 6, 4, 12);
	check_scope(cache, path, 5, 4, 12);
	check_scope(cache, path, 12, 4, 12);
	check_scope(cache, path, 16, 14, 16);
	/* A module's own lines. */
	check_scope(cache, path, 18, 13, 23);
	check_scope(cache, path, 1, 1, 6);
	/* Nothing of a file that is not there. */
	check_scope(cache, "/none.py", 7, 2, 12);
	/* A part of what is long. */
	source_text_scope(cache, path, 10, 4, &from, &to);
	assert_int_equal(from, 8);
	assert_int_equal(to, 12);
	source_cache_destroy(cache);
	unlink(path);
}

static void test_collect(void **state)
{
	struct source_cache *cache = source_cache_create(open_file, NULL);
	struct profile_line lines[] = {
		{ .line = 10 }, { .line = 18 }, { .line = 7 }, { .line = 0 }
	};
	struct profile profile = { .lines = lines, .line_count = 4 };
	struct arena arena;
	char path[128];
	const struct profile_source *source;

	(void)state;
	arena_init(&arena, ARENA_MAX);
	strcpy(path, path_of("x.py"));
	write_file(path, program, sizeof(program) - 1);
	for (size_t i = 0; i < 4; i++)
		lines[i].file = path;
	assert_non_null(source_cache_line(cache, path, 1));
	assert_int_equal(profile_sources_collect(&profile, cache, &arena), 0);
	assert_int_equal(profile.source_count, 1);
	source = profile.sources;
	/* Lines 4 to 12, and 13 to 18. */
	assert_int_equal(source->text_count, 15);
	for (int i = 0; i < 15; i++)
		assert_int_equal(source->texts[i].line, 4 + i);
	assert_string_equal(source->texts[6].text, "            result += x");
	assert_string_equal(source->texts[7].text, "");
	source_cache_destroy(cache);
	arena_deinit(&arena);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scope),
		cmocka_unit_test(test_collect),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
