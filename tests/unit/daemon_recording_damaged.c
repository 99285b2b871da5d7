/* SPDX-License-Identifier: Apache-2.0 */
/* Damaged and hostile recordings, and an old one whose successor cannot be written. */
#include "daemon/report/diff/diff_writers.h"
#include "daemon/report/format/output_file.h"
#include "daemon/report/recording/profile_codec.h"
#include "daemon/report/recording/profile_fields.h"
#include "recorded_files.h"
#include "unit_random.h"

#include <errno.h>

/* ---- damaged files */

static char *read_file(const char *path, size_t *ret_size)
{
	static char bytes[65536];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t size = read(fd, bytes, sizeof(bytes));

	assert_true(size > 0 && (size_t)size < sizeof(bytes));
	close(fd);
	*ret_size = (size_t)size;
	return bytes;
}

static void refused(const char *path, enum exit_code code, const char *cause)
{
	struct error error = { .exit_code = EXIT_OK };

	assert_null(recording_open(path, &error));
	if (cause && !strstr(error.cause, cause))
		print_error("%s, not: %s\n", cause, error.cause);
	if (cause)
		assert_non_null(strstr(error.cause, cause));
	if (cause)
		assert_int_equal(error.exit_code, code);
	assert_true(error.exit_code != EXIT_OK && error.cause[0]);
}

static void test_damaged_files(void **state)
{
	struct profile profile = sample_profile();
	char path[128];
	size_t size;
	char *bytes;

	(void)state;
	strcpy(path, path_of("damaged.pieprof"));
	recording_close(recorded(&profile, path));
	bytes = read_file(path, &size);
	for (size_t i = 0; i < size; i++) {
		static const char flips[] = { 1, (char)0x80, (char)0xff };

		for (size_t k = 0; k < sizeof(flips); k++) {
			bytes[i] ^= flips[k];
			write_file(path, bytes, size);
			refused(path, EXIT_INTERNAL, i < 12 ? NULL : "damaged");
			bytes[i] ^= flips[k];
		}
	}
	for (size_t i = 1; i < size; i++) {
		write_file(path, bytes, i);
		refused(path, EXIT_INTERNAL, "truncated");
	}
	bytes[size] = 0;
	write_file(path, bytes, size + 1);
	refused(path, EXIT_INTERNAL, "damaged");
	bytes[8]++;
	write_file(path, bytes, size);
	refused(path, EXIT_USAGE, "later pieprofd");
	write_file(path, "", 0);
	refused(path, EXIT_USAGE, "not a recording");
	write_file(path, "{\"pieprofd\": \"0.1.0\"}", 21);
	refused(path, EXIT_USAGE, "not a recording");
	refused(path_of("none.pieprof"), EXIT_USAGE, "No such file");
	refused(folder, EXIT_USAGE, "not a recording");
	refused("/dev/null", EXIT_USAGE, "not a recording");
}

/* ---- damaged contents */

static size_t decoded, formatted;

/* What is accepted can be written in every format. size is that of its own allocation. */
static void try_bytes(const uint8_t *bytes, size_t size, bool format)
{
	uint8_t *copy = malloc(size ? size : 1);
	struct arena arena;
	struct profile profile;
	int result;

	memcpy(copy, bytes, size);
	arena_init(&arena, ARENA_MAX);
	result = profile_decode(copy, size, &arena, &profile);
	assert_true(result == 0 || result == -EBADMSG || result == -ENOMEM);
	decoded += result == 0;
	for (size_t i = 0; i < WRITERS && result == 0 && format; i++) {
		FILE *file = fopen("/dev/null", "w");

		/* Limits of a writer's own, and names that no memory has room for. */
		(void)all_writers[i]->write(&profile, &defaults, file);
		fclose(file);
		formatted++;
	}
	if (!result && format) {
		const struct profile sample = sample_profile();
		struct diff *diff = diff_create(&sample, &profile);
		FILE *file = fopen("/dev/null", "w");

		assert_non_null(diff);
		for (size_t i = 0; i < sizeof(all_writers) / sizeof(all_writers[0]); i++)
			if (diff_write_of(all_writers[i]))
				(void)!diff_write_of(all_writers[i])(diff, &defaults, file);
		fclose(file);
		diff_destroy(diff);
	}
	arena_deinit(&arena);
	free(copy);
}

