/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which function of the kernel an address lies in. Whoever can is asked once for each function;
 * addresses stay in here, and names alone come out: where the kernel lies in memory is nobody's
 * business (kptr_restrict), what its functions are called is no secret.
 *
 * A module that is taken out of the kernel and another that takes its place while a session
 * lasts are not told apart.
 */
#ifndef PIEPROFD_ATTACH_KERNEL_FUNCTIONS_H
#define PIEPROFD_ATTACH_KERNEL_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The kernel's own bound was 128, and is 512 since 6.1; longer names than that are Rust's. */
#define KERNEL_NAME_BYTES    128
#define KERNEL_FUNCTIONS_MAX 8192

struct kernel_function {
	uint64_t start, end;
	const char *name;
};

struct kernel_functions {
	struct kernel_function *items; /* by start */
	size_t count, capacity;
};

/* Writes what the kernel prints of an address. 0 or a negative errno. */
struct kernel_symbols {
	int (*symbol)(void *context, uint64_t address, char *ret_text, size_t size);
	void *context;
};

void kernel_functions_deinit(struct kernel_functions *functions);

/*
 * The name lives as long as functions do. NULL: the kernel has none to tell, there is no memory,
 * or there are KERNEL_FUNCTIONS_MAX already.
 */
const char *kernel_functions_find(struct kernel_functions *functions,
				  const struct kernel_symbols *symbols, uint64_t address);

/* "system call 318", likewise: number is less than any address of the kernel's. */
const char *kernel_functions_system_call(struct kernel_functions *functions, unsigned number);

/*
 * "name+0x1a/0x90 [module]" of this address. False: it is no such thing, as for "0x1234", or the
 * name is not all printable ASCII; it is cut if need be. Pure.
 */
bool kernel_function_parse(const char *text, uint64_t address, char ret_name[KERNEL_NAME_BYTES],
			   uint64_t *ret_start, uint64_t *ret_end);

#endif
