/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cct/window_fields.h"

#include <stdint.h>
#include <string.h>

static void subtract_words(const struct window_field *field, void *now, const void *before)
{
	for (size_t at = 0; at + sizeof(uint64_t) <= field->size; at += sizeof(uint64_t)) {
		uint64_t a, b;

		memcpy(&a, (char *)now + field->offset + at, sizeof(a));
		memcpy(&b, (const char *)before + field->offset + at, sizeof(b));
		a = a > b ? a - b : 0;
		memcpy((char *)now + field->offset + at, &a, sizeof(a));
	}
}

void window_subtract(const struct window_table *table, void *now, const void *before)
{
	for (size_t i = 0; i < table->count; i++)
		if (table->fields[i].rule == WINDOW_SUBTRACT)
			subtract_words(&table->fields[i], now, before);
}
