/* SPDX-License-Identifier: Apache-2.0 */
/* What grew in a heap, as members of its JSON; pieprofd-formats(5) has them. look has a course. */
#ifndef PIEPROFD_DAEMON_HEAP_HEAP_GROWTH_JSON_H
#define PIEPROFD_DAEMON_HEAP_HEAP_GROWTH_JSON_H

#include "daemon/heap/heap_course.h"
#include "daemon/report/format/json_value.h"

/* As json_with(): object is taken over. */
json_t *heap_json_with_type(json_t *object, const struct heap_look *look,
			    const struct heap_type_count *type);
json_t *heap_json_with_path(json_t *object, const struct heap_look *look, uint32_t path);
/* verdict, growing, looks, limit. */
json_t *heap_json_with_course(json_t *object, const struct heap_look *look);

/* Steps with types; heap_json.c has it. */
json_t *heap_json_path(const struct heap_snapshot *snapshot, uint32_t path);

#endif
