/* SPDX-License-Identifier: Apache-2.0 */
/* Lines and functions of several profiles. */
#include "common/array.h"
#include "common/hash.h"
#include "daemon/report/merge/profile_merge.h"
#include "daemon/report/merge/profile_merge_parts.h"
#include "daemon/report/model/line_stats.h"

#include <errno.h>
#include <string.h>

/* NULL is less than any text. */
static int merge_line_compare_texts(const char *a, const char *b)
{
	if (!a || !b)
		return a ? 1 : b ? -1 : 0;
	return strcmp(a, b);
}

/* Strings are the table's: they are compared by address. function NULL: a line with a number. */
static uint64_t merge_line_hash(const char *file, const char *function, int line)
{
	uint64_t hash = hash_mix((uintptr_t)file);

	return hash_mix(hash ^ (uintptr_t)function ^ (uint64_t)(uint32_t)line << 32);
}

int merge_line_find(struct profile_merge *merge, const struct profile_line *line,
		    uint64_t *ret_hash, const char **ret_file, const char **ret_function,
		    uint32_t *ret_line)
{
	size_t probe = 0;
	uint32_t id;

	if (merge_string(&merge->frames, line->file, ret_file) ||
	    merge_string(&merge->frames, line->function, ret_function))
		return -ENOMEM;
	*ret_hash = merge_line_hash(*ret_file, line->line ? NULL : *ret_function, line->line);
	while ((id = id_table_next(&merge->line_ids, *ret_hash, &probe)) != ID_NONE) {
		const struct profile_line *known = &merge->lines[id];

		if (known->line == line->line && known->file == *ret_file &&
		    (line->line || known->function == *ret_function))
			break;
	}
	*ret_line = id;
	return 0;
}

int merge_line_add(struct profile_merge *merge, const struct profile_line *line)
{
	const char *file, *function, *source, *finding, *expression, *example;
	uint64_t hash;
	uint32_t id;

	if (merge_line_find(merge, line, &hash, &file, &function, &id) ||
	    merge_string(&merge->frames, line->source, &source) ||
	    merge_string(&merge->frames, line->finding, &finding) ||
	    merge_string(&merge->frames, line->expression, &expression) ||
	    merge_string(&merge->frames, line->example, &example))
		return -ENOMEM;
	if (id != MERGE_NONE) {
		struct profile_line *known = &merge->lines[id];

		merge_fields(MERGE_LINE, known, line);
		known->function = line_stats_plainer_name(known->function, function);
		if (merge_line_compare_texts(known->source, source) < 0) {
			known->source = source;
			known->indent = line->indent;
		}
		if (line->finding_ns > known->finding_ns ||
		    (line->finding_ns == known->finding_ns &&
		     merge_line_compare_texts(known->finding, finding) < 0)) {
			known->finding = finding;
			known->finding_ns = line->finding_ns;
			known->expression = expression;
			known->example = example;
			known->column = line->column;
			known->end_column = line->end_column;
			known->end_line = line->end_line;
		}
		return 0;
	}
	if (merge->line_count >= MERGE_LINES_MAX) {
		merge->facts.losses.counts[LOSS_TREE_FULL]++;
		return 0;
	}
	if (!ARRAY_ROOM(merge->lines, merge->line_count, merge->line_capacity) ||
	    id_table_reserve(&merge->line_ids))
		return -ENOMEM;
	id_table_add(&merge->line_ids, hash, (uint32_t)merge->line_count);
	merge->lines[merge->line_count] = *line;
	merge->lines[merge->line_count].file = file;
	merge->lines[merge->line_count].function = function;
	merge->lines[merge->line_count].source = source;
	merge->lines[merge->line_count].finding = finding;
	merge->lines[merge->line_count].expression = expression;
	merge->lines[merge->line_count].example = example;
	merge->lines[merge->line_count++].reason_count = 0;
	return 0;
}

int merge_function_add(struct profile_merge *merge, const struct profile_function *function)
{
	const char *file, *name;
	size_t probe = 0;
	uint64_t hash;
	uint32_t id;

	if (merge_string(&merge->frames, function->file, &file) ||
	    merge_string(&merge->frames, function->function, &name))
		return -ENOMEM;
	hash = merge_line_hash(file, name, 0);
	while ((id = id_table_next(&merge->function_ids, hash, &probe)) != ID_NONE) {
		struct profile_function *known = &merge->functions[id];

		if (known->file != file || known->function != name)
			continue;
		merge_fields(MERGE_FUNCTION, known, function);
		if (function->line < known->line)
			known->line = function->line;
		return 0;
	}
	if (merge->function_count >= MERGE_LINES_MAX) {
		merge->facts.losses.counts[LOSS_TREE_FULL]++;
		return 0;
	}
	if (!ARRAY_ROOM(merge->functions, merge->function_count, merge->function_capacity) ||
	    id_table_reserve(&merge->function_ids))
		return -ENOMEM;
	id_table_add(&merge->function_ids, hash, (uint32_t)merge->function_count);
	merge->functions[merge->function_count] = *function;
	merge->functions[merge->function_count].file = file;
	merge->functions[merge->function_count++].function = name;
	return 0;
}
