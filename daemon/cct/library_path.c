/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cct/library_path.h"

#include <string.h>

bool path_is_library(const char *file)
{
	return strstr(file, "/site-packages/") || strstr(file, "/dist-packages/") ||
	       strstr(file, "/lib/python3") || strstr(file, "/lib64/python3") ||
	       !strncmp(file, "<__array_function__", 19) || !strncmp(file, "<frozen ", 8);
}
