/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/trace/trace_html_data.h"

#include "common/array.h"
#include "daemon/report/encode/escape.h"
#include "daemon/trace/mpi_function.h"
#include "daemon/trace/trace_thread.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_MAX 400
/* What JavaScript's numbers have exactly: 104 days. */
#define NUMBER_MAX (1ull << 53)

/* ---- the largest of many, without sorting them ---- */

/* Sixteen classes to a power of two. */
#define STEPS   16
#define CLASSES (65 * STEPS)

struct choice {
	uint64_t counts[CLASSES];
	unsigned least; /* the class of which a part is taken, the larger are whole */
	uint64_t in_least, room, taken; /* of that class */
	uint64_t seen;
};

static unsigned class_of(uint64_t value)
{
	unsigned bits = value ? 63 - (unsigned)__builtin_clzll(value) : 0;
	uint64_t rest = value ? value ^ (1ull << bits) : 0;

	if (!value)
		return 0;
	rest = bits >= 4 ? rest >> (bits - 4) : rest << (4 - bits);
	return (bits + 1) * STEPS + (unsigned)rest;
}

static void choice_count(struct choice *choice, uint64_t value)
{
	choice->counts[class_of(value)]++;
}

/* At most so many of those counted. */
static void choice_settle(struct choice *choice, uint64_t most)
{
	uint64_t sum = 0;
	unsigned at = CLASSES;

	while (at > 0 && sum + choice->counts[at - 1] <= most)
		sum += choice->counts[--at];
	choice->least = at ? at - 1 : 0;
	choice->in_least = at ? choice->counts[at - 1] : choice->counts[0];
	choice->room = at ? most - sum : choice->in_least;
}

/* Asked in order, once of each: of the class that has no room for all, some of everywhere. */
static bool choice_takes(struct choice *choice, uint64_t value)
{
	unsigned class = class_of(value);

	if (class != choice->least)
		return class > choice->least;
	choice->seen++;
	if (choice->taken >=
	    (uint64_t)((double)choice->seen * (double)choice->room / (double)choice->in_least))
		return false;
	choice->taken++;
	return true;
}

/* ---- what is drawn ---- */

struct call {
	const struct trace_event *event;
	uint32_t row, name;
};

struct data {
	const struct trace_analysis *analysis;
	struct trace_threads *threads; /* of each process that has rows */
	uint32_t *first_rows;          /* of each process; UINT32_MAX: it has none */
	uint32_t rows;
	uint64_t rows_left_out;
	struct call *calls;
	size_t call_count, call_capacity;
	uint64_t calls_left_out, messages_left_out;
	uint32_t *path_numbers; /* in the page, by that of the trace; 0: is not there */
	uint32_t *paths;        /* the other way round */
	uint32_t path_count;
	uint64_t length_ns;
	uint64_t *bins; /* time of calls that are left out, by row */
};

static uint64_t bounded(uint64_t number)
{
	return number < NUMBER_MAX ? number : NUMBER_MAX;
}

static uint64_t since(const struct data *data, uint64_t ns)
{
	uint64_t begin_ns = data->analysis->trace->begin_ns;

	return ns <= begin_ns                    ? 0
	       : ns - begin_ns > data->length_ns ? data->length_ns
						 : ns - begin_ns;
}

static uint64_t time_of(const struct data *data, const struct trace_event *event)
{
	return since(data, event->end_ns) - since(data, event->begin_ns);
}

/* Spans come behind the functions. */
static bool is_drawn(const struct data *data, const struct trace_event *event)
{
	return event->kind == TRACE_CALL
		       ? event->function < mpi_function_count
		       : event->kind == TRACE_SPAN && trace_span(data->analysis->trace, event);
}

static int find_rows(struct data *data)
{
	const struct trace *trace = data->analysis->trace;

	data->threads = calloc(trace->count + 1, sizeof(data->threads[0]));
	data->first_rows = calloc(trace->count + 1, sizeof(data->first_rows[0]));
	if (!data->threads || !data->first_rows)
		return -ENOMEM;
	for (size_t i = 0; i < trace->count; i++) {
		struct trace_threads *threads = &data->threads[i];

		trace_threads_find(data->analysis, i, threads);
		data->first_rows[i] = data->rows;
		if (data->rows == TRACE_HTML_ROWS_MAX) {
			data->first_rows[i] = UINT32_MAX;
			data->rows_left_out += threads->count;
			continue;
		}
		if (threads->count > TRACE_HTML_ROWS_MAX - data->rows) {
			data->rows_left_out += threads->count - (TRACE_HTML_ROWS_MAX - data->rows);
			threads->count = TRACE_HTML_ROWS_MAX - data->rows;
		}
		data->rows += threads->count;
	}
	return 0;
}

