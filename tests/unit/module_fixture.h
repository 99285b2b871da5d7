/* SPDX-License-Identifier: Apache-2.0 */
/* A table of modules that opens and reads as this process does: a state of the tests. */
#ifndef PIEPROFD_TESTS_UNIT_MODULE_FIXTURE_H
#define PIEPROFD_TESTS_UNIT_MODULE_FIXTURE_H

#include "symbolize/module.h"
#include "tests/unit/symbolize_self.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

struct fixture {
	int opened;
	struct mapping_opener opener;
	struct memory_reader reader;
	struct module_table *table;
};

static inline int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	fixture->opener = (struct mapping_opener){ self_open, &fixture->opened };
	fixture->reader = (struct memory_reader){ self_read, NULL };
	fixture->table = module_table_create(&fixture->opener, &fixture->reader);
	*state = fixture;
	return fixture->table ? 0 : -1;
}

static inline int teardown(void **state)
{
	struct fixture *fixture = *state;

	module_table_destroy(fixture->table);
	free(fixture);
	return 0;
}

static const char libc_path[] = "/lib/x86_64-linux-gnu/libc.so.6";

#endif
