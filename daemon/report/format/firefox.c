/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Firefox Profiler's processed profile format (docs-developer/
 * CHANGELOG-formats.md and src/types/profile.ts of github.com/firefox-devtools/
 * profiler). Its version is pinned: newer readers convert older versions.
 *
 * Tables are written as structures of arrays, a column at a time:
 *
 *   samples -> stackTable -> frameTable -> funcTable -> sources, resourceTable
 *
 * Each thread is a track, with its samples where the profile knows that they were:
 * those of a slice of the run (struct profile_timeline) lie one behind the other from
 * its beginning on, by stack, and rows without a stack end them. Time of which it is
 * not known which thread it was is a track of its own, whose samples have no order.
 */
#include "daemon/report/encode/escape.h"
#include "daemon/report/format/firefox_table.h"
#include "daemon/report/format/writer.h"
#include "daemon/report/merge/profile_merge.h"
#include "daemon/report/model/container_text.h"
#include "daemon/report/model/stack_list.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define FORMAT_VERSION 66
#define GECKO_VERSION  36 /* of the unprocessed format it would have been made from */

#define RESOURCE_LIBRARY 1

/* The categories after "Other", which the format wants, are enum time_class in order. */
static const struct {
	const char *name, *colour;
} categories[] = {
	{ "Other", "grey" },
	{ "Python", "yellow" },
	{ "Native", "blue" },
	{ "System", "orange" },
};

#define CATEGORY_OF(time_class) ((unsigned)(time_class) + 1)
#define CATEGORIES              (TIME_CLASS_COUNT + 1)

struct firefox {
	const struct profile *profile;
	const struct profile_tree *tree;
	struct firefox_table table;
	FILE *file;
};

/* ---- columns ---- */

static void begin_column(struct firefox *firefox, const char *name)
{
	fprintf(firefox->file, "\"%s\":[", name);
}

static void put_integer(struct firefox *firefox, size_t row, int64_t value)
{
	fprintf(firefox->file, "%s%" PRId64, row ? "," : "", value);
}

/* Rows of a table or null. */
static void firefox_put_row(struct firefox *firefox, size_t row, int64_t value)
{
	if (value < 0)
		fprintf(firefox->file, "%snull", row ? "," : "");
	else
		put_integer(firefox, row, value);
}

static void end_column(struct firefox *firefox)
{
	fputs("],\n", firefox->file);
}

static void put_constant(struct firefox *firefox, const char *name, const char *value, size_t count)
{
	begin_column(firefox, name);
	for (size_t i = 0; i < count; i++)
		fprintf(firefox->file, "%s%s", i ? "," : "", value);
	end_column(firefox);
}

static void firefox_put_text(struct firefox *firefox, const char *name, const char *text)
{
	fprintf(firefox->file, "\"%s\":", name);
	escape_json(firefox->file, text);
	fputc(',', firefox->file);
}

static void end_table(struct firefox *firefox, size_t length, bool last)
{
	fprintf(firefox->file, "\"length\":%zu}%s\n", length, last ? "" : ",");
}

static void put_milliseconds(struct firefox *firefox, uint64_t time_ns)
{
	fprintf(firefox->file, "%" PRIu64 ".%06" PRIu64, time_ns / 1000000, time_ns % 1000000);
}

static void put_stack_table(struct firefox *firefox)
{
	fputs("\"stackTable\":{", firefox->file);
	begin_column(firefox, "frame");
	for (size_t i = 0; i < firefox->table.stack_count; i++)
		put_integer(firefox, i, firefox->table.stacks[i].frame);
	end_column(firefox);
	begin_column(firefox, "prefixOffset");
	for (size_t i = 0; i < firefox->table.stack_count; i++)
		put_integer(firefox, i, firefox->table.stacks[i].offset);
	end_column(firefox);
	end_table(firefox, firefox->table.stack_count, false);
}

static const struct profile_frame *frame_of_row(const struct firefox *firefox, size_t row)
{
	return &firefox->tree->frames[firefox->table.frames[row].frame];
}

