/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libstdc++'s demangler, in its form with a callback: a name of a hundred
 * bytes with nested substitutions can stand for gigabytes of text, so it is
 * left by longjmp as soon as the buffer is full. The demangler holds nothing
 * but its own stack while it calls back, and limits its recursion itself.
 *
 * That form is in the static libsupc++ only (-lsupc++, part of every g++);
 * built without HAVE_LIBSUPCXX, names stay mangled.
 */
#include "symbolize/demangle.h"

#ifdef HAVE_LIBSUPCXX

#include <setjmp.h>
#include <string.h>

/* From GCC's cp-demangle.c, there since GCC 4.4; no header declares it. */
extern int __gcclibcxx_demangle_callback(const char *mangled,
					 void (*callback)(const char *, size_t, void *),
					 void *opaque);

struct demangle_buffer {
	char *bytes;
	size_t size;
	size_t length;
	jmp_buf full;
};

static void take_text(const char *text, size_t length, void *opaque)
{
	struct demangle_buffer *buffer = opaque;

	/* Keeps one byte for the NUL. */
	if (length >= buffer->size - buffer->length)
		longjmp(buffer->full, 1);
	memcpy(buffer->bytes + buffer->length, text, length);
	buffer->length += length;
}

bool demangle_name(const char *name, char *bytes, size_t size)
{
	struct demangle_buffer buffer = { .bytes = bytes, .size = size };

	/* Without the prefix the demangler would take "i" for the type int. */
	if (size == 0 || strncmp(name, "_Z", 2) != 0)
		return false;
	if (setjmp(buffer.full) != 0)
		return false;
	if (__gcclibcxx_demangle_callback(name, take_text, &buffer) != 0)
		return false;
	bytes[buffer.length] = '\0';
	return true;
}

#else

bool demangle_name(const char *name, char *bytes, size_t size)
{
	(void)name;
	(void)bytes;
	(void)size;
	return false;
}

#endif
