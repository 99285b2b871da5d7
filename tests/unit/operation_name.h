/* SPDX-License-Identifier: Apache-2.0 */
/* What tests/unit/operand_cases.py calls the kinds of operations. */
#ifndef PIEPROFD_TESTS_UNIT_OPERATION_NAME_H
#define PIEPROFD_TESTS_UNIT_OPERATION_NAME_H

#include "pyintrospect/operation.h"

static const char *const operation_names[] = {
	[OPERATION_OTHER] = "other",
	[OPERATION_CALL] = "call",
	[OPERATION_CALL_UNPACKED] = "call_unpacked",
	[OPERATION_BINARY] = "binary",
	[OPERATION_COMPARE] = "compare",
	[OPERATION_CONTAINS] = "contains",
	[OPERATION_UNARY] = "unary",
	[OPERATION_TRUTH] = "truth",
	[OPERATION_SUBSCRIPT] = "subscript",
	[OPERATION_SLICE] = "slice",
	[OPERATION_STORE_SUBSCRIPT] = "store_subscript",
	[OPERATION_STORE_SLICE] = "store_slice",
	[OPERATION_DELETE_SUBSCRIPT] = "delete_subscript",
	[OPERATION_ATTRIBUTE] = "attribute",
	[OPERATION_STORE_ATTRIBUTE] = "store_attribute",
	[OPERATION_DELETE_ATTRIBUTE] = "delete_attribute",
	[OPERATION_ITERATE] = "iterate",
	[OPERATION_NEXT] = "next",
	[OPERATION_UNPACK] = "unpack",
	[OPERATION_EXTEND] = "extend",
	[OPERATION_COLLECT] = "collect",
	[OPERATION_FORMAT] = "format",
	[OPERATION_BUILD] = "build",
	[OPERATION_ENTER] = "enter",
	[OPERATION_IMPORT] = "import",
};

static inline const char *operation_name(enum operation_kind kind)
{
	return operation_names[kind];
}

#endif