static void put_frame_table(struct firefox *firefox)
{
	size_t count = firefox->table.frame_count;

	fputs("\"frameTable\":{", firefox->file);
	begin_column(firefox, "address");
	for (size_t i = 0; i < count; i++) {
		const struct profile_frame *frame = frame_of_row(firefox, i);
		bool known = frame->kind == FRAME_NATIVE && frame->address &&
			     frame->address <= INT64_MAX;

		put_integer(firefox, i, known ? (int64_t)frame->address : -1);
	}
	end_column(firefox);
	put_constant(firefox, "inlineDepth", "0", count);
	begin_column(firefox, "category");
	for (size_t i = 0; i < count; i++)
		put_integer(firefox, i, CATEGORY_OF(firefox->table.frames[i].category));
	end_column(firefox);
	put_constant(firefox, "subcategory", "0", count);
	begin_column(firefox, "func");
	for (size_t i = 0; i < count; i++)
		put_integer(firefox, i,
			    firefox->table.function_of_frame[firefox->table.frames[i].frame]);
	end_column(firefox);
	put_constant(firefox, "nativeSymbol", "null", count);
	put_constant(firefox, "innerWindowID", "0", count);
	begin_column(firefox, "line");
	for (size_t i = 0; i < count; i++) {
		int line = frame_of_row(firefox, i)->line;

		firefox_put_row(firefox, i, line > 0 ? line : -1);
	}
	end_column(firefox);
	put_constant(firefox, "column", "null", count);
	put_constant(firefox, "originalLocation", "null", count);
	end_table(firefox, count, false);
}

static void put_function_table(struct firefox *firefox)
{
	size_t count = firefox->table.function_count;

	fputs("\"funcTable\":{", firefox->file);
	begin_column(firefox, "name");
	for (size_t i = 0; i < count; i++)
		put_integer(firefox, i, firefox->table.functions[i].name);
	end_column(firefox);
	/* The reader's choice of "JavaScript" or "Native" frames then is one of Python or native.
	 */
	begin_column(firefox, "isJS");
	for (size_t i = 0; i < count; i++)
		fprintf(firefox->file, "%s%s", i ? "," : "",
			firefox->table.functions[i].is_python ? "true" : "false");
	end_column(firefox);
	put_constant(firefox, "relevantForJS", "false", count);
	begin_column(firefox, "resource");
	for (size_t i = 0; i < count; i++)
		put_integer(firefox, i, firefox->table.functions[i].library);
	end_column(firefox);
	begin_column(firefox, "source");
	for (size_t i = 0; i < count; i++)
		firefox_put_row(firefox, i, firefox->table.functions[i].source);
	end_column(firefox);
	put_constant(firefox, "lineNumber", "null", count);
	put_constant(firefox, "columnNumber", "null", count);
	put_constant(firefox, "originalLocation", "null", count);
	end_table(firefox, count, false);
}

/* A library is a resource of the same number; names are their strings. */
static void put_resource_table(struct firefox *firefox, const uint32_t *names)
{
	size_t count = firefox->table.libraries.count;

	fputs("\"resourceTable\":{", firefox->file);
	begin_column(firefox, "lib");
	for (size_t i = 0; i < count; i++)
		put_integer(firefox, i, (int64_t)i);
	end_column(firefox);
	begin_column(firefox, "name");
	for (size_t i = 0; i < count; i++)
		put_integer(firefox, i, names[i]);
	end_column(firefox);
	put_constant(firefox, "host", "null", count);
	begin_column(firefox, "type");
	for (size_t i = 0; i < count; i++)
		put_integer(firefox, i, RESOURCE_LIBRARY);
	end_column(firefox);
	end_table(firefox, count, false);
	fputs("\"nativeSymbols\":{\"libIndex\":[],\"address\":[],\"name\":[],\"functionSize\":[],"
	      "\"length\":0},\n",
	      firefox->file);
}

static void put_source_table(struct firefox *firefox, const uint32_t *paths)
{
	size_t count = firefox->table.sources.count;

	fputs("\"sources\":{", firefox->file);
	put_constant(firefox, "id", "null", count);
	begin_column(firefox, "filename");
	for (size_t i = 0; i < count; i++)
		put_integer(firefox, i, paths[i]);
	end_column(firefox);
	put_constant(firefox, "startLine", "1", count);
	put_constant(firefox, "startColumn", "1", count);
	put_constant(firefox, "sourceMapURL", "null", count);
	put_constant(firefox, "content", "null", count);
	end_table(firefox, count, false);
	fputs("\"sourceLocationTable\":{\"source\":[],\"line\":[],\"column\":[],\"length\":0},\n",
	      firefox->file);
}

