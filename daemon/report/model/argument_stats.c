/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/model/argument_stats.h"

#include "daemon/bytecode/expression.h"
#include "daemon/detect/argument_element.h"
#include "daemon/detect/argument_rule.h"
#include "daemon/detect/slow_call.h"
#include "daemon/report/model/sorted_end.h"
#include "pyintrospect/code_names.h"
#include "pyintrospect/line_table.h"
#include "pyintrospect/position_table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMED_MAX           3 /* operands in a sentence */
#define FIRST_MINOR_COLUMNS 11

/* The site that speaks for a line: the one whose votes stand for most time. */
struct spokesman {
	uint32_t site;
	uint8_t verdict;
	uint64_t time_ns;
};

/*
 * Calls that nobody would keep the result of: they read or draw something, with
 * another outcome each time whatever their arguments; or they cost next to
 * nothing, and what they return is used up; or they make or change what they get.
 */
static const char *const needed_names[] = {
	"__enter__",     "__exit__",     "__init__",    "__new__",   "__next__",
	"__post_init__", "__setattr__",  "__setitem__", "append",    "bisect",
	"bisect_left",   "bisect_right", "choice",      "choices",   "clock",
	"enumerate",     "get",          "getrandbits", "heappop",   "heappush",
	"heappushpop",   "heapreplace",  "id",          "input",     "insort",
	"isinstance",    "iter",         "len",         "monotonic", "next",
	"normal",        "now",          "open",        "pop",       "popleft",
	"rand",          "randint",      "randn",       "random",    "randrange",
	"range",         "read",         "readinto",    "readline",  "recv",
	"recv_into",     "reversed",     "sample",      "shuffle",   "sleep",
	"super",         "time",         "token_bytes", "token_hex", "token_urlsafe",
	"type",          "uniform",      "urandom",     "utcnow",    "uuid1",
	"uuid4",         "write",        "zip",
};

/* Of numbers alone: to compute them again costs no more than to look them up would. */
static const char *const cheap_names[] = {
	"abs",  "atan2", "bool", "ceil",  "chr", "cos",   "divmod", "exp",   "float", "floor",
	"fmod", "hypot", "int",  "isnan", "log", "log10", "log2",   "max",   "min",   "ord",
	"pow",  "round", "sin",  "sqrt",  "str", "tan",   "tanh",   "trunc",
};

struct charging {
	const struct argument_stats_input *input;
	struct argument_findings findings;
	struct line_stats *lines;
	struct arena *arena;
	struct spokesman *spokesmen; /* of each line */
	bool *needed;                /* of each site: never to be kept */
	uint32_t *lines_of_sites;    /* LINE_NONE: not known */
};

/* ---- lines ---- */

/* The line of a site, by the frame of the sample's stack that is at it. LINE_NONE: the tree was
 * full.
 */
static uint32_t line_of_site(const struct charging *charging, const struct argument_sample *sample,
			     uint32_t site_id)
{
	const struct argument_site *site = &charging->input->log->sites[site_id];
	const struct cct_node *node = cct_node(charging->input->cct, sample->node);

	for (; node && node->parent; node = node->parent)
		if (node->frame.kind == FRAME_PYTHON && node->frame.python.code == site->code &&
		    node->frame.python.instruction_offset == site->offset)
			return charging->lines->of_node[node->id];
	return LINE_NONE;
}

/* What a vote is worth that rests on arguments alone. */
static enum argument_verdict believed(const struct charging *charging,
				      const struct argument_vote *vote)
{
	bool by_arguments = vote->verdict == ARGUMENT_INVARIANT ||
			    vote->verdict == ARGUMENT_REPEATED || vote->verdict == ARGUMENT_FEW ||
			    vote->verdict == ARGUMENT_IN_TURN || vote->verdict == ARGUMENT_END ||
			    vote->verdict == ARGUMENT_GROWING;

	return by_arguments && charging->needed[vote->site] ? ARGUMENT_UNKNOWN : vote->verdict;
}

