/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/encode/workflow_command.h"

#include "daemon/report/encode/escape.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* As GitHub's runner reads it back: %25, %0D, %0A, and in properties %3A and %2C. */
static int put_escaped(FILE *file, const char *text, const char *escaped)
{
	char *copy = malloc(strlen(text) * 3 + 1), *printable;
	size_t used = 0;

	if (!copy)
		return -ENOMEM;
	for (; *text; text++)
		if (strchr(escaped, *text))
			used += (size_t)sprintf(copy + used, "%%%02X", (unsigned char)*text);
		else
			copy[used++] = *text;
	copy[used] = '\0';
	printable = escape_printable(copy, '\0');
	free(copy);
	if (!printable)
		return -ENOMEM;
	fputs(printable, file);
	free(printable);
	return 0;
}

int workflow_message(FILE *file, const char *text)
{
	return put_escaped(file, text, "%\r\n");
}

int workflow_property(FILE *file, const char *text)
{
	return put_escaped(file, text, "%\r\n:,");
}
