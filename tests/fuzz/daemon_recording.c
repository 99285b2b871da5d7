/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording, and what every format makes of it. The first byte says what the
 * others are: 0 the profile within; 1 the file; 2 the file, its checksums put
 * right, which no mutation does by itself; 3 and above two profiles to compare,
 * the first of u16 bytes. Names in it, which the target chose, are no part of
 * what is written: JSON is JSON, and a page has the scripts that it always has.
 */
#include "daemon/report/diff/diff_writers.h"
#include "daemon/report/diff/threshold.h"
#include "daemon/report/html/html.h"
#include "daemon/report/recording/profile_codec.h"
#include "daemon/report/recording/recording.h"
#include "tests/fuzz/fuzz.h"

#include <jansson.h>
#include <zlib.h>

#define ARENA_MAX    ((size_t)64 << 20)
#define HEADER_BYTES 40 /* recording.h */

static const struct writer *const json_writers[] = { &writer_json, &writer_speedscope,
						     &writer_firefox, &writer_sarif };
static const struct writer *const other_writers[] = { &writer_text, &writer_collapsed,
						      &writer_pprof, &writer_recording };

/* As this writer has it; the caller frees. */
static char *write_text(const struct writer *writer, const struct profile *profile,
			size_t *ret_size)
{
	static const struct writer_options options;
	char *text = NULL;
	FILE *file = open_memstream(&text, ret_size);

	fuzz_must(file);
	fuzz_must(writer->write(profile, &options, file) == 0);
	fuzz_must(fclose(file) == 0);
	return text;
}

static void check_json(const struct writer *writer, const struct profile *profile)
{
	size_t size;
	char *text = write_text(writer, profile, &size);
	json_t *json = json_loadb(text, size, JSON_ALLOW_NUL, NULL);

	fuzz_must(json);
	json_decref(json);
	free(text);
}

static void check_page(const struct profile *profile)
{
	static size_t scripts;
	size_t size, count = 0;
	char *page = write_text(&writer_html, profile, &size);

	fuzz_must(strlen(page) == size);
	for (const char *at = page; (at = strcasestr(at, "<script")); at++)
		count++;
	for (const char *at = page; (at = strcasestr(at, "</script")); at++)
		count += 100;
	if (!scripts)
		scripts = count;
	fuzz_must(count == scripts);
	free(page);
}

/* No line but our commands; no name of the target begins one. */
static void check_commands(const struct profile *profile)
{
	size_t size;
	char *text = write_text(&writer_github, profile, &size), *saved = NULL;

	fuzz_must(strlen(text) == size);
	for (char *line = strtok_r(text, "\n", &saved); line; line = strtok_r(NULL, "\n", &saved))
		fuzz_must(!strncmp(line, "::warning file=", 15) ||
			  !strncmp(line, "::notice file=", 14) ||
			  !strncmp(line, "::notice title=pieprofd::", 25));
	free(text);
}

/* A JSON object in each line, and all with the same members. */
static void check_rows(const struct profile *profile)
{
	size_t size, members = 0;
	char *text = write_text(&writer_rows, profile, &size), *saved = NULL;

	fuzz_must(size && text[size - 1] == '\n');
	for (char *line = strtok_r(text, "\n", &saved); line; line = strtok_r(NULL, "\n", &saved)) {
		json_t *row = json_loads(line, JSON_REJECT_DUPLICATES, NULL);

		fuzz_must(json_is_object(row));
		fuzz_must(!members || members == json_object_size(row));
		members = json_object_size(row);
		json_decref(row);
	}
	free(text);
}

/* Short, and each line begins as one of ours. */
static void check_markdown(const struct profile *profile)
{
	size_t size;
	char *text = write_text(&writer_markdown, profile, &size);

	fuzz_must(strlen(text) == size && size < 256 << 10);
	for (const char *at = text; (at = strchr(at, '\n')); at++)
		fuzz_must(!at[1] || strchr("#-|P\n", at[1]));
	free(text);
}

