/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GCC's demanglers from libiberty, in their form with a callback: a name of a
 * hundred bytes with nested references can stand for gigabytes of text, so
 * they are left by longjmp once they have written far more than the buffer
 * takes. They limit their recursion themselves, and hold nothing but their own
 * stack while they call back, except for one buffer of the Rust demangler
 * (16 times an identifier in Punycode): only a name made for it loses that.
 */
#include "symbolize/demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <string.h>

#define OUTPUT_MAX (256u << 10) /* bytes and calls together, after which a name is given up */

typedef void (*text_callback)(const char *text, size_t length, void *opaque);

/* Each returns whether name was mangled its way. */
static bool demangle_cxx(const char *name, text_callback callback, void *opaque)
{
	return cplus_demangle_v3_callback(name, DMGL_PARAMS | DMGL_ANSI, callback, opaque) != 0;
}

static bool demangle_rust(const char *name, text_callback callback, void *opaque)
{
	return rust_demangle_callback(name, DMGL_NO_OPTS, callback, opaque) != 0;
}

struct demangle_buffer {
	char *bytes;
	size_t size;
	size_t length; /* of what fitted */
	size_t output; /* counts on when the buffer is full */
	bool is_full;
	jmp_buf give_up;
};

static void take_text(const char *text, size_t length, void *opaque)
{
	struct demangle_buffer *buffer = opaque;

	/* Empty texts count too. */
	if (length >= OUTPUT_MAX - buffer->output)
		longjmp(buffer->give_up, 1);
	buffer->output += length + 1;
	/* Keeps one byte for the NUL. */
	if (buffer->is_full || length >= buffer->size - buffer->length) {
		buffer->is_full = true;
		return;
	}
	/* An empty text may be NULL. */
	if (length)
		memcpy(buffer->bytes + buffer->length, text, length);
	buffer->length += length;
}

static bool try_demangler(bool (*demangle)(const char *, text_callback, void *), const char *name,
			  char *bytes, size_t size)
{
	struct demangle_buffer buffer = { .bytes = bytes, .size = size };

	if (setjmp(buffer.give_up) != 0)
		return false;
	if (!demangle(name, take_text, &buffer) || buffer.is_full)
		return false;
	bytes[buffer.length] = '\0';
	return true;
}

bool demangle_name(const char *name, char *bytes, size_t size)
{
	/* Without the prefix the C++ demangler would take "i" for the type int. */
	bool is_cxx = strncmp(name, "_Z", 2) == 0;

	if (size == 0 || (!is_cxx && strncmp(name, "_R", 2) != 0) ||
	    strnlen(name, DEMANGLE_NAME_MAX + 1) > DEMANGLE_NAME_MAX)
		return false;
	/* Rust first: its legacy names are valid C++ too, and would keep their escapes. */
	return try_demangler(demangle_rust, name, bytes, size) ||
	       (is_cxx && try_demangler(demangle_cxx, name, bytes, size));
}
