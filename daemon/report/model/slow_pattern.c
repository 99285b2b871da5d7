/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/model/slow_pattern.h"

#include "common/array.h"
#include "daemon/report/model/argument_evidence.h"
#include "daemon/report/model/own_line.h"
#include "daemon/report/model/pattern_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum pattern_id {
	PATTERN_NONE,
	PATTERN_ITERROWS,
	PATTERN_ITERTUPLES,
	PATTERN_APPLY_ROWS,
	PATTERN_GROWING_ARRAY,
	PATTERN_GROWING_LIST,
	PATTERN_BLOCKED_LOOP,
	PATTERN_SINGLE_FLOATS,
	PATTERN_COMPILED_AGAIN,
	PATTERN_JSON,
	PATTERN_DEEP_COPY,
	PATTERN_SINGLE_CELLS,
	PATTERN_COUNT
};

#define WAY(...) (&(const struct slow_way){ __VA_ARGS__ })

static const struct slow_pattern patterns[PATTERN_COUNT] = {
	[PATTERN_ITERROWS] = {
		"iterrows", "a data frame is gone through row by row",
		&slow_way_iterrows,
		CATEGORY_API_MISUSE,
		false,
	},
	[PATTERN_ITERTUPLES] = {
		"itertuples-in-apply", "each call of apply() goes through a data frame",
		WAY("goes through a data frame again for each row or group",
		    "join or merge the two frames once, or look rows up by index",
		    "df = df.merge(prices, on=\"item\")"),
		CATEGORY_INEFFICIENT_ALGORITHM,
		false,
	},
	[PATTERN_APPLY_ROWS] = {
		"apply-rows", "a Python function is called for each row of a data frame",
		&slow_way_apply_rows,
		CATEGORY_API_MISUSE,
		false,
	},
	[PATTERN_GROWING_ARRAY] = {
		"growing-array", "an array or a frame grows by copies",
		&slow_way_growing_array,
		CATEGORY_INEFFICIENT_ALGORITHM,
		false,
	},
	[PATTERN_GROWING_LIST] = {
		"growing-list", "a list grows by copies",
		WAY("copies the whole list to add a little",
		    "use append(), extend() or +=; itertools.chain() joins many lists",
		    "rows.append(row) in place of rows = rows + [row]"),
		CATEGORY_INEFFICIENT_ALGORITHM,
		false,
	},
	[PATTERN_BLOCKED_LOOP] = {
		"blocked-loop", "a coroutine makes a blocking call",
		WAY("blocks the event loop, so that all other tasks wait meanwhile",
		    "use an asynchronous client, or await asyncio.to_thread()",
		    "answer = await asyncio.to_thread(requests.get, url)"),
		CATEGORY_API_MISUSE,
		false,
	},
	[PATTERN_SINGLE_FLOATS] = {
		"single-floats", "single elements of an array are made Python numbers",
		WAY("takes single elements out of an array and makes a Python number of each",
		    "use operations on whole arrays, or tolist() once, before the loop",
		    "for x in a.tolist():"),
		CATEGORY_SLICE_UNDERUTILISATION,
		false,
	},
	[PATTERN_COMPILED_AGAIN] = {
		"compiled-again", "regular expressions are compiled or looked up at each call",
		WAY("compiles a regular expression at each call, or looks it up among those compiled before",
		    "call re.compile() once, outside of the loop, and use the methods of its result",
		    "word = re.compile(r\"\\w+\"), once; then word.match(text)"),
		CATEGORY_LOOP_INVARIANT,
		false,
	},
	[PATTERN_JSON] = {
		"json", "JSON is read or written again and again",
		WAY("reads or writes all of a JSON text at each call",
		    "keep the outcome where the text, or the object, is the same as before",
		    "if text != last: last, value = text, json.loads(text)"),
		CATEGORY_REPEATED_CALL,
		true,
	},
	[PATTERN_DEEP_COPY] = {
		"deep-copy", "objects are copied deeply",
		&slow_way_deep_copy,
		CATEGORY_API_MISUSE,
		false,
	},
	[PATTERN_SINGLE_CELLS] = {
		"single-cells", "a data frame is read or written cell by cell",
		WAY("goes through pandas's indexing for each cell or row",
		    "work on whole columns, or on to_numpy() of them; for a single cell there is .at",
		    "prices = df.price.to_numpy(), once; then prices[i]"),
		CATEGORY_SLICE_UNDERUTILISATION,
		false,
	},
};

