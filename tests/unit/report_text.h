/* SPDX-License-Identifier: Apache-2.0 */
/* What a text report says, and in which order. */
#ifndef PIEPROFD_TESTS_UNIT_REPORT_TEXT_H
#define PIEPROFD_TESTS_UNIT_REPORT_TEXT_H

#include "daemon/report/format/writer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const struct writer_options defaults;

static void check_has(const char *text, const char *expected)
{
	if (!strstr(text, expected))
		print_error("missing: %s\nin:\n%s\n", expected, text);
	assert_non_null(strstr(text, expected));
}

static void check_has_not(const char *text, const char *unexpected)
{
	if (strstr(text, unexpected))
		print_error("there is: %s\nin:\n%s\n", unexpected, text);
	assert_null(strstr(text, unexpected));
}

/* Each of the words after the one before. */
static void check_order(const char *text, const char *const *words, size_t count)
{
	const char *at = text;

	for (size_t i = 0; i < count; i++) {
		const char *found = strstr(at, words[i]);

		if (!found)
			print_error("missing, or out of order: %s\nin:\n%s\n", words[i], text);
		assert_non_null(found);
		at = found + strlen(words[i]);
		/* The next may begin with the line end that this one ends with. */
		if (at[-1] == '\n')
			at--;
	}
}

#endif