/* Of the sites that votes are for: a joined vote's sample is elsewhere. */
static void find_lines(struct charging *charging)
{
	const struct argument_log *log = charging->input->log;

	for (uint32_t id = 0; id < log->site_count; id++)
		charging->lines_of_sites[id] = LINE_NONE;
	for (size_t i = 0; i < log->sample_count; i++) {
		const struct argument_vote *vote = &charging->findings.votes[i];
		const struct argument_sample *sample = &log->samples[i];

		if (!vote->joined && charging->lines_of_sites[vote->site] == LINE_NONE)
			charging->lines_of_sites[vote->site] =
				line_of_site(charging, sample, sample->frames[vote->frame].site);
	}
}

static void charge_vote(struct charging *charging, size_t index)
{
	const struct argument_sample *sample = &charging->input->log->samples[index];
	const struct argument_vote *vote = &charging->findings.votes[index];
	const struct argument_summary *summary = &charging->findings.summaries[vote->site];
	uint32_t line = vote->joined
				? charging->lines_of_sites[vote->site]
				: line_of_site(charging, sample, sample->frames[vote->frame].site);
	enum argument_verdict verdict = believed(charging, vote);
	struct spokesman *spokesman;

	if (line == LINE_NONE)
		return;
	argument_evidence_add(&charging->lines->lines[line].arguments, verdict, sample->time_ns,
			      argument_summary_part(summary, verdict));
	spokesman = &charging->spokesmen[line];
	if (verdict > ARGUMENT_NEEDED && summary->votes_ns[verdict] > spokesman->time_ns)
		*spokesman = (struct spokesman){ vote->site, verdict, summary->votes_ns[verdict] };
}

/* ---- words ---- */

struct words {
	struct charging *charging;
	struct code_names names;
	char name[EXPRESSION_SIZE];
	const struct argument_site *site;
	struct bytecode bytecode;
	struct expression_context context;
};

static const char *words_line(void *context, int line)
{
	const struct words *words = context;

	return source_cache_columns(words->charging->input->sources, words->site->code->file, line);
}

