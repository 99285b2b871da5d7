/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traces to be merged: a file whose checksums are right, with any JSON and any events; and what the
 * alignment of clocks, the analysis and the page make of it. The first two bytes tell how long the
 * JSON is; blocks of events come behind it, each behind their number.
 */
#include "daemon/trace/trace_recording.h"
#include "daemon/trace/trace_set.h"
#include "daemon/trace/trace_writer.h"
#include "tests/fuzz/fuzz.h"

#include <unistd.h>
#include <zstd.h>

static void put_block(FILE *file, const void *bytes, size_t size)
{
	size_t room = ZSTD_compressBound(size);
	void *packed = malloc(room);
	uint64_t sizes[2] = { size };

	fuzz_must(packed);
	sizes[1] = ZSTD_compress(packed, room, bytes, size, 1);
	fuzz_must(fwrite(sizes, sizeof(sizes), 1, file) == 1);
	fuzz_must(fwrite(packed, 1, sizes[1], file) == sizes[1]);
	free(packed);
}

static void put_file(struct fuzz_input *input, const char *path)
{
	static const uint8_t magic[8] = { 0x89, 'P', 'I', 'E', 'T', 'R', 'C', '\n' };
	const uint32_t version[2] = { TRACE_RECORDING_VERSION, 0 };
	size_t size, wanted = (size_t)fuzz_number(input, 2);
	const uint8_t *bytes = fuzz_take(input, wanted, &size);
	FILE *file = fopen(path, "w");

	fuzz_must(file && fwrite(magic, sizeof(magic), 1, file) == 1);
	fuzz_must(fwrite(version, sizeof(version), 1, file) == 1);
	put_block(file, bytes, size);
	while (input->left) {
		wanted = (uint8_t)fuzz_number(input, 1) * sizeof(struct trace_event);
		bytes = fuzz_take(input, wanted, &size);
		put_block(file, bytes, size);
	}
	fuzz_must(fclose(file) == 0);
}

static void check_set(const struct trace *trace)
{
	static const struct writer_options options;
	struct trace_analysis analysis;
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	for (size_t i = 0; i < trace->count; i++)
		for (uint64_t k = 0; k < trace->processes[i]->file.count; k++)
			fuzz_must(trace->processes[i]->file.events[k].end_ns >=
				  trace->processes[i]->file.events[k].begin_ns);
	fuzz_must(file && trace_analysis_init(&analysis, trace) == 0);
	fuzz_must(trace_text_write(&analysis, &options, file) == 0);
	fuzz_must(trace_json_write(&analysis, file) == 0);
	fuzz_must(trace_html_write(&analysis, file) == 0);
	fuzz_must(trace_chrome_write(&analysis, file) == 0);
	fuzz_must(trace_recording_write(&analysis, file) == 0);
	fclose(file);
	free(text);
	trace_analysis_deinit(&analysis);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = { data, size };
	char path[] = "/tmp/pieprofd-fuzz-XXXXXX";
	const char *paths[] = { path, path };
	struct trace_set set;
	struct error error;
	int fd = mkstemp(path);

	fuzz_must(fd >= 0);
	close(fd);
	put_file(&input, path);
	if (trace_set_read(&set, paths, 2, &error) == 0)
		check_set(&set.trace);
	trace_set_deinit(&set);
	unlink(path);
	return 0;
}