/* A library's function under a line of the program. */
static const struct called {
	const char *file; /* end of the path */
	const char *function;
	enum pattern_id pattern;
	bool in_apply; /* only there */
	bool in_loop;  /* only in a callback or task of an event loop */
	bool outer;    /* also what it calls back, of the program, is its time */
	/* Only under such a line; NULL: any. */
	bool (*wanted)(const char *source);
} called[] = {
	{ "/pandas/core/frame.py", "iterrows", PATTERN_ITERROWS, 0, 0, 0, NULL },
	{ "/pandas/core/frame.py", "itertuples", PATTERN_ITERTUPLES, 1, 0, 0, NULL },
	{ "/pandas/core/apply.py", "apply_standard", PATTERN_APPLY_ROWS, 0, 0, 1,
	  pattern_text_by_rows },
	{ "/pandas/core/frame.py", "append", PATTERN_GROWING_ARRAY, 0, 0, 0, NULL },
	{ "/pandas/core/reshape/concat.py", "concat", PATTERN_GROWING_ARRAY, 0, 0, 0,
	  pattern_text_grows },
	{ "/numpy/lib/function_base.py", "append", PATTERN_GROWING_ARRAY, 0, 0, 0, NULL },
	{ "/numpy/lib/_function_base_impl.py", "append", PATTERN_GROWING_ARRAY, 0, 0, 0, NULL },
	{ "/requests/sessions.py", "request", PATTERN_BLOCKED_LOOP, 0, 1, 0, NULL },
	{ "/urllib/request.py", "urlopen", PATTERN_BLOCKED_LOOP, 0, 1, 0, NULL },
	{ "/http/client.py", "request", PATTERN_BLOCKED_LOOP, 0, 1, 0, NULL },
	{ "/http/client.py", "getresponse", PATTERN_BLOCKED_LOOP, 0, 1, 0, NULL },
	{ "/socket.py", "create_connection", PATTERN_BLOCKED_LOOP, 0, 1, 0, NULL },
	{ "/subprocess.py", "run", PATTERN_BLOCKED_LOOP, 0, 1, 0, NULL },
	{ "/subprocess.py", "check_output", PATTERN_BLOCKED_LOOP, 0, 1, 0, NULL },
	{ "/subprocess.py", "communicate", PATTERN_BLOCKED_LOOP, 0, 1, 0, NULL },
	{ "/subprocess.py", "wait", PATTERN_BLOCKED_LOOP, 0, 1, 0, NULL },
	{ "/re/__init__.py", "_compile", PATTERN_COMPILED_AGAIN, 0, 0, 0, NULL },
	{ "/re.py", "_compile", PATTERN_COMPILED_AGAIN, 0, 0, 0, NULL },
	{ "/json/__init__.py", "loads", PATTERN_JSON, 0, 0, 0, NULL },
	{ "/json/__init__.py", "load", PATTERN_JSON, 0, 0, 0, NULL },
	{ "/json/__init__.py", "dumps", PATTERN_JSON, 0, 0, 0, NULL },
	{ "/json/__init__.py", "dump", PATTERN_JSON, 0, 0, 0, NULL },
	{ "/copy.py", "deepcopy", PATTERN_DEEP_COPY, 0, 0, 0, NULL },
	{ "/pandas/core/indexing.py", "__getitem__", PATTERN_SINGLE_CELLS, 0, 0, 0, NULL },
	{ "/pandas/core/indexing.py", "__setitem__", PATTERN_SINGLE_CELLS, 0, 0, 0, NULL },
};

