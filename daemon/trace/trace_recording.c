/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/trace/trace_recording.h"

#include "common/whole_file.h"
#include "daemon/report/format/json_value.h"
#include "daemon/trace/mpi_function.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#define COMPRESSION_LEVEL 3

static const uint8_t magic[8] = { 0x89, 'P', 'I', 'E', 'T', 'R', 'C', '\n' };

struct header {
	uint8_t magic[8];
	uint32_t version;
	uint32_t reserved;
};

struct block {
	uint64_t bytes;
	uint64_t packed_bytes;
};

_Static_assert(sizeof(struct trace_event) == 80, "as the version has it");

/* ---- writing ---- */

static int put_block(FILE *file, const void *bytes, size_t size)
{
	size_t room = ZSTD_compressBound(size), packed;
	ZSTD_CCtx *context = ZSTD_createCCtx();
	void *payload = malloc(room);
	struct block block = { .bytes = size };
	int result = -ENOMEM;

	if (context && payload) {
		(void)ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, COMPRESSION_LEVEL);
		(void)ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
		packed = ZSTD_compress2(context, payload, room, bytes, size);
		if (!ZSTD_isError(packed)) {
			block.packed_bytes = packed;
			result = fwrite(&block, sizeof(block), 1, file) == 1 &&
						 fwrite(payload, 1, packed, file) == packed
					 ? 0
					 : -EIO;
		}
	}
	ZSTD_freeCCtx(context);
	free(payload);
	return result;
}

static json_t *json_paths(const struct call_paths *paths)
{
	json_t *array = json_array();

	for (uint32_t i = 1; paths && i < paths->count; i++) {
		const struct call_frame *frame = &paths->frames[i];
		json_t *row = json_array();

		row = json_appended(row, json_integer(frame->caller));
		row = json_appended(row, json_text(frame->function));
		row = json_appended(row, json_text(frame->file));
		row = json_appended(row, json_integer(frame->line));
		array = json_appended(array, row);
	}
	return array;
}

static json_t *json_spans(const struct span_list *spans)
{
	json_t *array = json_array();

	for (unsigned i = 0; spans && i < spans->count; i++) {
		const struct span *span = &spans->items[i];
		json_t *object = json_object();

		object = json_with(object, "kind", json_integer(span->kind));
		object = json_with(object, "library", json_text(span->library));
		object = json_with(object, "function", json_text(span->function));
		object = json_with(object, "name", json_text(span->name));
		object = json_with(object, "least_ns", json_count(span->least_ns));
		array = json_appended(array, object);
	}
	return array;
}

static json_t *json_counters(void)
{
	json_t *array = json_array();

	for (int i = 0; i < COUNTER_KINDS; i++)
		array = json_appended(array, json_text(counter_name((enum counter_kind)i)));
	return array;
}

static json_t *json_names(void)
{
	json_t *array = json_array();

	for (unsigned i = 0; i < mpi_function_count; i++)
		array = json_appended(array, json_text(mpi_function_name(i)));
	return array;
}

static json_t *json_watches(const struct trace_process *process, const struct span_list *spans)
{
	json_t *array = json_array();

	for (unsigned i = 0; spans && i < spans->count; i++) {
		const struct span_watch *watch = &process->spans[i];
		const struct span_counts *counts = &watch->counts;
		const uint64_t row[] = { watch->state,       watch->relieved_ns, counts->begun,
					 counts->ended,      counts->short_ones, counts->short_ns,
					 counts->over_limit, counts->over_ns };
		json_t *figures = json_array();

		for (size_t k = 0; k < sizeof(row) / sizeof(row[0]); k++)
			figures = json_appended(figures, json_count(row[k]));
		array = json_appended(array, figures);
	}
	return array;
}