static void test_hostile_contents(void **state)
{
	struct profile profile = sample_profile();
	struct unit_random random = { .state = 42 };
	uint8_t *bytes, *changed;
	size_t size;

	(void)state;
	assert_int_equal(profile_encode(&profile, &bytes, &size), 0);
	changed = malloc(size);
	memcpy(changed, bytes, size);
	for (size_t i = 0; i < size; i++) {
		static const uint8_t values[] = { 0, 1, 0x7f, 0xff };

		try_bytes(bytes, i, false);
		for (size_t k = 0; k < sizeof(values); k++) {
			changed[i] = values[k];
			try_bytes(changed, size, (i + k) % 16 == 0);
		}
		changed[i] = bytes[i];
	}
	for (size_t round = 0; round < 3000; round++) {
		size_t changes = 1 + unit_random_below(&random, 6);

		memcpy(changed, bytes, size);
		for (size_t i = 0; i < changes; i++) {
			static const uint64_t words[] = { 0,          1,          3,
							  UINT32_MAX, UINT64_MAX, INT64_MAX,
							  1ull << 32, 1 << 20 };
			size_t at = unit_random_below(&random, size - 8);
			size_t width = 1u << unit_random_below(&random, 4);

			memcpy(changed + at, &words[unit_random_below(&random, 8)], width);
		}
		try_bytes(changed, size, round % 4 == 0);
	}
	free(changed);
	free(bytes);
	/* Most of the bytes are figures, which may be any. */
	assert_true(decoded > 1000 && formatted > 1000);
}

/* A further table, which this version does not know, of so many columns without rows. */
static int decoded_with_table(uint32_t columns)
{
	const struct profile sample = sample_profile();
	struct {
		uint32_t name;
		uint16_t kind, width;
	} column = { .kind = FIELD_WORDS, .width = 8 };
	struct arena arena;
	struct profile profile;
	uint8_t *bytes, *at;
	size_t size, more = 16 + columns * sizeof(column);
	int result;

	assert_int_equal(profile_encode(&sample, &bytes, &size), 0);
	bytes = realloc(bytes, size + more);
	assert_non_null(bytes);
	at = bytes + size;
	memset(at, 0, 16);
	memcpy(at + 4, &columns, sizeof(columns));
	for (uint32_t i = 0; i < columns; i++)
		memcpy(at + 16 + i * sizeof(column), &column, sizeof(column));
	arena_init(&arena, ARENA_MAX);
	result = profile_decode(bytes, size + more, &arena, &profile);
	arena_deinit(&arena);
	free(bytes);
	return result;
}

/* What is not known is passed over; columns without end, each of which is looked at by name, not.
 */
static void test_columns(void **state)
{
	(void)state;
	assert_int_equal(decoded_with_table(1), 0);
	assert_int_equal(decoded_with_table(1024), 0);
	assert_int_equal(decoded_with_table(1025), -EBADMSG);
}

/* ---- files that are whole or not there */

static int put_half(void *context, FILE *file)
{
	(void)context;
	fputs("half", file);
	fflush(file);
	return -ENOMEM;
}

static void test_old_recording_survives(void **state)
{
	struct profile profile = sample_profile();
	char path[128];
	struct error error;
	struct recording *recording;

	(void)state;
	strcpy(path, path_of("old.pieprof"));
	recording_close(recorded(&profile, path));
	assert_int_equal(output_file_write(path, put_half, NULL), -ENOMEM);
	recording = recording_open(path, &error);
	assert_non_null(recording);
	assert_int_equal(recording->profile.facts.samples, profile.facts.samples);
	recording_close(recording);
	assert_true(output_file_is_replaced(path));
	assert_true(output_file_is_replaced(path_of("new.pieprof")));
	assert_false(output_file_is_replaced("/dev/null"));
	assert_false(output_file_is_replaced("-"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_damaged_files),
		cmocka_unit_test(test_hostile_contents),
		cmocka_unit_test(test_columns),
		cmocka_unit_test(test_old_recording_survives),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
