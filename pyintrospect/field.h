/* SPDX-License-Identifier: Apache-2.0 */
/* A field of a structure of the target's, out of a copy of its bytes. */
#ifndef PIEPROFD_PYINTROSPECT_FIELD_H
#define PIEPROFD_PYINTROSPECT_FIELD_H

#include <stdint.h>
#include <string.h>

static inline uint64_t field_u64(const uint8_t *structure, int32_t offset)
{
	uint64_t value;

	memcpy(&value, structure + offset, sizeof(value));
	return value;
}

static inline int32_t field_i32(const uint8_t *structure, int32_t offset)
{
	int32_t value;

	memcpy(&value, structure + offset, sizeof(value));
	return value;
}

#endif
