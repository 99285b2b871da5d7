/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tools that clients may call: a row each, with its arguments. From the rows come both the
 * schemas that clients are told and the command line that a call becomes, so that what is offered
 * is what is accepted. A word of that line never begins an option which the table does not name.
 */
#ifndef PIEPROFD_DAEMON_MCP_TOOL_H
#define PIEPROFD_DAEMON_MCP_TOOL_H

#include "common/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TOOL_ARGUMENTS_MAX 8
/* The program, the command, what it always gets, two words an argument, the end. */
#define TOOL_WORDS_MAX (2 * TOOL_ARGUMENTS_MAX + 8)

struct tool_argument {
	const char *name; /* NULL: behind the last one */
	enum tool_argument_kind {
		TOOL_PID,
		TOOL_SECONDS,
		TOOL_SWITCH,
		TOOL_TEXT,
		TOOL_FILE,     /* a path that is read */
		TOOL_NEW_FILE, /* a path where nothing is yet */
		TOOL_CHOICE,
	} kind;
	bool required;
	const char *option;     /* "--pid"; NULL: a word of its own */
	const char *extension;  /* of a new file */
	const char *choices[4]; /* NULL behind the last one */
	const char *words;      /* what it means */
};

struct tool {
	const char *name, *title, *words;
	bool writes; /* may leave a file */
	/* One of two arguments is to be given; NULL: as each says by itself. */
	const char *either, * or ;
	const char *command[3]; /* what its line begins with; NULL behind the last one */
	uint64_t limit_ns;      /* so long it may take, besides what it was asked to */
	struct tool_argument arguments[TOOL_ARGUMENTS_MAX];
};

/* A command line, which is owned. */
struct tool_line {
	char *words[TOOL_WORDS_MAX]; /* NULL behind the last one */
	size_t count;
	uint64_t duration_ns; /* that it was asked to take */
	uint64_t limit_ns;    /* after which it is ended */
};

/* NULL: there is none of that name. */
const struct tool *tool_by_name(const char *name);

/* An array of what tools/list tells of each. NULL: no memory. */
json_t *tool_descriptions(void);

/*
 * What a call becomes; arguments: an object, or NULL. 0; -EINVAL: *error says which argument is
 * wrong, and how it is right; -ENOMEM.
 */
__attribute__((warn_unused_result)) int tool_line_make(const struct tool *tool,
						       const json_t *arguments,
						       struct tool_line *ret_line,
						       struct error *error);
void tool_line_deinit(struct tool_line *line);

#endif
