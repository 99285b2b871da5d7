/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/model/argument_words.h"

#include "daemon/bytecode/common_subexpression.h"
#include "daemon/detect/argument_copy.h"
#include "daemon/detect/argument_element.h"
#include "daemon/detect/argument_meets.h"
#include "daemon/detect/argument_note.h"
#include "daemon/detect/slow_call.h"
#include "pyintrospect/line_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NAMED_MAX           3 /* operands in a sentence */
#define FIRST_MINOR_COLUMNS 11

static const char *words_line(void *context, int line)
{
	const struct argument_words *words = context;

	return source_cache_columns(words->sources, words->site->code->file, line);
}

static const char *words_name(void *context, enum python_names kind, uint32_t index)
{
	struct argument_words *words = context;

	return code_names_read(&words->names, kind, index, words->name, sizeof(words->name))
		       ? NULL
		       : words->name;
}

/* As expression_operand_name() counts them; *values: those of no other role so far. */
static int operand_number(const struct argument_site *site, const struct argument_operand *operand,
			  int *values)
{
	switch ((enum operand_role)operand->role) {
	case OPERAND_SELF:
		return EXPRESSION_RECEIVER;
	case OPERAND_CONTAINER:
		return site->kind == OPERATION_CONTAINS; /* a value stands before "in" */
	case OPERAND_OBJECT:
		return 0;
	case OPERAND_INDEX:
		return 1;
	case OPERAND_STORED:
		return 2;
	default:
		return (*values)++;
	}
}

/* "m" where it has a name, else what it is: "float64[1000,3]". */
static const char *operand_words(const struct argument_words *words, size_t index, int operand,
				 char buffer[2 * EXPRESSION_SIZE])
{
	const struct argument_operand *known = &words->site->operands[index];
	char name[EXPRESSION_SIZE];

	if (!words->site->of_callee &&
	    expression_operand_name(&words->bytecode, words->site->offset, operand, &words->context,
				    name))
		snprintf(buffer, 2 * EXPRESSION_SIZE, "%s (%s%s)", name, known->shape,
			 known->whole ? "" : ", compared in part");
	else
		snprintf(buffer, 2 * EXPRESSION_SIZE, "%s%s", known->shape,
			 known->whole ? "" : " (compared in part)");
	return buffer;
}

/* What was compared are the parameters of the Python function called: they may have other names. */
static void callee_words(const struct argument_words *words, char text[512])
{
	char name[EXPRESSION_SIZE];
	size_t used = 0;

	for (int operand = 0; operand < NAMED_MAX; operand++)
		if (expression_operand_name(&words->bytecode, words->site->offset, operand,
					    &words->context, name))
			used += (size_t)snprintf(text + used, 512 - used, "%s%s", used ? ", " : "",
						 name);
	if (!used)
		snprintf(text, 512, "%s",
			 argument_reads_attributes(words->site) ? "attributes of its object"
								: "arguments");
}

/* "m (float64[1000,3]) and 2"; "" when there is nothing to name. */
static void operands_words(const struct argument_words *words, char text[512])
{
	size_t named = 0, left = 0, used = 0;
	int values = 0;

	text[0] = '\0';
	if (words->site->of_callee) {
		callee_words(words, text);
		return;
	}
	for (size_t i = 0; i < words->site->operand_count; i++)
		left += !words->site->operands[i].callable;
	for (size_t i = 0; i < words->site->operand_count; i++) {
		char buffer[2 * EXPRESSION_SIZE];

		if (words->site->operands[i].callable)
			continue;
		if (named == NAMED_MAX) {
			snprintf(text + used, 512 - used, " and %zu more", left - named);
			return;
		}
		used += (size_t)snprintf(
			text + used, 512 - used, "%s%s",
			!named              ? ""
			: named + 1 == left ? " and "
					    : ", ",
			operand_words(
				words, i,
				operand_number(words->site, &words->site->operands[i], &values),
				buffer));
		if (used >= 512)
			return;
		named++;
	}
}

