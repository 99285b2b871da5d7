/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of one instruction of Python code that native calls were made
 * from, read from its bytecode once and kept.
 */
#ifndef PIEPROFD_DAEMON_BYTECODE_CALL_SITE_H
#define PIEPROFD_DAEMON_BYTECODE_CALL_SITE_H

#include "daemon/bytecode/loop.h"
#include "daemon/cct/id_table.h"

struct call_site {
	const struct python_code *code;
	int offset;
	bool in_loop;
	struct loop loop; /* in_loop */
	struct loop_line does;
};

/* Decoded code objects, by id modulo this: sites of one function come in bunches. */
#define CALL_SITE_CODES 64

struct call_site_table {
	struct call_site *sites;
	size_t count, capacity;
	struct id_table ids;
	struct bytecode codes[CALL_SITE_CODES];
};

void call_site_table_init(struct call_site_table *table);
void call_site_table_deinit(struct call_site_table *table);

/* The code's instructions, borrowed until the next call with this table; NULL: no memory. */
const struct bytecode *call_site_bytecode(struct call_site_table *table,
					  const struct python_code *code);

/*
 * Is the function of a site called in a loop, from another site, in such a way
 * that this one works on the same operands each time, as far as names tell
 * (arguments.h)? 0 or -ENOMEM.
 */
__attribute__((warn_unused_result)) int call_site_is_constant(struct call_site_table *table,
							      const struct call_site *site,
							      const struct call_site *caller,
							      bool *ret_constant);

/* 0 or -ENOMEM. */
__attribute__((warn_unused_result)) int call_site_find(struct call_site_table *table,
						       const struct python_code *code, int offset,
						       struct call_site *ret_site);

#endif
