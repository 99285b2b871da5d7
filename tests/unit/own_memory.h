/* SPDX-License-Identifier: Apache-2.0 */
/* A target that is this process: forged objects are read where they lie. */
#ifndef PIEPROFD_TESTS_UNIT_OWN_MEMORY_H
#define PIEPROFD_TESTS_UNIT_OWN_MEMORY_H

#include "common/memory.h"

#include <errno.h>
#include <string.h>

static int own_memory_read(void *context, struct memory_range *ranges, size_t count)
{
	(void)context;
	for (size_t i = 0; i < count; i++) {
		/* Nothing is forged in the first page. */
		ranges[i].error = ranges[i].address < 4096 ? -EFAULT : 0;
		if (!ranges[i].error)
			memcpy(ranges[i].buffer, (const void *)(uintptr_t)ranges[i].address,
			       ranges[i].size);
	}
	return 0;
}

static const struct memory_reader own_memory = { own_memory_read, NULL };

static inline remote_addr own_address(const void *object)
{
	return (remote_addr)(uintptr_t)object;
}

/* Writes a word of a forged object. */
static inline void own_forge(void *object, size_t offset, uint64_t word)
{
	memcpy((uint8_t *)object + offset, &word, sizeof(word));
}

#endif