/* What is looked through, without what is looked for: how much was compared is no matter. */
static void container_words(const struct argument_words *words, char text[512])
{
	snprintf(text, 512, "a list");
	for (size_t i = 0; i < words->site->operand_count; i++) {
		struct argument_operand operand = words->site->operands[i];
		char name[EXPRESSION_SIZE];
		int number = operand_number(words->site, &operand, &(int){ 0 });

		if (operand.role != OPERAND_CONTAINER)
			continue;
		if (!words->site->of_callee &&
		    expression_operand_name(&words->bytecode, words->site->offset, number,
					    &words->context, name))
			snprintf(text, 512, "%s (%s)", name, operand.shape);
		else
			snprintf(text, 512, "%s", operand.shape);
	}
}

/* What to do about a sequence that all of a call goes over, and that is longer each time. */
static const char *growing_advice(const struct argument_site *site)
{
	if (slow_call_sorts(site->slow))
		return "keep it sorted as it grows (bisect.insort()), or take what is needed "
		       "(max(), heapq.nlargest())";
	for (size_t i = 0; site->kind == OPERATION_BINARY && i < site->operand_count; i++)
		if (site->operands[i].kind == CONTENT_STR ||
		    site->operands[i].kind == CONTENT_BYTES)
			return "collect the parts in a list and join() them once, in the end";
	if (site->kind == OPERATION_EXTEND)
		return "add to it in place (append(), update()), and copy it once, in the end";
	return "keep what was found so far, and add what is new";
}

/* Of a function that several places call. */
static const char *entry_sentence(struct arena *arena, const struct argument_words *words,
				  const struct argument_summary *summary)
{
	const struct argument_site *entry = &words->log->sites[summary->entry];

	return arena_format(arena,
			    "%s() is called from several places and gets the same arguments as in "
			    "the call before in %" PRIu32 " of %" PRIu32
			    " calls compared: call it once, or keep its result",
			    entry->code->function, entry->repeated, entry->compared);
}

/* What goes over all of a list in each call, of which little has changed. */
static const char *sorted_sentence(struct arena *arena, const struct argument_words *words,
				   const char *what)
{
	const struct argument_site *site = words->site;
	const char *function = site->slow ? slow_call_get(site->slow)->function : "";
	const char *instead = "keep it in a heap (heapq)";

	if (slow_call_sorts(site->slow))
		instead = "keep it sorted as it changes (bisect)";
	else if (!strcmp(function, "sum"))
		instead = "keep the sum, and add to it what changes";
	else if (!strcmp(function, "heapify"))
		instead = "push what changes, and pass over what is out of date when it comes up";

	if (slow_call_sorts(site->slow) && !site->kept)
		return arena_format(arena,
				    "%s sorts all of it again in each call: keep it sorted as it "
				    "changes (bisect), or take what is needed (min, max, heapq)",
				    what);
	return arena_format(
		arena,
		"%s goes over all of what it is given, of which most is as in the call before, in "
		"%" PRIu32 " of %" PRIu32 " calls compared: %s",
		what, site->kept, site->compared, instead);
}

/* Rows are what they were until somebody writes.
 * functools.cache tells objects apart by which they are: what of them has changed it does not see.
 */
static const char *cache_advice(const struct argument_site *site)
{
	if (site->queries)
		return "keep the rows for as long as nobody changes them, or ask for all at once";
	return argument_reads_attributes(site)
		       ? "keep the results by what it reads of its object (a dict by these "
			 "attributes)"
		       : "keep the results by argument (functools.cache)";
}

static int line_of(const struct argument_words *words, int offset)
{
	const struct python_code *code = words->site->code;

	return line_table_find(code->minor, code->line_table, code->line_table_size,
			       code->first_line, offset);
}

static const char *common_sentence(struct arena *arena, const struct argument_words *words,
				   const char *what)
{
	struct common_subexpression common;
	int first = 0;

	if (common_subexpression_find(&words->bytecode, words->site->offset, &common))
		first = line_of(words, common.first);
	if (first <= 0 || first == line_of(words, words->site->offset))
		return arena_format(arena,
				    "%s was computed a moment before, from the same "
				    "variables: keep its result",
				    what);
	return arena_format(arena,
			    "%s was computed on line %d already, from the same variables: keep "
			    "its result",
			    what, first);
}

const char *argument_words_finding(struct arena *arena, const struct argument_words *words,
				   const struct argument_summary *summary,
				   enum argument_verdict verdict, const char *expression)
{
	const char *what = expression ? expression : "this call";
	bool again = verdict == ARGUMENT_INVARIANT || verdict == ARGUMENT_REPEATED;
	char operands[512], container[512];
	struct argument_words of_origin;

