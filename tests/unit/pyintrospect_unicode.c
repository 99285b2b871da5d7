/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/unicode.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define STATE(kind, compact, ascii) ((uint32_t)((kind) << 2 | (compact) << 5 | (ascii) << 6))

static void make_head(const struct python_offsets *offsets, uint8_t *head, uint64_t length,
		      uint32_t state, uint64_t data)
{
	memset(head, 0xee, UNICODE_HEAD_MAX);
	memcpy(head + offsets->string_length, &length, sizeof(length));
	memcpy(head + offsets->string_state, &state, sizeof(state));
	memcpy(head + offsets->string_compact_data, &data, sizeof(data));
}

static void test_heads(void **state)
{
	const struct python_offsets *offsets = &python_layout_builtin(11)->offsets;
	uint8_t head[UNICODE_HEAD_MAX];
	struct unicode unicode;

	(void)state;
	assert_true(unicode_head_size(offsets) <= UNICODE_HEAD_MAX);
	make_head(offsets, head, 5, STATE(1, 1, 1), 0);
	assert_int_equal(unicode_parse(offsets, 0x1000, head, &unicode), 0);
	assert_int_equal(unicode.width, 1);
	assert_int_equal(unicode.characters, 5);
	assert_int_equal(unicode.data, 0x1000 + 48);
	make_head(offsets, head, 5, STATE(2, 1, 0), 0);
	assert_int_equal(unicode_parse(offsets, 0x1000, head, &unicode), 0);
	assert_int_equal(unicode.width, 2);
	assert_int_equal(unicode.data, 0x1000 + 72);
	/* An instance of a subclass of str keeps its characters elsewhere. */
	make_head(offsets, head, 5, STATE(4, 0, 0), 0x7777);
	assert_int_equal(unicode_parse(offsets, 0x1000, head, &unicode), 0);
	assert_int_equal(unicode.width, 4);
	assert_int_equal(unicode.data, 0x7777);
	make_head(offsets, head, 1 << 30, STATE(1, 1, 1), 0);
	assert_int_equal(unicode_parse(offsets, 0x1000, head, &unicode), 0);
	assert_int_equal(unicode.characters, UNICODE_CHARACTERS_MAX);
	make_head(offsets, head, UINT64_MAX, STATE(1, 1, 1), 0);
	assert_int_equal(unicode_parse(offsets, 0x1000, head, &unicode), -EBADMSG);
	for (unsigned kind = 0; kind < 8; kind++) {
		make_head(offsets, head, 5, STATE(kind, 1, 0), 0);
		assert_int_equal(unicode_parse(offsets, 0x1000, head, &unicode),
				 kind == 1 || kind == 2 || kind == 4 ? 0 : -EBADMSG);
	}
	make_head(offsets, head, 5, STATE(2, 1, 1), 0);
	assert_int_equal(unicode_parse(offsets, 0x1000, head, &unicode), -EBADMSG);
}

static void test_ascii(void **state)
{
	uint8_t head[UNICODE_HEAD_MAX];

	(void)state;
	for (int minor = 6; minor <= 15; minor++) {
		const struct python_offsets *offsets = &python_layout_builtin(minor)->offsets;
		unsigned shift = (unsigned)offsets->string_kind;

		/* Kind 1, compact, ASCII; and all that lack one of these. */
		make_head(offsets, head, 5, (1u | 1u << 3 | 1u << 4) << shift, 0);
		assert_true(unicode_is_ascii(offsets, head));
		make_head(offsets, head, 5, (1u | 1u << 3) << shift, 0);
		assert_false(unicode_is_ascii(offsets, head));
		make_head(offsets, head, 5, (1u | 1u << 4) << shift, 0);
		assert_false(unicode_is_ascii(offsets, head));
		make_head(offsets, head, 5, (2u | 1u << 3 | 1u << 4) << shift, 0);
		assert_false(unicode_is_ascii(offsets, head));
	}
}

static void test_widths(void **state)
{
	const uint8_t one[] = { 'a', 0xe9, 0x7f, 0x80 };
	const uint16_t two[] = { 'a', 0xe9, 0x4e2d, 0xd800, 0xdcff, 0 };
	const uint32_t four[] = {
		'a', 0x7ff, 0x800, 0xffff, 0x10000, 0x10ffff, 0x110000, UINT32_MAX
	};
	char text[64];

	(void)state;
	assert_int_equal(unicode_to_utf8(one, 1, 4, text, sizeof(text)), 6);
	assert_string_equal(text, "a\xc3\xa9\x7f\xc2\x80");
	unicode_to_utf8((const uint8_t *)two, 2, 6, text, sizeof(text));
	assert_string_equal(text, "a\xc3\xa9\xe4\xb8\xad\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
	unicode_to_utf8((const uint8_t *)four, 4, 8, text, sizeof(text));
	assert_string_equal(text,
			    "a\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf"
			    "\xef\xbf\xbd\xef\xbf\xbd");
	assert_int_equal(unicode_to_utf8(one, 1, 0, text, 1), 0);
	assert_string_equal(text, "");
}

/* What does not fit is left out whole. */
static void test_short_buffers(void **state)
{
	const uint16_t characters[] = { 'a', 0x4e2d, 'b' };
	const char *const expected[] = { NULL,
					 "",
					 "a",
					 "a",
					 "a",
					 "a\xe4\xb8\xad",
					 "a\xe4\xb8\xad"
					 "b" };

	(void)state;
	for (size_t size = 1; size <= 6; size++) {
		char *text = malloc(size);

		assert_int_equal(unicode_to_utf8((const uint8_t *)characters, 2, 3, text, size),
				 strlen(expected[size]));
		assert_string_equal(text, expected[size]);
		free(text);
	}
}

static bool valid_utf8(const char *text)
{
	const uint8_t *byte = (const uint8_t *)text;

	while (*byte) {
		unsigned more = *byte < 0x80 ? 0 : *byte >= 0xf0 ? 3 : *byte >= 0xe0 ? 2 : 1;

		if (*byte >= 0x80 && *byte < 0xc2)
			return false;
		for (byte++; more; more--, byte++)
			if ((*byte & 0xc0) != 0x80)
				return false;
	}
	return true;
}

static void test_any_characters(void **state)
{
	(void)state;
	srand(4);
	for (unsigned i = 0; i < 100000; i++) {
		const unsigned widths[] = { 1, 2, 4 };
		unsigned width = widths[rand() % 3];
		size_t characters = (size_t)rand() % 20, length;
		uint8_t *data = malloc(characters * width + 1);
		char *text = malloc(unicode_utf8_size_max(characters));

		for (size_t j = 0; j < characters * width; j++)
			data[j] = (uint8_t)(rand() % 3 ? rand() : 0);
		length = unicode_to_utf8(data, width, characters, text,
					 unicode_utf8_size_max(characters));
		assert_int_equal(length, strlen(text));
		assert_true(valid_utf8(text));
		free(data);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_heads),          cmocka_unit_test(test_ascii),
		cmocka_unit_test(test_widths),         cmocka_unit_test(test_short_buffers),
		cmocka_unit_test(test_any_characters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
