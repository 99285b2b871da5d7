/* SPDX-License-Identifier: Apache-2.0 */
/* Strings by number, each once: formats refer to their strings so. */
#ifndef PIEPROFD_DAEMON_REPORT_ENCODE_STRING_TABLE_H
#define PIEPROFD_DAEMON_REPORT_ENCODE_STRING_TABLE_H

#include "daemon/cct/id_table.h"

struct string_table { /* all zeros: empty */
	char **strings;
	size_t count, capacity;
	struct id_table ids;
};

void string_table_deinit(struct string_table *table);

/* Copies the text unless it is there already. 0 or -ENOMEM. */
__attribute__((warn_unused_result)) int string_table_find(struct string_table *table,
							  const char *text, uint32_t *ret_index);

#endif
