/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of a code object besides its bytecode, for words about its expressions. */
#ifndef PIEPROFD_DAEMON_BYTECODE_EXPRESSION_CONTEXT_H
#define PIEPROFD_DAEMON_BYTECODE_EXPRESSION_CONTEXT_H

#include "pyintrospect/code_object.h"

/* Longer ones are cut, between characters, and end with "...". */
#define EXPRESSION_BYTES_MAX 120
#define EXPRESSION_SIZE      (EXPRESSION_BYTES_MAX + 1)

/* What is known of the code object besides its bytecode. Either function may be NULL. */
struct expression_context {
	/* A line of its file, each byte at its column (source_cache_columns()); NULL: not known. */
	const char *(*line_of)(void *context, int line);
	/* A name in UTF-8, until the next call; NULL: not known. Only what can be one is used. */
	const char *(*name_of)(void *context, enum python_names names, uint32_t index);
	void *context;
};

#endif
