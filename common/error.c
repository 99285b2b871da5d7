/* SPDX-License-Identifier: Apache-2.0 */
#include "common/error.h"

#include <stdarg.h>
#include <stdio.h>

void error_set(struct error *error, enum exit_code exit_code, const char *cause_format, ...)
{
	va_list arguments;

	error->exit_code = exit_code;
	error->cure[0] = '\0';
	va_start(arguments, cause_format);
	vsnprintf(error->cause, sizeof(error->cause), cause_format, arguments);
	va_end(arguments);
}

void error_set_cure(struct error *error, const char *cure_format, ...)
{
	va_list arguments;

	va_start(arguments, cure_format);
	vsnprintf(error->cure, sizeof(error->cure), cure_format, arguments);
	va_end(arguments);
}
