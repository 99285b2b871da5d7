/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread's stack unwound by what a file says: our own rules, libunwind where
 * they do not do, and the search for return addresses where there are none.
 *
 *   u16 rip, rsp, rbp, each from the beginning of the file or of the stack
 *   u16 size of the stack, the stack: its words' lowest bit set means an address
 *   in the file, the next one an address on the stack
 *   the file
 */
#include "symbolize/unwinder.h"
#include "tests/fuzz/fuzz.h"

#define LOAD_ADDRESS  0x7f0000000000ull
#define LOAD_BYTES    (1u << 20)
#define STACK_ADDRESS 0x7ffe00000000ull
#define STACK_BYTES   4096u
#define FRAMES_MAX    32

static int open_file(void *context, const struct mapping *mapping)
{
	(void)mapping;
	return dup(*(const int *)context);
}

static void make_stack(struct fuzz_input *input, uint64_t *words)
{
	size_t wanted = (size_t)fuzz_number(input, 2), size;
	const uint8_t *bytes = fuzz_take(input, wanted < STACK_BYTES ? wanted : STACK_BYTES, &size);

	memset(words, 0, STACK_BYTES);
	if (size)
		memcpy(words, bytes, size);
	for (size_t i = 0; i < STACK_BYTES / 8; i++) {
		if (words[i] & 1)
			words[i] = LOAD_ADDRESS + (words[i] >> 1) % LOAD_BYTES;
		else if (words[i] & 2)
			words[i] = STACK_ADDRESS + (words[i] >> 2) % STACK_BYTES;
	}
}

static void unwind(struct unwinder *unwinder, const struct registers *registers,
		   const struct stack_snapshot *stack)
{
	struct native_frame frames[FRAMES_MAX];
	struct address_ranges parts = { .count = 1 };
	size_t count = 0;

	for (unsigned pass = 0; pass < 2; pass++) {
		enum unwind_end end = unwinder_unwind(unwinder, registers, stack, NULL, frames,
						      FRAMES_MAX, &count);

		fuzz_must(end < UNWIND_END_COUNT && count >= 1 && count <= FRAMES_MAX);
		fuzz_must(frames[0].pc == registers->rip);
	}
	if (unwinder_function_range(unwinder, registers->rip, &parts.items[0]) == 0) {
		fuzz_must(address_range_contains(parts.items[0], registers->rip));
		(void)!unwinder_function_parts(unwinder, parts.items[0], &parts);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = { data, size };
	struct registers registers = {
		.rip = LOAD_ADDRESS + fuzz_number(&input, 2),
		.general = { [REGISTER_RSP] = STACK_ADDRESS + fuzz_number(&input, 2) % STACK_BYTES,
			     [REGISTER_RBP] =
				     STACK_ADDRESS + fuzz_number(&input, 2) % STACK_BYTES },
	};
	uint64_t *words = malloc(STACK_BYTES);
	struct mapping mapping = {
		.start = LOAD_ADDRESS,
		.end = LOAD_ADDRESS + LOAD_BYTES,
		.device = 1,
		.inode = 1,
		.protection = PROT_READ | PROT_EXEC,
		.path = "/fuzz",
	};
	const struct mapping_list list = { .mappings = &mapping, .count = 1, .generation = 1 };
	struct stack_snapshot stack = { STACK_ADDRESS, STACK_BYTES, NULL };
	struct module_table *modules;
	struct unwinder *unwinder;
	int fd;

	fuzz_must(words);
	make_stack(&input, words);
	stack.bytes = (const uint8_t *)words;
	fd = fuzz_file(input.at, input.left);
	modules = module_table_create(&(const struct mapping_opener){ open_file, &fd }, NULL);
	fuzz_must(modules);
	fuzz_must(module_table_update(modules, &list) == 0);
	unwinder = unwinder_create(modules, NULL);
	fuzz_must(unwinder);
	unwind(unwinder, &registers, &stack);
	unwinder_destroy(unwinder);
	module_table_destroy(modules);
	close(fd);
	free(words);
	return 0;
}