/* Threads without a row of their own have their process's first one, as in all formats. */
static uint32_t row_of(const struct data *data, size_t place, uint32_t thread)
{
	if (data->first_rows[place] == UINT32_MAX)
		return UINT32_MAX;
	return data->first_rows[place] + trace_threads_place(&data->threads[place], thread);
}

static void find_length(struct data *data)
{
	const struct trace *trace = data->analysis->trace;
	uint64_t end_ns = trace->end_ns > trace->begin_ns ? trace->end_ns : trace->begin_ns;

	data->length_ns = bounded(end_ns - trace->begin_ns);
}

static void add_to_bins(struct data *data, uint32_t row, const struct trace_event *event)
{
	uint64_t width_ns = data->length_ns / TRACE_HTML_BINS + 1;
	uint64_t at_ns = since(data, event->begin_ns), end_ns = since(data, event->end_ns);

	while (at_ns < end_ns) {
		uint64_t bin = at_ns / width_ns, next_ns = (bin + 1) * width_ns;

		if (next_ns > end_ns)
			next_ns = end_ns;
		data->bins[(uint64_t)row * TRACE_HTML_BINS + bin] += next_ns - at_ns;
		at_ns = next_ns;
	}
}

static uint32_t name_of(const struct trace_event *event)
{
	return event->kind == TRACE_CALL ? event->function
					 : (uint32_t)mpi_function_count + event->function;
}

static void keep_path(struct data *data, uint32_t path)
{
	const struct call_paths *paths = data->analysis->trace->paths;

	if (!paths || !call_paths_frame(paths, path) || data->path_numbers[path])
		return;
	data->path_numbers[path] = ++data->path_count;
	data->paths[data->path_count] = path;
}

static int take_call(struct data *data, struct choice *choice, size_t place,
		     const struct trace_event *event)
{
	uint32_t row = row_of(data, place, event->thread);

	if (row != UINT32_MAX && choice_takes(choice, time_of(data, event))) {
		if (!ARRAY_ROOM(data->calls, data->call_count, data->call_capacity))
			return -ENOMEM;
		data->calls[data->call_count++] =
			(struct call){ .event = event, .row = row, .name = name_of(event) };
		keep_path(data, event->path);
		return 0;
	}
	data->calls_left_out++;
	if (row != UINT32_MAX && event->kind == TRACE_CALL)
		add_to_bins(data, row, event);
	return 0;
}

/* Twice over all of them, so that none needs to be kept that is not shown. */
static int choose_calls(struct data *data)
{
	const struct trace *trace = data->analysis->trace;
	struct choice choice = { .least = 0 };

	for (size_t i = 0; i < trace->count; i++)
		for (uint64_t k = 0; k < trace->processes[i]->file.count; k++)
			if (data->first_rows[i] != UINT32_MAX &&
			    is_drawn(data, &trace->processes[i]->file.events[k]))
				choice_count(&choice,
					     time_of(data, &trace->processes[i]->file.events[k]));
	choice_settle(&choice, TRACE_HTML_CALLS_MAX);
	for (size_t i = 0; i < trace->count; i++)
		for (uint64_t k = 0; k < trace->processes[i]->file.count; k++)
			if (is_drawn(data, &trace->processes[i]->file.events[k]) &&
			    take_call(data, &choice, i, &trace->processes[i]->file.events[k]))
				return -ENOMEM;
	return 0;
}

/* ---- JSON ---- */

static void put_row_name(const struct trace_process *process, FILE *file)
{
	char name[32];

	if (process->library)
		snprintf(name, sizeof(name), "rank %d", (int)process->rank);
	else
		snprintf(name, sizeof(name), "pid %d", (int)process->pid);
	escape_json(file, name);
}

static void put_rows(const struct data *data, FILE *file)
{
	const struct trace *trace = data->analysis->trace;
	bool first = true;

	fputs("\"rows\":[", file);
	for (size_t i = 0; i < trace->count; i++) {
		char title[128];

		if (data->first_rows[i] == UINT32_MAX)
			continue;
		trace_process_title(trace->processes[i], title, sizeof(title));
		for (unsigned k = 0; k < data->threads[i].count; k++) {
			fputs(first ? "[" : ",[", file);
			put_row_name(trace->processes[i], file);
			fprintf(file, ",%" PRIu32 ",", k ? data->threads[i].items[k] : 0);
			escape_json(file, title);
			fputc(']', file);
			first = false;
		}
	}
	fprintf(file, "],\"rows_left_out\":%" PRIu64 ",", data->rows_left_out);
}

