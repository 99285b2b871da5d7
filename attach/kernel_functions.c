/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/kernel_functions.h"

#include "common/array.h"

#include <errno.h>
#include <stdio.h>

/* As much as the kernel ever prints, and more. */
#define SYMBOL_BYTES 704

void kernel_functions_deinit(struct kernel_functions *functions)
{
	for (size_t i = 0; i < functions->count; i++)
		free((char *)(uintptr_t)functions->items[i].name);
	free(functions->items);
	*functions = (struct kernel_functions){ 0 };
}

/* Behind prefix, in hexadecimal; the rest of the text, or NULL. */
static const char *take_number(const char *text, const char *prefix, uint64_t *ret_number)
{
	size_t length = strlen(prefix);
	char *end;

	if (strncmp(text, prefix, length) != 0 || !strchr("0123456789abcdef", text[length]) ||
	    !text[length])
		return NULL;
	errno = 0;
	*ret_number = strtoull(text + length, &end, 16);
	return errno ? NULL : end;
}

bool kernel_function_parse(const char *text, uint64_t address, char ret_name[KERNEL_NAME_BYTES],
			   uint64_t *ret_start, uint64_t *ret_end)
{
	size_t length = strcspn(text, "+");
	uint64_t offset, size, end;
	const char *rest = take_number(text + length, "+0x", &offset);

	rest = rest ? take_number(rest, "/0x", &size) : NULL;
	if (!rest || (*rest && *rest != ' ') || !length || offset >= size || offset > address ||
	    __builtin_add_overflow(address - offset, size, &end))
		return false;
	/* Names begin with a letter or the like; what does not is an address, which nobody shall
	 * see.
	 */
	if (text[0] >= '0' && text[0] <= '9')
		return false;
	for (size_t i = 0; i < length; i++)
		if (text[i] <= ' ' || text[i] > '~')
			return false;
	snprintf(ret_name, KERNEL_NAME_BYTES, "%.*s", (int)length, text);
	*ret_start = address - offset;
	*ret_end = end;
	return true;
}

/* How many begin at the address or before it. */
static size_t position_of(const struct kernel_functions *functions, uint64_t address)
{
	size_t low = 0, high = functions->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (functions->items[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static const char *look_up(const struct kernel_functions *functions, uint64_t address)
{
	size_t position = position_of(functions, address);

	if (!position || address >= functions->items[position - 1].end)
		return NULL;
	return functions->items[position - 1].name;
}

static const char *keep(struct kernel_functions *functions, uint64_t start, uint64_t end,
			const char *name)
{
	size_t position = position_of(functions, start);
	char *copy;

	if (functions->count == KERNEL_FUNCTIONS_MAX ||
	    !ARRAY_ROOM(functions->items, functions->count, functions->capacity))
		return NULL;
	copy = strdup(name);
	if (!copy)
		return NULL;
	memmove(functions->items + position + 1, functions->items + position,
		(functions->count - position) * sizeof(functions->items[0]));
	functions->items[position] = (struct kernel_function){ start, end, copy };
	functions->count++;
	return copy;
}

const char *kernel_functions_find(struct kernel_functions *functions,
				  const struct kernel_symbols *symbols, uint64_t address)
{
	const char *known = look_up(functions, address);
	char text[SYMBOL_BYTES], name[KERNEL_NAME_BYTES];
	uint64_t start, end;

	if (known)
		return known;
	if (symbols->symbol(symbols->context, address, text, sizeof(text)) ||
	    !kernel_function_parse(text, address, name, &start, &end))
		return NULL;
	return keep(functions, start, end, name);
}

const char *kernel_functions_system_call(struct kernel_functions *functions, unsigned number)
{
	const char *known = look_up(functions, number);
	char name[32];

	if (known)
		return known;
	snprintf(name, sizeof(name), "system call %u", number);
	return keep(functions, number, (uint64_t)number + 1, name);
}
