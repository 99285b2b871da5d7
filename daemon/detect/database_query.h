/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the text of a database's query says of itself: whether it asks for rows or writes some, and
 * which tables it names. The text is the target's: any bytes. Pure.
 */
#ifndef PIEPROFD_DAEMON_DETECT_DATABASE_QUERY_H
#define PIEPROFD_DAEMON_DETECT_DATABASE_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of longer ones the beginning counts. */
#define DATABASE_QUERY_TEXT   256
#define DATABASE_QUERY_TABLES 4

enum database_query_kind {
	DATABASE_QUERY_OTHER, /* a definition, a transaction; WITH, which may end in either */
	DATABASE_QUERY_ROWS,
	DATABASE_QUERY_WRITES,
};

struct database_query {
	uint8_t kind; /* enum database_query_kind */
	bool more;    /* tables beside these, or text that was not seen */
	size_t table_count;
	uint64_t tables[DATABASE_QUERY_TABLES]; /* hashes of their names, whatever their case */
};

struct database_query database_query_parse(const char *text, size_t length);

/* Tables that queries were seen to write. All zeroes: none. */
#define DATABASE_WRITTEN_MAX 32

struct database_written {
	uint64_t tables[DATABASE_WRITTEN_MAX];
	size_t count;
	bool more; /* and others */
};

/* query: one that writes. */
void database_written_add(struct database_written *written, const struct database_query *query);

/* May what the query asks for be other rows, for what was seen to be written? */
bool database_written_has(const struct database_written *written,
			  const struct database_query *query);

#endif