/* In the order of trace_set.c's read_python(). */
static json_t *json_python(const struct function_watch *watch)
{
	const struct function_counts *counts = &watch->counts;
	const uint64_t row[] = { watch->met_ns,      watch->ended_ns,        watch->observed_ns,
				 watch->spent_ns,    watch->pauses,          watch->pruned,
				 watch->unknown,     counts->traps,          counts->stepped,
				 counts->begun,      counts->ended,          counts->passed_over,
				 counts->short_ones, counts->short_ns,       counts->too_deep,
				 counts->no_room,    counts->over_limit,     counts->over_ns,
				 counts->unreadable, counts->codes_left_out, counts->compiled };
	json_t *figures = json_array();

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
		figures = json_appended(figures, json_count(row[i]));
	return figures;
}

static json_t *json_process(const struct trace *trace, const struct trace_process *process)
{
	const struct mpi_library *library = process->library;
	const struct mpi_target *counts = &process->counts;
	const struct {
		const char *name;
		uint64_t count;
	} figures[] = {
		{ "begin_ns", process->begin_ns },
		{ "end_ns", process->end_ns },
		{ "init_ns", process->decoder.init_ns },
		{ "finalize_ns", process->decoder.finalize_ns },
		{ "over_limit", counts->over_limit },
		{ "over_ns", counts->over_ns },
		{ "dropped", counts->dropped },
		{ "dropped_ns", counts->dropped_ns },
		{ "limit", counts->limit },
		{ "requests_left_out", counts->requests_left_out + process->decoder.left_out +
					       process->decoder.requests.left_out },
		{ "left_out", process->file.left_out },
		{ "counter_threads_left_out", process->counters.threads_left_out },
		{ "events", process->file.count },
	};
	json_t *object = json_object();

	object = json_with(object, "pid", json_integer(process->pid));
	object = json_with(object, "rank", json_integer(process->rank));
	object = json_with(object, "size", json_integer(process->size));
	object = json_with(object, "rank_known", json_boolean(process->rank_known));
	object = json_with(object, "from_beginning", json_boolean(process->from_beginning));
	object = json_with(object, "ended", json_boolean(process->ended));
	object = json_with(object, "name", json_text(process->name));
	object = json_with(object, "library", json_text_or_null(library ? library->path : NULL));
	object = json_with(object, "kind", json_integer(library ? (int)library->kind : 0));
	for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++)
		object = json_with(object, figures[i].name, json_count(figures[i].count));
	object = json_with(object, "python", json_python(&process->functions));
	return json_with(object, "spans", json_watches(process, trace->spans));
}

static json_t *json_meta(const struct trace *trace)
{
	json_t *object = json_object(), *processes = json_array();

	for (size_t i = 0; i < trace->count; i++)
		processes = json_appended(processes, json_process(trace, trace->processes[i]));
	object = json_with(object, "tool", json_text("pieprofd " PIEPROFD_VERSION));
	object = json_with(object, "boot", json_text(trace->node.boot));
	object = json_with(object, "host", json_text(trace->node.host));
	object = json_with(object, "wall_ns", json_integer(trace->node.wall_ns));
	object = json_with(object, "begin_ns", json_count(trace->begin_ns));
	object = json_with(object, "end_ns", json_count(trace->end_ns));
	object = json_with(object, "functions", json_names());
	object = json_with(object, "paths", json_paths(trace->paths));
	object = json_with(object, "spans", json_spans(trace->spans));
	object = json_with(object, "function_overhead",
			   json_real(trace->spans && trace->spans->functions.max_overhead > 0
					     ? trace->spans->functions.max_overhead
					     : FUNCTION_OVERHEAD));
	object = json_with(object, "counters", json_counters());
	object = json_with(object, "counters_asked",
			   json_integer(trace->spans ? trace->spans->counters : 0));
	return json_with(object, "processes", processes);
}

static int put_meta(const struct trace *trace, FILE *file)
{
	json_t *meta = json_meta(trace);
	char *text = meta ? json_dumps(meta, JSON_COMPACT) : NULL;
	int result = text ? put_block(file, text, strlen(text)) : -ENOMEM;

	free(text);
	json_decref(meta);
	return result;
}