static void write_all(const struct profile *profile)
{
	static const struct writer_options options[] = { { 0 },
							 { .columns = 1, .colour = true },
							 { .brief = true, .verdict_last = true } };

	for (size_t i = 0; i < sizeof(other_writers) / sizeof(other_writers[0]); i++)
		for (size_t k = 0; k < sizeof(options) / sizeof(options[0]); k++)
			if (k == 0 || other_writers[i] == &writer_text)
				fuzz_must(other_writers[i]->write(profile, &options[k],
								  fuzz_sink()) == 0);
	for (size_t i = 0; i < sizeof(json_writers) / sizeof(json_writers[0]); i++)
		check_json(json_writers[i], profile);
	check_commands(profile);
	check_rows(profile);
	check_markdown(profile);
	check_page(profile);
}

static void write_difference(const struct profile *base, const struct profile *now)
{
	static const char *const changes[] = { "own+0%", "total-0%", "could-save+0%" };
	const struct writer_options options = { 0 }, brief = { .brief = true };
	struct diff *diff = diff_create(base, now);

	fuzz_must(diff);
	fuzz_must(diff_write_text(diff, &options, fuzz_sink()) == 0);
	fuzz_must(diff_write_text(diff, &brief, fuzz_sink()) == 0);
	fuzz_must(diff_write_json(diff, fuzz_sink()) == 0);
	fuzz_must(diff_write_sarif(diff, &options, fuzz_sink()) == 0);
	fuzz_must(diff_write_github(diff, &options, fuzz_sink()) == 0);
	fuzz_must(diff_write_markdown(diff, &options, fuzz_sink()) == 0);
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		const struct diff_entry *worst = NULL;
		struct threshold threshold;
		char text[64];

		fuzz_must(threshold_parse(changes[i], &threshold));
		if (threshold_broken(&threshold, diff, &worst))
			threshold_describe(&threshold, worst, text, sizeof(text));
	}
	diff_destroy(diff);
}

/* Both, or the first one alone. */
static void read_profiles(struct fuzz_input inputs[2])
{
	struct profile profiles[2];
	struct arena arenas[2];
	bool good[2] = { false };

	for (size_t i = 0; i < 2; i++) {
		uint8_t *bytes = fuzz_copy(&inputs[i]);

		arena_init(&arenas[i], ARENA_MAX);
		good[i] = profile_decode(bytes, inputs[i].left, &arenas[i], &profiles[i]) == 0;
		free(bytes);
	}
	if (good[0] && good[1])
		write_difference(&profiles[0], &profiles[1]);
	else if (good[0])
		write_all(&profiles[0]);
	for (size_t i = 0; i < 2; i++)
		arena_deinit(&arenas[i]);
}

static void put_checksums(uint8_t *bytes, size_t size)
{
	uint64_t payload = size - HEADER_BYTES;
	uint32_t checksum = (uint32_t)crc32(0, bytes + HEADER_BYTES, (uInt)payload);

	memcpy(bytes + 16, &payload, sizeof(payload));
	memcpy(bytes + 32, &checksum, sizeof(checksum));
	checksum = (uint32_t)crc32(0, bytes + 16, HEADER_BYTES - 16);
	memcpy(bytes + 12, &checksum, sizeof(checksum));
}

static void read_file(const struct fuzz_input *input, bool correct)
{
	uint8_t *bytes = fuzz_copy(input);
	struct recording *recording;
	struct error error = { 0 };
	char path[64];
	int fd;

	if (correct && input->left >= HEADER_BYTES)
		put_checksums(bytes, input->left);
	fd = fuzz_file(bytes, input->left);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	recording = recording_open(path, &error);
	fuzz_must(recording || error.cause[0]);
	recording_close(recording);
	close(fd);
	free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = { data, size }, inputs[2] = { { data, 0 }, { data, 0 } };
	uint64_t choice = fuzz_number(&input, 1);

	if (choice == 1 || choice == 2) {
		read_file(&input, choice == 2);
		return 0;
	}
	if (choice) {
		uint64_t wanted = fuzz_number(&input, 2);

		inputs[1].at = fuzz_take(&input, (size_t)wanted, &inputs[1].left);
	}
	inputs[0] = input;
	read_profiles(inputs);
	return 0;
}