static void firefox_put_strings(struct firefox *firefox)
{
	begin_column(firefox, "stringArray");
	for (size_t i = 0; i < firefox->table.strings.count; i++) {
		fputs(i ? ",\n" : "\n", firefox->file);
		escape_json(firefox->file, firefox->table.strings.strings[i]);
	}
	fputs("]", firefox->file);
}

static int put_shared(struct firefox *firefox)
{
	size_t libraries = firefox->table.libraries.count, sources = firefox->table.sources.count;
	uint32_t *ids = calloc(libraries + sources + 1, sizeof(*ids));

	if (!ids)
		return -ENOMEM;
	for (size_t i = 0; i < libraries + sources; i++) {
		const char *text = i < libraries ? path_last(firefox->table.libraries.strings[i])
						 : firefox->table.sources.strings[i - libraries];

		if (string_table_find(&firefox->table.strings, text, &ids[i])) {
			free(ids);
			return -ENOMEM;
		}
	}
	fputs("\"shared\":{\n", firefox->file);
	put_stack_table(firefox);
	put_frame_table(firefox);
	put_function_table(firefox);
	put_resource_table(firefox, ids);
	put_source_table(firefox, ids + libraries);
	firefox_put_strings(firefox);
	fputs("},\n", firefox->file);
	free(ids);
	return 0;
}

/* ---- samples ---- */

/* A sample lasts until the next row. */
struct sample_row {
	int64_t stack;    /* -1: none, nothing ran */
	uint64_t time_ns; /* on the axis */
	uint64_t weight_ns;
	uint64_t previous_ns; /* CPU time since the row before */
};

struct sample_rows {
	struct sample_row *items;
	size_t count;
	uint64_t end_ns;  /* where the last one ends */
	uint64_t last_ns; /* its weight */
};

static void add_row(struct sample_rows *rows, int64_t stack, uint64_t time_ns, uint64_t weight_ns)
{
	rows->items[rows->count++] =
		(struct sample_row){ stack, time_ns, weight_ns, rows->last_ns };
	rows->end_ns = time_ns + weight_ns;
	rows->last_ns = weight_ns;
}

/* As large as a reader of JSON takes: a recording may say more. */
static uint64_t row_bounded(uint64_t value)
{
	return value < INT64_MAX / 4 ? value : INT64_MAX / 4;
}

static void add_moment_rows(const struct firefox *firefox, const struct stack_moment *moment,
			    struct sample_rows *rows)
{
	uint64_t slice_ns = firefox->profile->facts.stack_timeline.slice_ns, begin_ns;
	bool placed = moment->thread != STACK_THREAD_NONE;

	if (!placed || __builtin_mul_overflow(moment->slice, slice_ns, &begin_ns))
		begin_ns = 0;
	begin_ns = row_bounded(begin_ns);
	if (rows->count && begin_ns > rows->end_ns)
		add_row(rows, -1, rows->end_ns, 0);
	for (size_t class = 0; class < TIME_CLASS_COUNT; class ++) {
		uint64_t weight_ns = row_bounded(moment->time_ns[class]);
		uint64_t time_ns = begin_ns > rows->end_ns ? begin_ns : rows->end_ns;

		if (weight_ns)
			add_row(rows, firefox->table.stack_of_node[moment->node][class],
				row_bounded(time_ns), weight_ns);
	}
}

