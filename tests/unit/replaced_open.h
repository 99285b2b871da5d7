/* SPDX-License-Identifier: Apache-2.0 */
/* open(2) in the place of the C library's: a test program decides for some paths. */
#ifndef PIEPROFD_TESTS_UNIT_REPLACED_OPEN_H
#define PIEPROFD_TESTS_UNIT_REPLACED_OPEN_H

#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

/* True: *ret_result is what open() returns, with errno. */
static bool decide_open(const char *path, int *ret_result);

int open(const char *path, int flags, ...)
{
	va_list arguments;
	mode_t mode;
	int result;

	va_start(arguments, flags);
	mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;
	va_end(arguments);
	if (decide_open(path, &result))
		return result;
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

#endif
