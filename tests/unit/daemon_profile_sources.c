/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the source files of a profile are still those that were sampled. */
#include "daemon/report/model/profile_sources.h"
#include "recorded_files.h"

static void test_changed_sources(void **state)
{
	struct profile_source source = { .sha256 = "" };
	struct profile profile = { .sources = &source, .source_count = 1 };
	struct source_version version;
	struct arena arena;
	char path[128], *words;
	int fd;

	(void)state;
	arena_init(&arena, ARENA_MAX);
	strcpy(path, path_of("x.py"));
	write_file(path, "print(1)\n", 9);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(source_version_read(fd, &version), 0);
	close(fd);
	assert_string_equal(version.sha256, /* sha256sum's */
			    "cc42155088fca5730758db72b2a5bca33112a941dfaa2d43098ec422ce4ea213");
	source = (struct profile_source){ .file = path, .sha256 = version.sha256, .size = 9 };
	assert_int_equal(profile_sources_compare(&profile, &arena), 0);
	assert_false(profile.sources[0].differs_now);
	assert_null(profile_sources_differing(&profile));
	/* Of the same length. */
	write_file(path, "print(2)\n", 9);
	assert_int_equal(profile_sources_compare(&profile, &arena), 0);
	assert_true(profile.sources[0].differs_now);
	words = profile_sources_differing(&profile);
	assert_non_null(strstr(words, "x.py changed since the recording"));
	free(words);
	assert_null(profile_sources_newer(&profile));
	/* Somebody else's files by the same names. */
	profile.sources = &source;
	profile.facts.other_root = true;
	assert_int_equal(profile_sources_compare(&profile, &arena), 0);
	assert_false(profile.sources[0].differs_now);
	/* Not on this machine. */
	profile.facts.other_root = false;
	unlink(path);
	assert_int_equal(profile_sources_compare(&profile, &arena), 0);
	assert_false(profile.sources[0].differs_now);
	arena_deinit(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_changed_sources),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