static enum trace_html_class class_of_function(unsigned number)
{
	switch (mpi_functions[number].class) {
	case MPI_SEND:
	case MPI_SEND_REQUEST:
		return TRACE_HTML_SEND;
	case MPI_RECEIVE:
	case MPI_RECEIVE_REQUEST:
	case MPI_SENDRECV:
	case MPI_SENDRECV_REPLACE:
	case MPI_PROBE:
	case MPI_RECEIVE_MESSAGE:
	case MPI_RECEIVE_MESSAGE_REQUEST:
	case MPI_WAIT:
	case MPI_WAIT_ALL:
	case MPI_WAIT_ANY:
	case MPI_WAIT_SOME:
		return TRACE_HTML_RECEIVE;
	case MPI_COLLECTIVE:
	case MPI_FROM_ROOT:
	case MPI_TO_ROOT:
	case MPI_SCAN:
	case MPI_COMMUNICATOR_DUP:
	case MPI_COMMUNICATOR_SPLIT:
	case MPI_COMMUNICATOR_CREATE:
		return TRACE_HTML_COLLECTIVE;
	default:
		return TRACE_HTML_OTHER;
	}
}

static void put_names(const struct data *data, FILE *file)
{
	const struct span_list *spans = data->analysis->trace->spans;

	fputs("\"names\":[", file);
	for (unsigned i = 0; i < mpi_function_count; i++)
		fprintf(file, "%s[\"%s\",%d]", i ? "," : "", mpi_function_name(i),
			(int)class_of_function(i));
	for (unsigned i = 0; spans && i < spans->count; i++) {
		fputs(",[", file);
		escape_json(file, spans->items[i].name);
		fprintf(file, ",%d]",
			span_kind_is_kernel(spans->items[i].kind) ? TRACE_HTML_OFF
								  : TRACE_HTML_SPAN);
	}
	fputs("],\"paths\":[\"\"", file);
	for (uint32_t i = 1; i <= data->path_count; i++) {
		char words[WORDS_MAX];

		call_paths_words(data->analysis->trace->paths, data->paths[i], words,
				 sizeof(words));
		fputc(',', file);
		escape_json(file, words);
	}
	fputs("],", file);
}

/* A column of the calls that were chosen. */
#define PUT_CALLS(title, format, value)                                                            \
	do {                                                                                       \
		fprintf(file, "\"%s\":[", title);                                                  \
		for (size_t i = 0; i < data->call_count; i++) {                                    \
			const struct call *call = &data->calls[i];                                 \
			const struct trace_event *event = call->event;                             \
                                                                                                   \
			(void)event;                                                               \
			fprintf(file, "%s%" format, i ? "," : "", value);                          \
		}                                                                                  \
		fputc(']', file);                                                                  \
	} while (0)

static uint32_t path_number(const struct data *data, uint32_t path)
{
	const struct call_paths *paths = data->analysis->trace->paths;

	return paths && call_paths_frame(paths, path) ? data->path_numbers[path] : 0;
}

static void put_calls(const struct data *data, FILE *file)
{
	fputs("\"calls\":{", file);
	PUT_CALLS("row", PRIu32, call->row);
	fputc(',', file);
	PUT_CALLS("begin", PRIu64, since(data, event->begin_ns));
	fputc(',', file);
	PUT_CALLS("ns", PRIu64, time_of(data, event));
	fputc(',', file);
	PUT_CALLS("name", PRIu32, call->name);
	fputc(',', file);
	PUT_CALLS("path", PRIu32, path_number(data, event->path));
	fputc(',', file);
	PUT_CALLS("peer", PRId32, event->kind == TRACE_CALL ? event->peer : -1);
	fputc(',', file);
	PUT_CALLS("tag", PRId32, event->kind == TRACE_CALL ? event->tag : -1);
	fputc(',', file);
	PUT_CALLS("bytes", PRIu64, bounded(event->bytes));
	fprintf(file, "},\"calls_left_out\":%" PRIu64 ",", data->calls_left_out);
}

/* Those that came late come first. */
static uint64_t weight_of(const struct message *message)
{
	return message->late_ns > message->receiver_late_ns ? message->late_ns
							    : message->receiver_late_ns;
}

static bool message_has_rows(const struct data *data, const struct message *message)
{
	return data->first_rows[message->from] != UINT32_MAX &&
	       data->first_rows[message->to] != UINT32_MAX;
}

static void put_column(const struct data *data, FILE *file, const char *title,
		       const struct message *const *messages, size_t count,
		       uint64_t (*value)(const struct data *data, const struct message *message))
{
	fprintf(file, "\"%s\":[", title);
	for (size_t i = 0; i < count; i++)
		fprintf(file, "%s%" PRIu64, i ? "," : "", value(data, messages[i]));
	fputc(']', file);
}

static uint64_t from_of(const struct data *data, const struct message *message)
{
	return row_of(data, message->from, message->send->thread);
}

static uint64_t to_of(const struct data *data, const struct message *message)
{
	return row_of(data, message->to, message->receive->thread);
}

