/* SPDX-License-Identifier: Apache-2.0 */
#include "common/error.h"

#include "common/printable.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>

/* A file's or a process's name in it is whatever somebody else wants. */
__attribute__((format(printf, 3, 0))) static void put(char *text, size_t size, const char *format,
						      va_list arguments)
{
	char raw[sizeof(((struct error *)0)->cure)];

	vsnprintf(raw, sizeof(raw), format, arguments);
	printable_fit(text, size, raw, UINT_MAX, false);
}

void error_set(struct error *error, enum exit_code exit_code, const char *cause_format, ...)
{
	va_list arguments;

	error->exit_code = exit_code;
	error->cure[0] = '\0';
	va_start(arguments, cause_format);
	put(error->cause, sizeof(error->cause), cause_format, arguments);
	va_end(arguments);
}

void error_set_cure(struct error *error, const char *cure_format, ...)
{
	va_list arguments;

	va_start(arguments, cure_format);
	put(error->cure, sizeof(error->cure), cure_format, arguments);
	va_end(arguments);
}
