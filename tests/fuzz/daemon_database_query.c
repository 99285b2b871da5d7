/* SPDX-License-Identifier: Apache-2.0 */
/* A database's queries: of any text, what it asks for, and tables that are told again. */
#include "daemon/detect/database_query.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = { data, size };
	char *text = (char *)fuzz_copy(&input);
	struct database_query query = database_query_parse(text, size);
	struct database_query empty = database_query_parse(text, 0);
	struct database_written written = { .count = 0 };

	fuzz_must(query.kind <= DATABASE_QUERY_WRITES);
	fuzz_must(query.table_count <= DATABASE_QUERY_TABLES);
	fuzz_must(query.more || size < DATABASE_QUERY_TEXT);
	fuzz_must(empty.kind == DATABASE_QUERY_OTHER && !empty.table_count);
	fuzz_must(!database_written_has(&written, &query));
	for (int i = 0; i < 2; i++) {
		database_written_add(&written, &query);
		fuzz_must(written.count <= query.table_count);
		fuzz_must(database_written_has(&written, &query));
	}
	free(text);
	return 0;
}