	if (summary->entry != ID_NONE && verdict == ARGUMENT_REPEATED)
		return entry_sentence(arena, words, summary);
	/* f(x)[0] is spoken for by f(x). */
	if (summary->origin != ID_NONE && again) {
		of_origin = *words;
		of_origin.site = &words->log->sites[summary->origin];
		summary = &words->summaries[summary->origin];
		words = &of_origin;
	}
	if (summary->work_pairs && verdict == ARGUMENT_REPEATED)
		return arena_format(arena,
				    "%s does the same work again, at %" PRIu32 " of %" PRIu32
				    " places compared with a call before: keep its result",
				    what, summary->work_alike, summary->work_pairs);
	operands_words(words, operands);
	/* Who asks for a copy is going to change it. */
	if (slow_call_copies(words->site->slow) && words->site->compared && again)
		return arena_format(arena,
				    "%s %s: %s; it gets the same %s as the call before in %" PRIu32
				    " of %" PRIu32 " calls compared",
				    what, slow_call_get(words->site->slow)->way->does,
				    slow_call_get(words->site->slow)->way->instead, operands,
				    words->site->repeated, words->site->compared);
	if (summary->repeated > 0 && !words->site->repeated && summary->alike && again)
		return arena_format(
			arena,
			"%s gets the same %s as in the sample before, of another call, in "
			"%" PRIu32 " of %" PRIu32 " samples: %s",
			what, operands, summary->alike, summary->pairs,
			verdict == ARGUMENT_INVARIANT ? "compute it before the loop"
						      : "keep its result until these change");
	/* Not by its own arguments (argument_rule.c). */
	if (summary->repeated > 0 && !words->site->compared && again)
		return arena_format(arena,
				    "%s works on what a call gives that is made again with the "
				    "same arguments: keep its result, too",
				    what);
	if (summary->repeated > 0 && again) {
		/* A property is no call. */
		bool asked = words->site->kind == OPERATION_ATTRIBUTE;

		return arena_format(arena,
				    "%s %s the same %s as the %s before in %" PRIu32 " of %" PRIu32
				    " %s compared: %s",
				    what, asked ? "is computed from" : "gets", operands,
				    asked ? "time" : "call", words->site->repeated,
				    words->site->compared, asked ? "times" : "calls",
				    verdict == ARGUMENT_INVARIANT
					    ? "compute it before the loop"
					    : "keep its result until these change");
	}
	if (slow_call_speaks_for(words->site->slow, verdict))
		return arena_format(arena, "%s %s: %s", what,
				    slow_call_get(words->site->slow)->way->does,
				    slow_call_get(words->site->slow)->way->instead);
	switch (verdict) {
	case ARGUMENT_INVARIANT:
		return arena_format(arena,
				    "%s works on the same %s in %" PRIu64 " of %" PRIu64
				    " samples of it: compute it before the loop",
				    what, operands, summary->commonest, summary->judged);
	case ARGUMENT_REPEATED:
		return arena_format(arena,
				    "%s gets the same %s in %" PRIu64 " of %" PRIu64
				    " samples of it: keep its result until these change",
				    what, operands, summary->commonest, summary->judged);
	case ARGUMENT_FEW:
		if (words->site->row_recurring)
			return arena_format(
				arena,
				"%s gets the same %s again after other calls, in %" PRIu32
				" of %" PRIu32 " rows of calls watched: %s",
				what, operands, words->site->row_recurring, words->site->rows,
				cache_advice(words->site));
		if (summary->judged < 3 * (uint64_t)summary->distinct)
			return arena_format(
				arena,
				"%s gets the same %s as in an earlier sample again and again, of "
				"%" PRIu32 " seen: %s",
				what, operands, summary->distinct, cache_advice(words->site));
		return arena_format(arena,
				    "%s is called with only %" PRIu32
				    " different sets of %s in %" PRIu64 " samples of it: %s",
				    what, summary->distinct,
				    argument_reads_attributes(words->site)
					    ? "attributes of its object"
					    : "arguments",
				    summary->judged, cache_advice(words->site));
	case ARGUMENT_GROWING:
		if (2 * words->site->shifted > words->site->compared)
			return arena_format(
				arena,
				"%s works on mostly the same part of an array as the call before, "
				"in %" PRIu32 " of %" PRIu32
				" calls compared: take all parts at once (cumsum(), "
				"maximum.accumulate(), sliding_window_view())",
				what, words->site->shifted, words->site->compared);
		if (argument_joins_lists(words->site))
			return arena_format(arena,
					    "%s copies all that was joined before for each of the "
					    "lists: itertools.chain.from_iterable() joins them in "
					    "one go",
					    what);
		return arena_format(
			arena,
			"%s goes over a sequence that grows from call to call, which costs time "
			"by the square of its length: %s",
			what, growing_advice(words->site));
	case ARGUMENT_ELEMENTS:
		if (argument_copies(words->site))
			return arena_format(arena,
					    "%s is taken one item at a time, and kept as it is: "
					    "copy a slice",
					    what);
		return arena_format(
			arena,
			"%s takes one element at a time, another one each time: use a slice "
			"or one operation over the whole array, in place of the loop",
			what);
	case ARGUMENT_SCALARS:
		return arena_format(
			arena,
			"%s is a library call on single numbers, made for each element: give "
			"the whole array to one call",
			what);
	case ARGUMENT_SEARCHED:
		if (words->site->kind == OPERATION_COMPARE && argument_compares_array(words->site))
			return arena_format(
				arena,
				"%s goes through all of it for each value: group it once "
				"(groupby, numpy.unique)",
				what);
		container_words(words, container);
		if (words->site->kind != OPERATION_CONTAINS)
			return arena_format(arena,
					    "%s is asked of item after item, again for each value: "
					    "keep the items in a dict by it",
					    what);
		return arena_format(arena,
				    "%s searches %s from its beginning each time: keep its items "
				    "in a set or dict",
				    what, container);
	case ARGUMENT_SCANNED:
		return arena_format(arena,
				    "%s is asked of item after item, again for each value: sort "
				    "the items by it once, and find the first by bisection",
				    what);
	case ARGUMENT_SORTED:
		return sorted_sentence(arena, words, what);
	case ARGUMENT_END:
		return arena_format(arena,
				    "%s sorts all of it to take the first or the last item: use "
				    "min() or max()",
				    what);
	case ARGUMENT_IN_TURN:
		return arena_format(arena,
				    "%s gets the same %s again after other calls, in %" PRIu32
				    " of %" PRIu32
				    " rows of calls watched: keep the result with what holds them",
				    what, operands, words->site->row_recurring, words->site->rows);
	case ARGUMENT_FEW_HELD:
		return arena_format(arena,
				    "%s gets the same %s again after other calls: keep its results "
				    "in a dict by what differs, with what stays the same",
				    what, operands);
	case ARGUMENT_CUT:
		if (words->site->kind == OPERATION_DELETE_SUBSCRIPT)
			return arena_format(arena,
					    "del %s moves all that is behind it each time: use "
					    "collections.deque",
					    what);
		return arena_format(arena,
				    "%s copies all that is left each time: keep the position "
				    "instead, or use a memoryview",
				    what);
	case ARGUMENT_COMMON:
		return common_sentence(arena, words, what);
	case ARGUMENT_SLOW:
	case ARGUMENT_UNKNOWN:
	case ARGUMENT_NEEDED:
	case ARGUMENT_VERDICT_COUNT:
		break;
	}
	return NULL;
}

int argument_words_init(struct argument_words *words, const struct argument_log *log,
			const struct argument_summary *summaries, struct source_cache *sources,
			uint32_t site)
{
	*words = (struct argument_words){ .sources = sources,
					  .log = log,
					  .summaries = summaries,
					  .site = &log->sites[site],
					  .context = { .line_of = words_line, .context = words } };
	/* Where columns say it, the source does; and the target may have ended. */
	if (words->site->code->minor < FIRST_MINOR_COLUMNS && log->runtime &&
	    !code_names_find(log->runtime, words->site->code, &words->names))
		words->context.name_of = words_name;
	return bytecode_init(&words->bytecode, words->site->code);
}

void argument_words_deinit(struct argument_words *words)
{
	bytecode_deinit(&words->bytecode);
}