static const char *words_name(void *context, enum python_names kind, uint32_t index)
{
	struct words *words = context;

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
static const char *operand_words(const struct words *words, size_t index, int operand,
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
static void callee_words(const struct words *words, char text[512])
{
	char name[EXPRESSION_SIZE];
	size_t used = 0;

	for (int operand = 0; operand < NAMED_MAX; operand++)
		if (expression_operand_name(&words->bytecode, words->site->offset, operand,
					    &words->context, name))
			used += (size_t)snprintf(text + used, 512 - used, "%s%s", used ? ", " : "",
						 name);
	if (!used)
		snprintf(text, 512, "arguments");
}

/* "m (float64[1000,3]) and 2"; "" when there is nothing to name. */
static void operands_words(const struct words *words, char text[512])
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
static void container_words(const struct words *words, char text[512])
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
	return "keep what was found so far, and add what is new";
}

/* Of a function that several places call. */
static const char *entry_sentence(struct arena *arena, const struct words *words,
				  const struct argument_summary *summary)
{
	const struct argument_site *entry = &words->charging->input->log->sites[summary->entry];

	return arena_format(arena,
			    "%s() is called from several places and gets the same arguments as in "
			    "the call before in %" PRIu32 " of %" PRIu32
			    " calls compared: call it once, or keep its result",
			    entry->code->function, entry->repeated, entry->compared);
}

static const char *finding_sentence(struct arena *arena, const struct words *words,
				    const struct argument_summary *summary,
				    enum argument_verdict verdict, const char *expression)
{
	const char *what = expression ? expression : "this call";
	bool again = verdict == ARGUMENT_INVARIANT || verdict == ARGUMENT_REPEATED;
	char operands[512], container[512];
	struct words of_origin;

	if (summary->entry != ID_NONE && verdict == ARGUMENT_REPEATED)
		return entry_sentence(arena, words, summary);
	/* f(x)[0] is spoken for by f(x). */
	if (summary->origin != ID_NONE && again) {
		of_origin = *words;
		of_origin.site = &words->charging->input->log->sites[summary->origin];
		summary = &words->charging->findings.summaries[summary->origin];
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
				    "%s %s; it gets the same %s as the call before in %" PRIu32
				    " of %" PRIu32 " calls compared",
				    what, slow_call_get(words->site->slow)->advice, operands,
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
	if (summary->repeated > 0 && again)
		return arena_format(arena,
				    "%s gets the same %s as the call before in %" PRIu32
				    " of %" PRIu32 " calls compared: %s",
				    what, operands, words->site->repeated, words->site->compared,
				    verdict == ARGUMENT_INVARIANT
					    ? "compute it before the loop"
					    : "keep its result until these change");
	if (slow_call_speaks_for(words->site->slow, verdict))
		return arena_format(arena, "%s %s", what, slow_call_get(words->site->slow)->advice);
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
				" of %" PRIu32 " rows of calls watched: keep the results by "
				"argument (functools.cache)",
				what, operands, words->site->row_recurring, words->site->rows);
		if (summary->judged < 3 * (uint64_t)summary->distinct)
			return arena_format(
				arena,
				"%s gets the same %s as in an earlier sample again and again, of "
				"%" PRIu32 " seen: keep the results by argument (functools.cache)",
				what, operands, summary->distinct);
		return arena_format(
			arena,
			"%s is called with only %" PRIu32 " different sets of arguments in %" PRIu64
			" samples of it: keep the results by argument (functools.cache)",
			what, summary->distinct, summary->judged);
	case ARGUMENT_GROWING:
		return arena_format(
			arena,
			"%s goes over a sequence that grows from call to call, which costs time "
			"by the square of its length: %s",
			what, growing_advice(words->site));
	case ARGUMENT_ELEMENTS:
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
	case ARGUMENT_SORTED:
		return arena_format(arena,
				    "%s sorts all of it again in each call: keep it sorted as it "
				    "changes (bisect), or take what is needed (min, max, heapq)",
				    what);
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
	case ARGUMENT_CUT:
		return arena_format(arena,
				    "%s copies all that is left each time: keep the position "
				    "instead, or use a memoryview",
				    what);
	case ARGUMENT_SLOW:
	case ARGUMENT_UNKNOWN:
	case ARGUMENT_NEEDED:
	case ARGUMENT_VERDICT_COUNT:
		break;
	}
	return NULL;
}

static int words_init(struct words *words, struct charging *charging, uint32_t site)
{
	*words = (struct words){ .charging = charging,
				 .site = &charging->input->log->sites[site],
				 .context = { .line_of = words_line, .context = words } };
	/* Where columns say it, the source does; and the target may have ended. */
	if (words->site->code->minor < FIRST_MINOR_COLUMNS && charging->input->log->runtime &&
	    !code_names_find(charging->input->log->runtime, words->site->code, &words->names))
		words->context.name_of = words_name;
	return bytecode_init(&words->bytecode, words->site->code);
}

static int describe(struct charging *charging, const struct spokesman *spokesman,
		    struct line_entry *line)
{
	const struct argument_site *site = &charging->input->log->sites[spokesman->site];
	const struct python_code *code = site->code;
	struct words words;
	struct code_position position;
	char text[EXPRESSION_SIZE];

	if (words_init(&words, charging, spokesman->site))
		return -ENOMEM;
	line->column = line->end_column = -1;
	line->end_line = 0;
	if (!position_table_find(code->minor, code->line_table, code->line_table_size,
				 code->first_line, site->offset, &position)) {
		line->column = position.column;
		line->end_column = position.end_column;
		line->end_line = position.end_line;
	}
	if (expression_text(&words.bytecode, site->offset, &words.context, text))
		line->expression = arena_copy_string(charging->arena, text);
	line->finding_ns = spokesman->time_ns;
	line->finding = finding_sentence(charging->arena, &words,
					 &charging->findings.summaries[spokesman->site],
					 spokesman->verdict, line->expression);
	bytecode_deinit(&words.bytecode);
	return charging->arena->failed ? -ENOMEM : 0;
}

