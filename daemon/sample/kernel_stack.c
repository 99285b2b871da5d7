/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/sample/kernel_stack.h"

#include <string.h>

/* Half of all addresses, the upper one. */
#define KERNEL_START (1ull << 63)

/* On the way from user code to what was asked for. */
static bool leads_in(const char *name)
{
	static const char *const names[] = { "do_syscall_64", "x64_sys_call", "ret_from_fork" };
	static const char *const beginnings[] = { "entry_", "__entry_", "asm_" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return true;
	for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++)
		if (!strncmp(name, beginnings[i], strlen(beginnings[i])))
			return true;
	return false;
}

/* NULL: unknown. */
static const char *name_of(struct kernel_functions *functions, const struct kernel_symbols *symbols,
			   const struct clock_sample *sample, size_t index)
{
	/* A call may be its function's last instruction: what is behind it is another function. */
	uint64_t address = clock_sample_kernel_address(sample, index) - (index > 0);

	return address >= KERNEL_START ? kernel_functions_find(functions, symbols, address) : NULL;
}

size_t kernel_stack_append(struct kernel_functions *functions, const struct kernel_symbols *symbols,
			   const struct clock_sample *sample, struct losses *losses,
			   struct frame *frames, size_t count, size_t maximum)
{
	const char *skipped = NULL;
	size_t first = count;

	for (size_t i = sample->kernel_count; i-- > 0 && count < maximum;) {
		const char *name = name_of(functions, symbols, sample, i);

		if (name && count == first && leads_in(name))
			skipped = name;
		else if (name)
			frames[count++] = frame_of_kernel(name);
	}
	if (count > first || count == maximum)
		return count;
	/* It went no further yet. */
	if (!skipped) {
		losses->counts[LOSS_KERNEL_UNNAMED]++;
		if (sample->system_call >= 0)
			skipped = kernel_functions_system_call(functions,
							       (unsigned)sample->system_call);
	}
	if (skipped)
		frames[count++] = frame_of_kernel(skipped);
	return count;
}
