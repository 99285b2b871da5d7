/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording of a program that compared no arguments: its lines have fewer
 * columns, and its evidence has fewer words. Made of a new one by leaving out
 * what was not there.
 */
#include "daemon/report/recording/profile_codec.h"
#include "daemon/report/recording/profile_fields.h"
#include "report_sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define ARENA_MAX ((size_t)64 << 20)

/* The older evidence, word by word: three kinds of time, support of six categories, four kinds of
 * memory, and 13 single counts. */
#define TIMES      3
#define CATEGORIES 6
#define MEMORIES   4
#define WORDS      (TIMES + CATEGORIES + MEMORIES + 13)

static const char *const newer_columns[] = {
	"finding", "finding_ns", "expression", "column", "end_column", "end_line",
};

struct older {
	uint8_t *bytes;
	size_t size;
	const char *strings;
	size_t left_out; /* columns */
	size_t shortened;
};

static void put(struct older *older, const void *bytes, size_t size)
{
	memcpy(older->bytes + older->size, bytes, size);
	older->size += size;
}

static const char *name_of(const struct older *older, const uint8_t *at)
{
	const char *text = older->strings;
	uint32_t number;

	memcpy(&number, at, sizeof(number));
	while (number-- > 0)
		text += strlen(text) + 1;
	return text;
}

static bool is_newer(const char *name)
{
	for (size_t i = 0; i < sizeof(newer_columns) / sizeof(newer_columns[0]); i++)
		if (!strcmp(name, newer_columns[i]))
			return true;
	return false;
}

/* Past the column at *at, which is taken over as the older program would have written it. */
static void put_column(struct older *older, const uint8_t **at, uint64_t rows, bool of_lines)
{
	const char *name = name_of(older, *at);
	const uint8_t *cells = *at + 8;
	uint16_t width, shorter = WORDS * 8;

	memcpy(&width, *at + 6, sizeof(width));
	if (of_lines && !strcmp(name, "evidence")) {
		put(older, *at, 6);
		put(older, &shorter, sizeof(shorter));
		for (uint64_t row = 0; row < rows; row++)
			for (uint64_t word = 1; word <= WORDS; word++)
				put(older, &word, sizeof(word));
		assert_true(width > shorter);
		older->shortened++;
	} else if (of_lines && is_newer(name)) {
		older->left_out++;
	} else {
		put(older, *at, 8 + rows * width);
	}
	*at = cells + rows * width;
}

static void make_older(struct older *older, const uint8_t *bytes, size_t size)
{
	const uint8_t *at = bytes, *end = bytes + size;
	uint64_t string_size, rows;
	uint32_t columns, kept;

	*older = (struct older){ .bytes = malloc(2 * size), .strings = (const char *)bytes + 8 };
	assert_non_null(older->bytes);
	memcpy(&string_size, at, sizeof(string_size));
	put(older, at, 8 + string_size);
	at += 8 + string_size;
	while (at < end) {
		bool of_lines = !strcmp(name_of(older, at), "lines");
		size_t head = older->size;

		put(older, at, 16);
		memcpy(&columns, at + 4, sizeof(columns));
		memcpy(&rows, at + 8, sizeof(rows));
		at += 16;
		for (uint32_t i = 0; i < columns; i++)
			put_column(older, &at, rows, of_lines);
		kept = columns - (of_lines ? (uint32_t)older->left_out : 0);
		memcpy(older->bytes + head + 4, &kept, sizeof(kept));
	}
}

static void check_line(const struct profile_line *line)
{
	static const struct argument_evidence none;
	const struct line_evidence *evidence = &line->evidence;

	assert_int_equal(evidence->charged_ns[TIME_PYTHON], 1);
	assert_int_equal(evidence->support[CATEGORY_UNCLEAR], TIMES + 1);
	assert_int_equal(evidence->support[CATEGORY_INEFFICIENT_ALGORITHM], TIMES + CATEGORIES);
	assert_int_equal(evidence->redundant_by_memory[0], TIMES + CATEGORIES + 1);
	assert_int_equal(evidence->repeated, TIMES + CATEGORIES + MEMORIES + 1);
	assert_int_equal(evidence->again_stores, WORDS);
	assert_memory_equal(&evidence->arguments, &none, sizeof(none));
	assert_null(line->finding);
	assert_null(line->expression);
}

static void test_is_read(void **state)
{
	const struct profile sample = sample_profile();
	struct profile profile;
	struct older older;
	struct arena arena;
	uint8_t *bytes;
	size_t size;

	(void)state;
	assert_int_equal(profile_encode(&sample, &bytes, &size), 0);
	make_older(&older, bytes, size);
	assert_int_equal(older.left_out, 6);
	assert_int_equal(older.shortened, 1);
	arena_init(&arena, ARENA_MAX);
	assert_int_equal(profile_decode(older.bytes, older.size, &arena, &profile), 0);
	assert_true(profile.line_count > 0);
	assert_int_equal(profile.line_count, sample.line_count);
	for (size_t i = 0; i < profile.line_count; i++)
		check_line(&profile.lines[i]);
	arena_deinit(&arena);
	free(older.bytes);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