static bool is_one_of(const char *name, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/* A function in C, called with numbers alone. */
static bool is_on_numbers(const struct argument_site *site)
{
	if (site->of_callee)
		return false;
	for (size_t i = 0; i < site->operand_count; i++)
		if (!site->operands[i].callable && site->operands[i].kind != CONTENT_INT &&
		    site->operands[i].kind != CONTENT_FLOAT &&
		    site->operands[i].kind != CONTENT_BOOL)
			return false;
	return true;
}

static bool calls_needed(const struct words *words, bool at_entry, bool names_constant)
{
	char name[EXPRESSION_SIZE];
	const char *last;

	if (at_entry)
		snprintf(name, sizeof(name), "%s", words->site->code->function);
	else if (!expression_operand_name(&words->bytecode, words->site->offset, EXPRESSION_CALLEE,
					  &words->context, name))
		return false;
	last = strrchr(name, '.');
	last = last ? last + 1 : name;
	return is_one_of(last, needed_names, sizeof(needed_names) / sizeof(needed_names[0])) ||
	       (!names_constant && is_on_numbers(words->site) &&
		is_one_of(last, cheap_names, sizeof(cheap_names) / sizeof(cheap_names[0])));
}

static bool takes_end(const struct charging *charging, const struct argument_site *site)
{
	const struct python_code *code = site->code;

	return sorted_end_is_taken(source_cache_columns(
		charging->input->sources, code->file,
		line_table_find(code->minor, code->line_table, code->line_table_size,
				code->first_line, site->offset)));
}

static int find_needed(struct charging *charging)
{
	const struct argument_log *log = charging->input->log;

	for (uint32_t id = 0; id < log->site_count; id++) {
		const struct argument_summary *summary = &charging->findings.summaries[id];
		struct words words;
		struct call_site site = { 0 };

		if (summary->votes[ARGUMENT_END])
			charging->needed[id] = !takes_end(charging, &log->sites[id]);

		/* np.append() is not a list's. */
		if (log->sites[id].slow && !slow_call_is_builtin(log->sites[id].slow))
			continue;
		if (!summary->votes[ARGUMENT_INVARIANT] && !summary->votes[ARGUMENT_REPEATED] &&
		    !summary->votes[ARGUMENT_FEW] && !summary->votes[ARGUMENT_IN_TURN] &&
		    !summary->votes[ARGUMENT_GROWING])
			continue;
		if (words_init(&words, charging, id))
			return -ENOMEM;
		if (log->sites[id].offset != ARGUMENT_ENTRY &&
		    call_site_find(charging->input->sites, log->sites[id].code,
				   log->sites[id].offset, &site)) {
			bytecode_deinit(&words.bytecode);
			return -ENOMEM;
		}
		charging->needed[id] =
			calls_needed(&words, summary->entry != ID_NONE, site.does.names_constant);
		bytecode_deinit(&words.bytecode);
	}
	return 0;
}

int argument_stats_charge(const struct argument_stats_input *input, struct arena *arena,
			  struct line_stats *lines)
{
	struct charging charging = { .input = input, .lines = lines, .arena = arena };
	int error =
		argument_findings_make(&charging.findings, input->log, input->cct, input->sites);

	if (error)
		return error;
	charging.spokesmen = calloc(lines->count + 1, sizeof(*charging.spokesmen));
	charging.needed = calloc(input->log->site_count + 1, sizeof(*charging.needed));
	charging.lines_of_sites =
		calloc(input->log->site_count + 1, sizeof(*charging.lines_of_sites));
	error = charging.spokesmen && charging.needed && charging.lines_of_sites
			? find_needed(&charging)
			: -ENOMEM;
	if (!error)
		find_lines(&charging);
	for (size_t i = 0; !error && i < input->log->sample_count; i++)
		charge_vote(&charging, i);
	for (size_t i = 0; !error && i < lines->count; i++)
		if (charging.spokesmen[i].time_ns)
			error = describe(&charging, &charging.spokesmen[i], &lines->lines[i]);
	free(charging.spokesmen);
	free(charging.needed);
	free(charging.lines_of_sites);
	argument_findings_deinit(&charging.findings);
	return error;
}