#define CALLED_COUNT (sizeof(called) / sizeof(called[0]))
#define NONE         UINT32_MAX
#define HITS_MAX     256
/* Longer lines are nobody's own writing, and take long to look at. */
#define SOURCE_MAX 512

/* A line of the program with a pattern. */
struct hit {
	const struct profile_frame *frame;
	enum pattern_id pattern;
	uint64_t time_ns;
};

/* Of a stack's frames so far, from the outermost one on. */
struct scene {
	uint32_t own;             /* the tree's frame of the innermost line of the program */
	enum pattern_id in_numpy; /* its pattern, should numpy's own code come below it */
	uint32_t inner, outer;    /* hits; NONE */
	bool in_apply, in_loop;
};

struct pattern_search {
	const struct profile_tree *tree;
	struct scene *scenes; /* by node */
	struct hit *hits;
	size_t count, capacity;
	bool failed;
};

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), end_length = strlen(end);

	return length >= end_length && !strcmp(text + length - end_length, end);
}

/* The function alone: from Python 3.11 on its class's name stands before it. */
static const char *bare_name(const struct profile_frame *frame)
{
	const char *dot = strrchr(frame->function, '.');

	return dot ? dot + 1 : frame->function;
}

static uint32_t put_hit(struct pattern_search *search, const struct profile_frame *frame,
			enum pattern_id pattern)
{
	for (size_t i = 0; i < search->count; i++)
		if (search->hits[i].pattern == pattern &&
		    search->hits[i].frame->line == frame->line &&
		    !strcmp(search->hits[i].frame->file, frame->file))
			return (uint32_t)i;
	if (search->count == HITS_MAX)
		return NONE;
	if (!ARRAY_ROOM(search->hits, search->count, search->capacity)) {
		search->failed = true;
		return NONE;
	}
	search->hits[search->count] = (struct hit){ .frame = frame, .pattern = pattern };
	return (uint32_t)search->count++;
}

static void enter_own(struct pattern_search *search, struct scene *scene, uint32_t index)
{
	const struct profile_frame *frame = &search->tree->frames[index];

	scene->own = index;
	scene->inner = NONE;
	scene->in_numpy = PATTERN_NONE;
	if (!frame->source || strnlen(frame->source, SOURCE_MAX) == SOURCE_MAX)
		return;
	if (pattern_text_adds_list(frame->source))
		scene->inner = put_hit(search, frame, PATTERN_GROWING_LIST);
	else if (pattern_text_grows(frame->source))
		scene->in_numpy = PATTERN_GROWING_ARRAY;
	else if (pattern_text_single_float(frame->source))
		scene->in_numpy = PATTERN_SINGLE_FLOATS;
}

static bool is_wanted(const struct scene *scene, const struct called *entry, const char *source)
{
	return (!entry->in_apply || scene->in_apply) && (!entry->in_loop || scene->in_loop) &&
	       (!entry->wanted ||
		(source && strnlen(source, SOURCE_MAX) < SOURCE_MAX && entry->wanted(source)));
}

static void pattern_enter_library(struct pattern_search *search, struct scene *scene,
				  const struct profile_frame *frame)
{
	const struct profile_frame *own;
	const char *name = bare_name(frame);

	scene->in_apply |= ends_with(frame->file, "/pandas/core/apply.py");
	scene->in_loop |= !strcmp(name, "_run") && ends_with(frame->file, "/asyncio/events.py");
	if (scene->own == NONE || scene->inner != NONE)
		return;
	own = &search->tree->frames[scene->own];
	for (size_t i = 0; i < CALLED_COUNT; i++) {
		uint32_t hit;

		if (strcmp(name, called[i].function) || !ends_with(frame->file, called[i].file) ||
		    !is_wanted(scene, &called[i], own->source))
			continue;
		hit = put_hit(search, own, called[i].pattern);
		if (!called[i].outer)
			scene->inner = hit;
		else if (scene->outer == NONE)
			scene->outer = hit;
		return;
	}
}