static void put_rows(struct firefox *firefox, const struct sample_rows *rows)
{
	fputs("\"samples\":{\"weightType\":\"tracing-ms\",\n", firefox->file);
	begin_column(firefox, "stack");
	for (size_t i = 0; i < rows->count; i++)
		firefox_put_row(firefox, i, rows->items[i].stack);
	end_column(firefox);
	begin_column(firefox, "time");
	for (size_t i = 0; i < rows->count; i++) {
		fputs(i ? "," : "", firefox->file);
		put_milliseconds(firefox, rows->items[i].time_ns);
	}
	end_column(firefox);
	begin_column(firefox, "weight");
	for (size_t i = 0; i < rows->count; i++) {
		fputs(i ? "," : "", firefox->file);
		put_milliseconds(firefox, rows->items[i].weight_ns);
	}
	end_column(firefox);
	begin_column(firefox, "threadCPUDelta");
	for (size_t i = 0; i < rows->count; i++)
		put_integer(firefox, i, (int64_t)rows->items[i].previous_ns);
	end_column(firefox);
	end_table(firefox, rows->count, false);
	fputs("\"markers\":{\"data\":[],\"name\":[],\"startTime\":[],\"endTime\":[],\"phase\":[],"
	      "\"category\":[],\"length\":0}}",
	      firefox->file);
}

static const char *process_name(const struct firefox *firefox, pid_t pid, char *text, size_t size)
{
	const struct profile *profile = firefox->profile;
	const struct profile_target *target = &profile->facts.target;

	for (size_t i = 0; i < profile->process_count; i++)
		if (pid && profile->processes[i].pid == pid) {
			snprintf(text, size, "%s%s", process_title(profile->processes[i].command),
				 container_suffix(&profile->processes[i].container).text);
			return text;
		}
	snprintf(text, size, "%.*s%s", (int)sizeof(target->comm), target->comm,
		 container_suffix(&target->container).text);
	return text;
}

/* Of one thread, or of none that is known; alone: there is no other. */
static void firefox_put_thread(struct firefox *firefox, uint32_t index, bool alone,
			       const struct sample_rows *rows)
{
	const struct profile_facts *facts = &firefox->profile->facts;
	const struct profile_thread *thread =
		index == STACK_THREAD_NONE ? NULL : &facts->threads[index];
	pid_t pid = stack_thread_pid(firefox->profile, index), tid = thread ? thread->tid : 0;
	char name[512];
	bool is_main = alone || (tid && tid == pid);

	if (!pid)
		pid = facts->target.pid;
	fprintf(firefox->file,
		"{\"processType\":\"default\",\"processStartupTime\":0,"
		"\"processShutdownTime\":null,\"registerTime\":0,\"unregisterTime\":null,"
		"\"pausedRanges\":[],\"isMainThread\":%s,",
		is_main ? "true" : "false");
	snprintf(name, sizeof(name), "%.*s", (int)sizeof(thread->name),
		 thread  ? thread->name
		 : alone ? "all threads"
			 : "unknown thread");
	firefox_put_text(firefox, "name", name);
	firefox_put_text(firefox, "processName", process_name(firefox, pid, name, sizeof(name)));
	/* A thread's number is shown, and tells it from others: each has one. */
	fprintf(firefox->file, "\"pid\":\"%d\",\"tid\":", (int)pid);
	if (tid)
		fprintf(firefox->file, "%d,\n", (int)tid);
	else
		fprintf(firefox->file, "\"%s\",\n", thread ? "others" : "unknown");
	put_rows(firefox, rows);
}

static int firefox_put_moments(struct firefox *firefox, const struct moment_list *moments)
{
	/* Each class of time is a row, and a pause may go before a moment. */
	struct sample_rows rows = {
		.items = calloc(moments->count * (TIME_CLASS_COUNT + 1) + 1, sizeof(*rows.items)),
	};
	bool first = true, alone;

	if (!rows.items)
		return -ENOMEM;
	alone = !moments->count ||
		moments->items[0].thread == moments->items[moments->count - 1].thread;
	fputs("\"threads\":[", firefox->file);
	for (size_t i = 0; i < moments->count && !ferror(firefox->file); i++) {
		const struct stack_moment *moment = &moments->items[i];

		add_moment_rows(firefox, moment, &rows);
		if (i + 1 < moments->count && moment[1].thread == moment->thread)
			continue;
		add_row(&rows, -1, rows.end_ns, 0);
		fputs(first ? "" : ",\n", firefox->file);
		firefox_put_thread(firefox, moment->thread, alone, &rows);
		rows.count = 0;
		rows.end_ns = rows.last_ns = 0;
		first = false;
	}
	if (first)
		firefox_put_thread(firefox, STACK_THREAD_NONE, true, &rows);
	fputs("]}\n", firefox->file);
	free(rows.items);
	return 0;
}

