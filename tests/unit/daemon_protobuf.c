/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of messages, byte by byte as the encoding has them. */
#include "daemon/report/encode/protobuf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void check(struct protobuf *message, const void *bytes, size_t size)
{
	assert_false(message->failed);
	assert_int_equal(message->size, size);
	assert_memory_equal(message->bytes, bytes, size);
	protobuf_clear(message);
}

static void test_numbers(void **state)
{
	struct protobuf message = { 0 };

	(void)state;
	protobuf_number(&message, 1, 150);
	check(&message, "\x08\x96\x01", 3);
	/* Zero is what a field without a value has, and what one may have that is there. */
	protobuf_number(&message, 1, 0);
	assert_int_equal(message.size, 0);
	protobuf_present_number(&message, 4, 0);
	check(&message, "\x20\x00", 2);
	protobuf_present_number(&message, 4, (uint64_t)-1);
	check(&message, "\x20\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11);
	protobuf_fixed64(&message, 47, 0x0102030405060708);
	check(&message, "\xf9\x02\x08\x07\x06\x05\x04\x03\x02\x01", 10);
	protobuf_deinit(&message);
}

static void test_submessage(void **state)
{
	struct protobuf message = { 0 }, inner = { 0 };

	(void)state;
	protobuf_bytes(&inner, 2, "ab", 2);
	protobuf_submessage(&message, 3, &inner);
	check(&message,
	      "\x1a\x04\x12\x02"
	      "ab",
	      6);
	inner.failed = true;
	protobuf_submessage(&message, 3, &inner);
	assert_true(message.failed);
	protobuf_deinit(&message);
	protobuf_deinit(&inner);
}

/* Names are the target's: none makes a whole message unreadable. */
static void test_text(void **state)
{
	static const char *const texts[][2] = {
		{ "", "" },
		{ "gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f" },
		/* Cut off, as a thread's name of fifteen bytes may be; Latin-1; a surrogate;
		   overlong. */
		{ "ab\xc3", "ab\xef\xbf\xbd" },
		{ "\xfc!", "\xef\xbf\xbd!" },
		{ "\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
		{ "\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct protobuf text = { 0 }, bytes = { 0 };

		protobuf_text(&text, 3, texts[i][0]);
		protobuf_bytes(&bytes, 3, texts[i][1], strlen(texts[i][1]));
		assert_int_equal(text.size, bytes.size);
		assert_memory_equal(text.bytes, bytes.bytes, bytes.size);
		protobuf_deinit(&text);
		protobuf_deinit(&bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_submessage),
		cmocka_unit_test(test_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
