/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cct/greenlet_base.h"

static size_t count_groups(const struct python_stack *python)
{
	size_t groups = 0;

	for (size_t i = 0; i < python->count; i++)
		groups += python->frames[i].entry;
	return groups;
}

size_t greenlet_base_find(const struct native_frame *native, size_t count,
			  const struct python_stack *python, const struct address_ranges *eval,
			  const struct address_ranges *greenlet)
{
	const uint32_t doubtful = PYTHON_STACK_TRUNCATED | PYTHON_STACK_INVALID | PYTHON_STACK_TORN;
	size_t groups, loops = 0;

	if (!greenlet->count || python->flags & doubtful)
		return count;
	groups = count_groups(python);
	for (size_t i = 0; i < count; i++) {
		remote_addr address = native_frame_lookup_address(&native[i], i == 0);
		bool next_is_too =
			i + 1 < count &&
			address_ranges_contain(greenlet,
					       native_frame_lookup_address(&native[i + 1], false));

		loops += address_ranges_contain(eval, address);
		if (address_ranges_contain(greenlet, address) && !next_is_too && loops >= groups)
			return i + 1;
	}
	return count;
}
