/* SPDX-License-Identifier: Apache-2.0 */
/* Whose code a Python file is, by its path alone. */
#ifndef PIEPROFD_DAEMON_CCT_LIBRARY_PATH_H
#define PIEPROFD_DAEMON_CCT_LIBRARY_PATH_H

#include <stdbool.h>

/* A library's, or the interpreter's own? */
bool path_is_library(const char *file);

/* So many of a library's functions may wrap a call and be no more than its wrappers. */
#define WRAPPERS_MAX 8

#endif