int trace_recording_write(const struct trace_analysis *analysis, FILE *file)
{
	const struct trace *trace = analysis->trace;
	struct header header = { .version = TRACE_RECORDING_VERSION };
	int result;

	memcpy(header.magic, magic, sizeof(magic));
	if (fwrite(&header, sizeof(header), 1, file) != 1)
		return -EIO;
	result = put_meta(trace, file);
	for (size_t i = 0; i < trace->count && !result; i++) {
		const struct trace_file *events = &trace->processes[i]->file;

		for (uint64_t at = 0; at < events->count && !result; at += TRACE_CHUNK_EVENTS) {
			uint64_t left = events->count - at;

			if (left > TRACE_CHUNK_EVENTS)
				left = TRACE_CHUNK_EVENTS;
			result = put_block(file, events->events + at,
					   (size_t)left * sizeof(events->events[0]));
		}
	}
	return result;
}

/* ---- reading ---- */

static int fill(int fd, void *bytes, size_t size)
{
	ssize_t got = whole_file_fill(fd, bytes, size);

	return got < 0 ? (int)got : (size_t)got < size ? -EBADMSG : 0;
}

/* Bytes of what a block says that it has; size: no more than that. */
static int read_block(int fd, void *bytes, size_t size, size_t *ret_size)
{
	size_t unpacked;
	struct block block;
	void *payload;
	int result = fill(fd, &block, sizeof(block));

	if (result)
		return result;
	if (block.bytes > size || block.packed_bytes > ZSTD_compressBound(size))
		return -EBADMSG;
	payload = malloc((size_t)block.packed_bytes + 1);
	if (!payload)
		return -ENOMEM;
	result = fill(fd, payload, (size_t)block.packed_bytes);
	if (!result) {
		unpacked = ZSTD_decompress(bytes, (size_t)block.bytes, payload,
					   (size_t)block.packed_bytes);
		result = ZSTD_isError(unpacked) || unpacked != block.bytes ? -EBADMSG : 0;
		*ret_size = (size_t)block.bytes;
	}
	free(payload);
	return result;
}

/* Its size is in front of it: so much is asked for, once it is known to be in the file. */
static int read_meta(struct trace_recording *recording, off_t file_bytes)
{
	struct block block;
	size_t size;
	char *text;
	int result = fill(recording->fd, &block, sizeof(block));

	if (result)
		return result;
	if (block.bytes > TRACE_META_BYTES_MAX || block.packed_bytes > (uint64_t)file_bytes ||
	    lseek(recording->fd, -(off_t)sizeof(block), SEEK_CUR) < 0)
		return -EBADMSG;
	text = malloc((size_t)block.bytes + 1);
	if (!text)
		return -ENOMEM;
	result = read_block(recording->fd, text, (size_t)block.bytes, &size);
	if (!result) {
		recording->meta = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
		if (!json_is_object(recording->meta))
			result = -EBADMSG;
	}
	free(text);
	return result;
}

int trace_recording_open(struct trace_recording *recording, const char *path)
{
	struct header header;
	struct stat status;
	int result;

	*recording =
		(struct trace_recording){ .fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) };
	if (recording->fd < 0)
		return -errno;
	if (fstat(recording->fd, &status))
		return -errno;
	if (!S_ISREG(status.st_mode))
		return -EINVAL;
	result = fill(recording->fd, &header, sizeof(header));
	if (result)
		return result == -EBADMSG ? -ENOEXEC : result;
	if (memcmp(header.magic, magic, sizeof(magic)) != 0)
		return -ENOEXEC;
	if (header.version != TRACE_RECORDING_VERSION)
		return -EPROTO;
	return read_meta(recording, status.st_size);
}

void trace_recording_close(struct trace_recording *recording)
{
	json_decref(recording->meta);
	if (recording->fd >= 0)
		close(recording->fd);
	*recording = (struct trace_recording){ .fd = -1 };
}

int trace_recording_next(struct trace_recording *recording, struct trace_event *ret_events,
			 size_t count)
{
	size_t size = 0;
	int result = read_block(recording->fd, ret_events, count * sizeof(ret_events[0]), &size);

	return result ? result : size == count * sizeof(ret_events[0]) ? 0 : -EBADMSG;
}