static int firefox_put_threads(struct firefox *firefox)
{
	struct stack_list stacks;
	struct moment_list moments = { 0 };
	int result = stack_list_init(&stacks, firefox->profile);

	if (!result)
		result = moment_list_init(&moments, firefox->profile, &stacks);
	if (!result)
		result = firefox_put_moments(firefox, &moments);
	moment_list_deinit(&moments);
	stack_list_deinit(&stacks);
	return result;
}

/* ---- about the profile ---- */

static void put_categories(struct firefox *firefox)
{
	begin_column(firefox, "categories");
	for (size_t i = 0; i < CATEGORIES; i++)
		fprintf(firefox->file,
			"%s{\"name\":\"%s\",\"color\":\"%s\",\"subcategories\":[\"Other\"]}",
			i ? "," : "", categories[i].name, categories[i].colour);
	end_column(firefox);
}

static void put_meta(struct firefox *firefox)
{
	const struct profile_facts *facts = &firefox->profile->facts;
	char text[sizeof(facts->target.comm) + sizeof(struct container_text)];

	fprintf(firefox->file,
		"{\"meta\":{\"version\":%d,\"preprocessedProfileVersion\":%d,\n\"interval\":",
		GECKO_VERSION, FORMAT_VERSION);
	put_milliseconds(firefox, facts->period_ns);
	fputs(",\"startTime\":", firefox->file);
	put_milliseconds(firefox, facts->started_unix_ns);
	fputs(",\"processType\":0,\"stackwalk\":1,\"symbolicated\":true,\"debug\":false,\n",
	      firefox->file);
	put_categories(firefox);
	snprintf(text, sizeof(text), "%.*s%s", (int)sizeof(facts->target.comm), facts->target.comm,
		 container_suffix(&facts->target.container).text);
	firefox_put_text(firefox, "product", text);
	snprintf(text, sizeof(text), "pieprofd %.60s", facts->version);
	firefox_put_text(firefox, "importedFrom", text);
	snprintf(text, sizeof(text), "Python %d.%d.%d", facts->target.python.major,
		 facts->target.python.minor, facts->target.python.micro);
	firefox_put_text(firefox, "misc", text);
	fputs("\n\"platform\":\"Linux\",\"oscpu\":\"Linux x86_64\",\"markerSchema\":[],"
	      "\"sourceCodeIsNotOnSearchfox\":true,\"sampleUnits\":{\"time\":\"ms\","
	      "\"eventDelay\":\"ms\",\"threadCPUDelta\":\"ns\"}},\n",
	      firefox->file);
}

static void put_libraries(struct firefox *firefox)
{
	begin_column(firefox, "libs");
	for (size_t i = 0; i < firefox->table.libraries.count; i++) {
		const char *path = firefox->table.libraries.strings[i];

		fprintf(firefox->file, "%s\n{\"arch\":\"x86_64\",", i ? "," : "");
		firefox_put_text(firefox, "name", path_last(path));
		firefox_put_text(firefox, "path", path);
		firefox_put_text(firefox, "debugName", path_last(path));
		firefox_put_text(firefox, "debugPath", path);
		fputs("\"breakpadId\":\"\",\"codeId\":", firefox->file);
		if (firefox->table.build_ids[i])
			escape_json(firefox->file, firefox->table.build_ids[i]);
		else
			fputs("null", firefox->file);
		fputc('}', firefox->file);
	}
	end_column(firefox);
}

static int firefox_write(const struct profile *profile, const struct writer_options *options,
			 FILE *file)
{
	struct firefox firefox = { .profile = profile, .tree = &profile->tree, .file = file };
	int result = firefox_table_init(&firefox.table, &profile->tree);

	(void)options;
	if (!result) {
		put_meta(&firefox);
		put_libraries(&firefox);
		fputs("\"pages\":[],\n", file);
		result = put_shared(&firefox);
	}
	if (!result)
		result = firefox_put_threads(&firefox);
	firefox_table_deinit(&firefox.table);
	return result ? result : ferror(file) ? -EIO : 0;
}

const struct writer writer_firefox = { .name = "firefox",
				       .extension = ".firefox.json",
				       .write = firefox_write };
