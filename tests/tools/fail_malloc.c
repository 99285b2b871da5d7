/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preloaded, makes one allocation of a program fail, or all from one on:
 *
 *   FAIL_MALLOC_AT=N     the N-th, counted from 1
 *   FAIL_MALLOC_PATH=H   the first by a call path, as FAIL_MALLOC_PATHS names it
 *   FAIL_MALLOC_REST=1   and all that follow
 *   FAIL_MALLOC_COUNT=F  says at exit in file F how many there were
 *   FAIL_MALLOC_PATHS=F  says at exit in file F the call paths they came by, each once
 *   FAIL_MALLOC_MET=F    file F is no longer empty as soon as one has failed
 *   FAIL_MALLOC_CRASH=F  says in file F which functions had called each other, the innermost
 *                        first, each with its object's name, when SIGSEGV, SIGBUS or SIGABRT
 *                        ended it
 *
 * A call path is a digest of its innermost addresses: the same from run to run where addresses
 * are not randomized. What the program starts is left alone.
 *
 * For glibc, whose own functions are called by their inner names.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <unwind.h>

#define PATH_FRAMES 12
#define PATHS_MAX   (1u << 15)

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static unsigned long calls, at;
static uint64_t path;
static bool rest, failing, by_path;
/* Opened early: later a filter of system calls may be in the way. -1: not wanted. */
static int met = -1, crash = -1;
static uint64_t paths[PATHS_MAX]; /* a hash table; 0: free */
/* Without __tls_get_addr(), which allocates. */
static __thread __attribute__((tls_model("initial-exec"))) bool unwinding;

static int open_named(const char *variable)
{
	const char *name = getenv(variable);

	return name ? open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
}

static uint64_t number_of(const char *variable, int base)
{
	const char *number = getenv(variable);

	return number ? strtoull(number, NULL, base) : 0;
}

static void say(const char *words)
{
	if (write(crash, words, strlen(words)) < 0)
		_exit(127);
}

static _Unwind_Reason_Code say_function(struct _Unwind_Context *context, void *argument)
{
	const char *name;
	Dl_info info;

	(void)argument;
	if (!dladdr((void *)_Unwind_GetIP(context), &info))
		return _URC_NO_REASON;
	name = strrchr(info.dli_fname, '/');
	say(name ? name + 1 : info.dli_fname);
	say(" ");
	say(info.dli_sname ? info.dli_sname : "?");
	say("\n");
	return _URC_NO_REASON;
}

static void say_crash(int number)
{
	unwinding = true;
	_Unwind_Backtrace(say_function, NULL); /* NOLINT(bugprone-signal-handler): it ends anyway */
	signal(number, SIG_DFL);
	raise(number);
}

__attribute__((constructor)) static void begin(void)
{
	at = number_of("FAIL_MALLOC_AT", 10);
	path = number_of("FAIL_MALLOC_PATH", 16);
	rest = getenv("FAIL_MALLOC_REST") != NULL;
	met = open_named("FAIL_MALLOC_MET");
	by_path = path || getenv("FAIL_MALLOC_PATHS");
	crash = open_named("FAIL_MALLOC_CRASH");
	if (crash >= 0) {
		signal(SIGSEGV, say_crash);
		signal(SIGBUS, say_crash);
		signal(SIGABRT, say_crash);
	}
	unsetenv("LD_PRELOAD");
	/* What the loader took is not counted. */
	__atomic_store_n(&calls, 0, __ATOMIC_RELAXED);
}

__attribute__((destructor)) static void end(void)
{
	const char *count_name = getenv("FAIL_MALLOC_COUNT");
	const char *paths_name = getenv("FAIL_MALLOC_PATHS");
	unsigned long total = __atomic_load_n(&calls, __ATOMIC_RELAXED);
	FILE *file;

	at = 0;
	by_path = rest = failing = false;
	file = count_name ? fopen(count_name, "w") : NULL;
	if (file) {
		fprintf(file, "%lu\n", total);
		fclose(file);
	}
	file = paths_name ? fopen(paths_name, "w") : NULL;
	if (file) {
		for (size_t i = 0; i < PATHS_MAX; i++)
			if (paths[i])
				fprintf(file, "%llx\n", (unsigned long long)paths[i]);
		fclose(file);
	}
}

struct walk {
	uint64_t digest;
	uintptr_t last;
	unsigned frames;
};

static _Unwind_Reason_Code add_frame(struct _Unwind_Context *context, void *argument)
{
	struct walk *walk = argument;
	uintptr_t address = _Unwind_GetIP(context);

	/* However deep a recursion is, it is one path. */
	if (address == walk->last)
		return _URC_NO_REASON;
	walk->last = address;
	walk->digest = (walk->digest ^ address) * 0x9e3779b97f4a7c15u;
	return ++walk->frames < PATH_FRAMES ? _URC_NO_REASON : _URC_END_OF_STACK;
}

/* Notes the path of this allocation, and tells whether it is the one. */
static bool comes_by_path(void)
{
	struct walk walk = { .digest = 1 };
	uint64_t none;

	if (unwinding)
		return false;
	unwinding = true;
	_Unwind_Backtrace(add_frame, &walk);
	unwinding = false;
	walk.digest += !walk.digest;
	for (size_t i = 0; i < PATHS_MAX; i++) {
		uint64_t *slot = &paths[(walk.digest + i) % PATHS_MAX];

		none = 0;
		if (__atomic_compare_exchange_n(slot, &none, walk.digest, false, __ATOMIC_RELAXED,
						__ATOMIC_RELAXED) ||
		    none == walk.digest)
			return walk.digest == path && none == 0;
	}
	return false;
}

static bool fails(void)
{
	unsigned long number = __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
	bool hit = number == at;

	if (by_path)
		hit |= comes_by_path();
	if (hit && met >= 0 && write(met, "1", 1) != 1)
		abort();
	if (hit && rest)
		__atomic_store_n(&failing, true, __ATOMIC_RELAXED);
	if (!hit && !__atomic_load_n(&failing, __ATOMIC_RELAXED))
		return false;
	errno = ENOMEM;
	return true;
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
