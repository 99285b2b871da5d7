/* SPDX-License-Identifier: Apache-2.0 */
/* Whose doing CPU time is. */
#ifndef PIEPROFD_DAEMON_CCT_TIME_CLASS_H
#define PIEPROFD_DAEMON_CCT_TIME_CLASS_H

#include <stddef.h>
#include <stdint.h>

enum time_class {
	TIME_PYTHON, /* the interpreter on behalf of the line */
	TIME_NATIVE, /* library code the line called */
	TIME_SYSTEM, /* the kernel */
	TIME_CLASS_COUNT
};

/* Of all classes. */
static inline uint64_t time_sum(const uint64_t classes[TIME_CLASS_COUNT])
{
	uint64_t sum = 0;

	for (size_t c = 0; c < TIME_CLASS_COUNT; c++)
		sum += classes[c];
	return sum;
}

/* In user code: Python's and native, also where these are not told apart. */
static inline uint64_t time_user(const uint64_t classes[TIME_CLASS_COUNT])
{
	return classes[TIME_PYTHON] + classes[TIME_NATIVE];
}

#endif
