/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text of the target's: a source file whose lines are read, the same bytes as an
 * archive with one in it, and as a name that is shown in every way that names are.
 */
#include "common/printable.h"
#include "daemon/report/encode/escape.h"
#include "daemon/report/encode/zip_member.h"
#include "daemon/report/model/source.h"
#include "tests/fuzz/fuzz.h"

#define LINES_MAX 64

static int open_file(void *context, const char *path)
{
	(void)path;
	return dup(*(const int *)context);
}

/* As a report may hold it: no terminal obeys anything in it. */
static void check_shown(const char *text)
{
	size_t left = strlen(text);

	while (left) {
		uint32_t code_point;
		size_t length = utf8_decode(text, left, &code_point);

		fuzz_must(length && length <= left && code_point_printable(code_point));
		text += length;
		left -= length;
	}
}

static void read_lines(const struct fuzz_input *input)
{
	int fd = fuzz_file(input->at, input->left);
	struct source_cache *cache = source_cache_create(open_file, &fd);
	struct source_version version;

	fuzz_must(cache);
	for (int line = -1; line < LINES_MAX; line++) {
		const char *columns = source_cache_columns(cache, "/file.py", line);
		const char *text = source_cache_line(cache, "/file.py", line);

		if (text) {
			fuzz_must(line >= 1 && strlen(text) <= SOURCE_LINE_BYTES_MAX);
			check_shown(text);
		}
		/* The same text behind white space. */
		fuzz_must(!columns || columns + strspn(columns, " \t\f\v") == text);
	}
	if (source_cache_file(cache, 0, &version))
		fuzz_must(strlen(version.sha256) == 64);
	source_cache_destroy(cache);
	close(fd);
}

static void read_archive(const struct fuzz_input *input)
{
	int fd = fuzz_file(input->at, input->left);
	char *text;
	size_t size;

	if (zip_member_read(fd, "a.py", SOURCE_FILE_BYTES_MAX, &text, &size) == 0) {
		fuzz_must(size <= SOURCE_FILE_BYTES_MAX && !text[size]);
		free(text);
	}
	close(fd);
}

static void show_name(const struct fuzz_input *input)
{
	static const unsigned widths[] = { 0, 1, 3, 10, 100 };
	char buffer[PRINTABLE_BYTES(100)], library[LIBRARY_NAME_BYTES];
	char *text = fuzz_text(input), *shown;

	for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++)
		for (unsigned end = 0; end < 2; end++) {
			size_t size = i == 2 ? 5 : sizeof(buffer);

			fuzz_must(printable_fit(buffer, size, text, widths[i], end) <= widths[i]);
			fuzz_must(strlen(buffer) < size);
			check_shown(buffer);
		}
	shown = escape_printable(text, ';');
	fuzz_must(shown && !strchr(shown, ';'));
	check_shown(shown);
	free(shown);
	escape_json(fuzz_sink(), text);
	fuzz_read_string(path_last(text));
	fuzz_read_string(library_name(text, library, sizeof(library)));
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct fuzz_input input = { data, size };

	read_lines(&input);
	read_archive(&input);
	show_name(&input);
	return 0;
}
