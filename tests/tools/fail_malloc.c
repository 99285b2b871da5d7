/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preloaded, makes one allocation of a program fail, or all from one on:
 *
 *   FAIL_MALLOC_AT=N     the N-th, counted from 1
 *   FAIL_MALLOC_FROM=N   the N-th and all that follow
 *   FAIL_MALLOC_COUNT=F  says at exit in file F how many there were
 *
 * For glibc, whose own functions are called by their inner names.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static unsigned long calls, at, from;

__attribute__((constructor)) static void begin(void)
{
	const char *number = getenv("FAIL_MALLOC_AT");

	at = number ? strtoul(number, NULL, 10) : 0;
	number = getenv("FAIL_MALLOC_FROM");
	from = number ? strtoul(number, NULL, 10) : 0;
	/* What the loader took is not counted. */
	__atomic_store_n(&calls, 0, __ATOMIC_RELAXED);
}

__attribute__((destructor)) static void end(void)
{
	const char *path = getenv("FAIL_MALLOC_COUNT");
	unsigned long total = __atomic_load_n(&calls, __ATOMIC_RELAXED);
	FILE *file;

	at = from = 0;
	file = path ? fopen(path, "w") : NULL;
	if (file) {
		fprintf(file, "%lu\n", total);
		fclose(file);
	}
}

static int fails(void)
{
	unsigned long number = __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);

	if (number != at && (!from || number < from))
		return 0;
	errno = ENOMEM;
	return 1;
}

void *malloc(size_t size)
{
	return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	return fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
	return fails() ? NULL : __libc_realloc(old, size);
}

void *reallocarray(void *old, size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes) || fails())
		return NULL;
	return __libc_realloc(old, bytes);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return fails() ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void **ret_block, size_t alignment, size_t size)
{
	void *block = fails() ? NULL : __libc_memalign(alignment, size);

	if (!block)
		return ENOMEM;
	*ret_block = block;
	return 0;
}
