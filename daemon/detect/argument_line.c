/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/detect/argument_line.h"

#include "pyintrospect/line_table.h"

#include <errno.h>
#include <stdlib.h>

/* Of a line's element accesses, so many are calls on single numbers. */
#define SCALARS_SHARE 0.15

struct joining {
	struct argument_facts *facts;
	const struct argument_log *log;
};

static const struct argument_site *site_of(const struct joining *joining, uint32_t id)
{
	return &joining->log->sites[id];
}

static int line_at(const struct argument_site *site)
{
	const struct python_code *code = site->code;

	return line_table_find(code->minor, code->line_table, code->line_table_size,
			       code->first_line, site->offset);
}

static int compare_lines(const void *left, const void *right, void *context)
{
	const struct joining *joining = context;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	uint32_t code_a = site_of(joining, a)->code->id, code_b = site_of(joining, b)->code->id;
	int line_a = joining->facts[a].line, line_b = joining->facts[b].line;

	if (code_a != code_b)
		return code_a < code_b ? -1 : 1;
	if (line_a != line_b)
		return line_a < line_b ? -1 : 1;
	return a < b ? -1 : a > b;
}

/* Sites [first, end) of the order are those of one line. */
static void join_line(const struct joining *joining, const uint32_t *order, size_t first,
		      size_t end)
{
	uint64_t elements = 0, scalars = 0, most = 0;
	uint32_t best = ID_NONE;
	bool loads = false;

	for (size_t i = first; i < end; i++) {
		const struct argument_facts *facts = &joining->facts[order[i]];
		uint64_t judged = facts->summary->judged;

		if (!facts->elements && !facts->scalars)
			continue;
		loads |= site_of(joining, order[i])->kind != OPERATION_STORE_SUBSCRIPT;
		elements += facts->elements ? judged : 0;
		scalars += facts->elements ? 0 : judged;
		if (best == ID_NONE || judged > most) {
			best = order[i];
			most = judged;
		}
	}
	for (size_t i = first; i < end; i++) {
		joining->facts[order[i]].line_site = best;
		joining->facts[order[i]].line_loads = loads;
		joining->facts[order[i]].line_scalars =
			scalars > SCALARS_SHARE * (double)(elements + scalars);
	}
}

int argument_lines_join(struct argument_facts *facts, const struct argument_log *log)
{
	struct joining lines = { facts, log }, *joining = &lines;
	size_t count = joining->log->site_count, first = 0;
	uint32_t *order = calloc(count + 1, sizeof(*order));

	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		order[i] = i;
		joining->facts[i].line = line_at(site_of(joining, i));
	}
	qsort_r(order, count, sizeof(*order), compare_lines, joining);
	for (size_t i = 1; i <= count; i++)
		if (i == count ||
		    site_of(joining, order[i])->code != site_of(joining, order[first])->code ||
		    joining->facts[order[i]].line != joining->facts[order[first]].line) {
			join_line(joining, order, first, i);
			first = i;
		}
	free(order);
	return 0;
}
