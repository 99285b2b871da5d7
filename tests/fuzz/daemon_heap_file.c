/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two files for heap --diff, the first of u16 bytes: what is no look is refused with words, of two
 * looks the difference is JSON and text that moves no cursor, its rows in order.
 */
#include "daemon/heap/heap_comparison.h"
#include "daemon/heap/heap_diff_writers.h"
#include "tests/fuzz/fuzz.h"

#include <jansson.h>

static struct heap_file *read_file(const uint8_t *bytes, size_t size)
{
	int fd = fuzz_file(bytes, size);
	struct heap_file *file;
	struct error error = { 0 };
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	file = heap_file_open(path, &error);
	close(fd);
	fuzz_must(file || (error.cause[0] && error.exit_code != EXIT_OK));
	return file;
}

static char *write_text(const struct heap_diff *diff, heap_diff_write *write,
			const struct writer_options *options)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	fuzz_must(file && write(diff, options, file) == 0);
	fuzz_must(fclose(file) == 0);
	fuzz_must(strlen(text) == size);
	return text;
}

static void check_rows(const struct heap_diff *diff)
{
	for (size_t i = 1; i < diff->path_count; i++)
		fuzz_must(diff->paths[i].parent < i);
	for (size_t i = 0; i < diff->row_count; i++) {
		fuzz_must(diff->rows[i] && diff->rows[i] < diff->path_count);
		fuzz_must(!i || heap_diff_change(diff->paths[diff->rows[i - 1]].bytes) >=
					heap_diff_change(diff->paths[diff->rows[i]].bytes));
	}
}

/* Names end no script, and begin none. */
static void check_page(const struct heap_diff *diff)
{
	static const struct writer_options options;
	static size_t scripts;
	size_t count = 0;
	char *page = write_text(diff, heap_diff_write_html, &options);

	for (const char *at = page; (at = strcasestr(at, "<script")); at++)
		count++;
	for (const char *at = page; (at = strcasestr(at, "</script")); at++)
		count += 100;
	if (!scripts)
		scripts = count;
	fuzz_must(count == scripts);
	free(page);
}

static void check_difference(const struct heap_file *base, const struct heap_file *now)
{
	static const struct writer_options options[] = {
		{ .columns = 80, .brief = true, .verdict_last = true },
		{ .columns = 1, .lines_max = 3 },
	};
	struct heap_diff *diff = heap_comparison_create(base, now);
	json_t *json;
	char *text;

	fuzz_must(diff);
	check_rows(diff);
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		text = write_text(diff, heap_diff_write_text, &options[i]);
		for (const char *at = text; *at; at++)
			fuzz_must((unsigned char)*at >= ' ' || *at == '\n');
		free(text);
	}
	text = write_text(diff, heap_diff_write_json, &options[0]);
	json = json_loads(text, 0, NULL);
	fuzz_must(json);
	json_decref(json);
	free(text);
	check_page(diff);
	heap_diff_destroy(diff);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = { data, size };
	size_t first_size = (size_t)fuzz_number(&input, 2), there;
	const uint8_t *bytes = fuzz_take(&input, first_size, &there);
	struct heap_file *first = read_file(bytes, there), *second;

	second = read_file(input.at, input.left);
	if (first)
		check_difference(first, first);
	if (first && second) {
		check_difference(first, second);
		check_difference(second, first);
	}
	heap_file_close(first);
	heap_file_close(second);
	return 0;
}
