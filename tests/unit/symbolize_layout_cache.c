/* SPDX-License-Identifier: Apache-2.0 */
/* Answers that are kept: found again for the very same files, and for no others. */
#include "symbolize/layout_cache.h"

#include "symbolize/elf_image.h"
#include "symbolize/struct_layout.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* As in docs/SECURITY.md. */
#define FILES_MAX   64
#define ANSWERS_MAX 512

struct layout_cached {
	int before;
	long kept;
};

struct layout_cached layout_cached_object;

static const struct layout_question question = { "a", "b" };

static struct layout_source source_of(uint64_t inode)
{
	return (struct layout_source){ .module = { .inode = inode, .known = true } };
}

static void keep(struct layout_cache *cache, const struct layout_source *source, uint32_t value)
{
	layout_cache_keep(cache, source, &question, &(struct layout_answer){ .value = value });
}

static void expect(struct layout_cache *cache, const struct layout_source *source, uint32_t value)
{
	struct layout_answer answer = { .value = UINT32_MAX };

	assert_true(layout_cache_find(cache, source, &question, &answer));
	assert_int_equal(answer.error, 0);
	assert_int_equal(answer.value, value);
}

static void expect_none(struct layout_cache *cache, const struct layout_source *source)
{
	struct layout_answer answer;

	assert_false(layout_cache_find(cache, source, &question, &answer));
}

static void test_of_the_same_files(void **state)
{
	struct layout_cache *cache = layout_cache_create();
	struct layout_source plain = source_of(1), beside = source_of(1), hostile, unknown;

	(void)state;
	beside.has_debug = true;
	beside.debug = (struct file_identity){ .inode = 2, .known = true };
	/* One that a process has put beside the same module. */
	hostile = beside;
	hostile.debug.inode = 3;
	unknown = beside;
	unknown.debug.known = false;
	expect_none(cache, &plain);
	keep(cache, &plain, 1);
	keep(cache, &beside, 2);
	expect_none(cache, &hostile);
	keep(cache, &hostile, 3);
	keep(cache, &unknown, 4);
	expect(cache, &plain, 1);
	expect(cache, &beside, 2);
	expect(cache, &hostile, 3);
	expect_none(cache, &unknown);
	/* The first answer stays. */
	keep(cache, &plain, 5);
	expect(cache, &plain, 1);
	/* Written since. */
	plain.module.changed_ns++;
	expect_none(cache, &plain);
	layout_cache_destroy(cache);
	keep(NULL, &beside, 6);
	expect_none(NULL, &beside);
}

static void test_questions(void **state)
{
	struct layout_cache *cache = layout_cache_create();
	struct layout_source source = source_of(1);
	const struct layout_question alike[] = { { "ab", NULL }, { "a", "" }, { "", "ab" } };
	static char longer[LAYOUT_CACHE_TEXT_MAX + 1];
	struct layout_answer answer = { .error = -ENOENT };

	(void)state;
	keep(cache, &source, 1);
	for (size_t i = 0; i < sizeof(alike) / sizeof(alike[0]); i++) {
		assert_false(layout_cache_find(cache, &source, &alike[i], &answer));
		layout_cache_keep(cache, &source, &alike[i],
				  &(struct layout_answer){ .error = -ENOENT });
		assert_true(layout_cache_find(cache, &source, &alike[i], &answer));
		assert_int_equal(answer.error, -ENOENT);
	}
	memset(longer, 'x', sizeof(longer) - 1);
	layout_cache_keep(cache, &source, &(struct layout_question){ longer, NULL }, &answer);
	assert_false(layout_cache_find(cache, &source, &(struct layout_question){ longer, NULL },
				       &answer));
	layout_cache_destroy(cache);
}

static void test_bounds(void **state)
{
	struct layout_cache *cache = layout_cache_create();
	struct layout_source source;
	struct layout_answer answer;
	char type[32];

	(void)state;
	for (uint32_t i = 1; i <= FILES_MAX; i++) {
		source = source_of(i);
		keep(cache, &source, i);
	}
	source = source_of(1);
	expect(cache, &source, 1);
	/* The second is now the one that was asked longest ago. */
	source = source_of(FILES_MAX + 1);
	keep(cache, &source, 7);
	expect(cache, &source, 7);
	source = source_of(1);
	expect(cache, &source, 1);
	source = source_of(2);
	expect_none(cache, &source);
	source = source_of(3);
	expect(cache, &source, 3);
	for (int i = 0; i <= ANSWERS_MAX; i++) {
		struct layout_question more = { type, NULL };

		snprintf(type, sizeof(type), "type %d", i);
		layout_cache_keep(cache, &source, &more, &(struct layout_answer){ .value = 1 });
		/* One answer was there. */
		assert_int_equal(layout_cache_find(cache, &source, &more, &answer),
				 i < ANSWERS_MAX - 1);
	}
	layout_cache_destroy(cache);
}

static uint32_t ask(struct layout_cache *cache, struct elf_image *image)
{
	const struct module module = { .image = image, .path = "", .name = "" };
	struct symbolizer *symbolizer = symbolizer_create();
	struct struct_layout *layout = struct_layout_create(symbolizer, &module);
	struct debug_info info = struct_layout_debug_info(layout);
	uint32_t offset = UINT32_MAX;

	symbolizer_set_layouts(symbolizer, cache);
	assert_int_equal(info.member_offset(info.context, "layout_cached", "kept", &offset), 0);
	struct_layout_destroy(layout);
	symbolizer_destroy(symbolizer);
	return offset;
}

/* Of this program's own file: what was kept of it is believed, and of another state of it is not.
 */
static void test_layout(void **state)
{
	const struct layout_question kept = { "layout_cached", "kept" };
	const uint32_t offset = offsetof(struct layout_cached, kept);
	struct layout_cache *cache = layout_cache_create();
	struct layout_source source = source_of(1);
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct layout_answer answer;
	struct elf_image *image;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(elf_image_open(fd, &image), 0);
	close(fd);
	image->identity = source.module;
	assert_int_equal(ask(cache, image), offset);
	assert_true(layout_cache_find(cache, &source, &kept, &answer));
	assert_int_equal(answer.value, offset);
	image->identity.inode = source.module.inode = 2;
	layout_cache_keep(cache, &source, &kept, &(struct layout_answer){ .value = 77 });
	assert_int_equal(ask(cache, image), 77);
	image->identity.changed_ns++;
	assert_int_equal(ask(cache, image), offset);
	/* It was written a moment ago, and may be once more. */
	image->identity.known = false;
	assert_int_equal(ask(cache, image), offset);
	assert_int_equal(ask(NULL, image), offset);
	elf_image_close(image);
	layout_cache_destroy(cache);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_of_the_same_files),
		cmocka_unit_test(test_questions),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_layout),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