static void enter_frame(struct pattern_search *search, struct scene *scene, uint32_t index)
{
	const struct profile_frame *frame = &search->tree->frames[index];

	if (own_line_is_own(frame)) {
		enter_own(search, scene, index);
	} else if (frame->kind == FRAME_PYTHON) {
		pattern_enter_library(search, scene, frame);
	} else if (scene->in_numpy != PATTERN_NONE && scene->inner == NONE &&
		   strstr(frame->file, "_multiarray_umath")) {
		scene->inner = put_hit(search, &search->tree->frames[scene->own], scene->in_numpy);
	}
}

static void search_tree(struct pattern_search *search)
{
	const struct profile_tree *tree = search->tree;

	/* A parent goes before its children. */
	for (size_t i = 0; i < tree->node_count; i++) {
		const struct profile_node *node = &tree->nodes[i];
		struct scene *scene = &search->scenes[i];
		uint64_t time_ns = time_sum(node->time_ns);

		*scene = node->parent == PROFILE_NODE_NONE
				 ? (struct scene){ .own = NONE, .inner = NONE, .outer = NONE }
				 : search->scenes[node->parent];
		enter_frame(search, scene, node->frame);
		if (scene->inner != NONE)
			search->hits[scene->inner].time_ns += time_ns;
		if (scene->outer != NONE && scene->outer != scene->inner)
			search->hits[scene->outer].time_ns += time_ns;
	}
}

static int compare_hits(const void *left, const void *right)
{
	const struct hit *a = left, *b = right;

	if (a->time_ns != b->time_ns)
		return a->time_ns > b->time_ns ? -1 : 1;
	if (a->pattern != b->pattern)
		return a->pattern < b->pattern ? -1 : 1;
	return a->frame < b->frame ? -1 : a->frame > b->frame;
}

static const struct profile_line *line_at(const struct profile *profile,
					  const struct profile_frame *frame)
{
	for (size_t i = 0; i < profile->line_count; i++)
		if (profile->lines[i].line == frame->line &&
		    !strcmp(profile->lines[i].file, frame->file))
			return &profile->lines[i];
	return NULL;
}

/* What its calls get was compared, and is something else each time. */
static bool is_never_the_same(const struct profile_line *line)
{
	return argument_evidence_verdict(&line->evidence.arguments, line->charged_ns) ==
	       ARGUMENT_NEEDED;
}

static size_t take_hits(const struct profile *profile, const struct pattern_search *search,
			struct slow_pattern_hit *hits, size_t max)
{
	double least_ns = SLOW_PATTERN_SHARE_MIN * (double)time_sum(profile->time_ns);
	size_t count = 0;

	for (size_t i = 0; i < search->count && count < max; i++) {
		const struct hit *hit = &search->hits[i];
		const struct profile_line *line = line_at(profile, hit->frame);
		const struct slow_pattern *pattern = &patterns[hit->pattern];

		if (!hit->time_ns || (double)hit->time_ns < least_ns)
			break;
		if (line && !(pattern->of_the_same && is_never_the_same(line)))
			hits[count++] = (struct slow_pattern_hit){ pattern, line, hit->time_ns };
	}
	return count;
}

int slow_patterns_find(const struct profile *profile, struct slow_pattern_hit *hits, size_t max)
{
	struct pattern_search search = {
		.tree = &profile->tree,
		.scenes = calloc(profile->tree.node_count + 1, sizeof(*search.scenes)),
	};
	size_t count = 0;

	if (search.scenes)
		search_tree(&search);
	else
		search.failed = true;
	if (!search.failed && search.count) {
		qsort(search.hits, search.count, sizeof(*search.hits), compare_hits);
		count = take_hits(profile, &search, hits, max);
	}
	free(search.scenes);
	free(search.hits);
	return search.failed ? -ENOMEM : (int)count;
}