static uint64_t sent_of(const struct data *data, const struct message *message)
{
	return since(data, message->send->begin_ns);
}

static uint64_t received_of(const struct data *data, const struct message *message)
{
	return since(data, message->receive->end_ns);
}

static uint64_t bytes_of(const struct data *data, const struct message *message)
{
	(void)data;
	return bounded(message->send->bytes);
}

static uint64_t late_of(const struct data *data, const struct message *message)
{
	(void)data;
	return message->held_up ? bounded(message->late_ns) : 0;
}

static void put_message_columns(const struct data *data, FILE *file,
				const struct message *const *messages, size_t count)
{
	fputs("\"messages\":{", file);
	put_column(data, file, "from", messages, count, from_of);
	fputc(',', file);
	put_column(data, file, "to", messages, count, to_of);
	fputc(',', file);
	put_column(data, file, "sent", messages, count, sent_of);
	fputc(',', file);
	put_column(data, file, "received", messages, count, received_of);
	fputc(',', file);
	put_column(data, file, "bytes", messages, count, bytes_of);
	fputc(',', file);
	put_column(data, file, "late", messages, count, late_of);
	fputs(",\"tag\":[", file);
	for (size_t i = 0; i < count; i++)
		fprintf(file, "%s%" PRId32, i ? "," : "", messages[i]->send->tag);
	fprintf(file, "]},\"messages_left_out\":%" PRIu64 ",", data->messages_left_out);
}

static int put_messages(struct data *data, FILE *file)
{
	const struct messages *all = &data->analysis->messages;
	size_t room = all->count < TRACE_HTML_MESSAGES_MAX ? all->count : TRACE_HTML_MESSAGES_MAX;
	const struct message **chosen = calloc(room + 1, sizeof(chosen[0]));
	struct choice choice = { .least = 0 };
	size_t count = 0;

	if (!chosen)
		return -ENOMEM;
	for (size_t i = 0; i < all->count; i++)
		if (message_has_rows(data, &all->items[i]))
			choice_count(&choice, weight_of(&all->items[i]));
	choice_settle(&choice, TRACE_HTML_MESSAGES_MAX);
	for (size_t i = 0; i < all->count; i++)
		if (message_has_rows(data, &all->items[i]) &&
		    choice_takes(&choice, weight_of(&all->items[i])) && count < room)
			chosen[count++] = &all->items[i];
	data->messages_left_out = all->count - count;
	put_message_columns(data, file, chosen, count);
	free(chosen);
	return 0;
}

static void put_bins(const struct data *data, FILE *file)
{
	uint64_t width_ns = data->length_ns / TRACE_HTML_BINS + 1;

	fputs("\"bins\":[", file);
	for (uint32_t row = 0; row < data->rows && data->calls_left_out; row++) {
		fputs(row ? ",[" : "[", file);
		for (unsigned i = 0; i < TRACE_HTML_BINS; i++) {
			double share = (double)data->bins[(size_t)row * TRACE_HTML_BINS + i] /
				       (double)width_ns;

			fprintf(file, "%s%d", i ? "," : "", share > 1 ? 1000 : (int)(share * 1000));
		}
		fputc(']', file);
	}
	fputc(']', file);
}

static int write_all(struct data *data, FILE *file)
{
	const struct trace_analysis *analysis = data->analysis;
	int error;

	fprintf(file, "{\"length\":%" PRIu64 ",\"judged\":[%" PRIu64 ",%" PRIu64 "],",
		data->length_ns, since(data, analysis->begin_ns), since(data, analysis->end_ns));
	put_rows(data, file);
	put_names(data, file);
	put_calls(data, file);
	error = put_messages(data, file);
	put_bins(data, file);
	fputs("}\n", file);
	return error ? error : ferror(file) ? -EIO : 0;
}

int trace_html_data_write(const struct trace_analysis *analysis, FILE *file)
{
	struct data data = { .analysis = analysis };
	size_t paths = analysis->trace->paths ? analysis->trace->paths->count : 0;
	int error;

	find_length(&data);
	error = find_rows(&data);
	data.path_numbers = calloc(paths + 1, sizeof(data.path_numbers[0]));
	data.paths = calloc(paths + 1, sizeof(data.paths[0]));
	data.bins = calloc((size_t)data.rows * TRACE_HTML_BINS + 1, sizeof(data.bins[0]));
	if (!error && (!data.path_numbers || !data.paths || !data.bins))
		error = -ENOMEM;
	if (!error)
		error = choose_calls(&data);
	if (!error)
		error = write_all(&data, file);
	free(data.threads);
	free(data.first_rows);
	free(data.calls);
	free(data.path_numbers);
	free(data.paths);
	free(data.bins);
	return error;
}
