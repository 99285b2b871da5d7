/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/encode/file_uri.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *path_below(const char *path, const char *folder)
{
	size_t length = folder ? strlen(folder) : 0;

	while (length > 0 && folder[length - 1] == '/')
		length--;
	if (!length || strncmp(path, folder, length) != 0 || path[length] != '/')
		return path;
	while (path[length] == '/')
		length++;
	return path[length] ? path + length : path;
}

char *file_uri(const char *path)
{
	const char *scheme = *path == '/' ? "file://" : "";
	char *uri = malloc(strlen(scheme) + strlen(path) * 3 + 1);
	size_t used = strlen(scheme);

	if (!uri)
		return NULL;
	memcpy(uri, scheme, used);
	for (; *path; path++) {
		unsigned char byte = (unsigned char)*path;

		if (byte < 0x80 && (isalnum(byte) || strchr("-._~/", byte)))
			uri[used++] = (char)byte;
		else
			used += (size_t)sprintf(uri + used, "%%%02X", byte);
	}
	uri[used] = '\0';
	return uri;
}
