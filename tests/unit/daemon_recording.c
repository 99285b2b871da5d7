/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recordings: that nothing of a profile is left out, that every writer makes
 * the same of what comes back, and what becomes of damaged files.
 */
#include "daemon/report/diff/diff.h"
#include "daemon/report/format/output_file.h"
#include "daemon/report/model/profile_sources.h"
#include "daemon/report/recording/profile_codec.h"
#include "daemon/report/recording/profile_fields.h"
#include "daemon/report/recording/recording.h"
#include "report_sample.h"
#include "unit_random.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define ARENA_MAX ((size_t)64 << 20)

static char folder[] = "/tmp/pieprofd-recording-XXXXXX";
static const struct writer_options defaults;
static const struct writer *const all_writers[] = {
	&writer_text,       &writer_json,    &writer_collapsed, &writer_pprof,
	&writer_speedscope, &writer_firefox, &writer_html,      &writer_recording,
};

#define WRITERS (sizeof(all_writers) / sizeof(all_writers[0]))

static const char *path_of(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	char command[160];

	(void)state;
	snprintf(command, sizeof(command), "rm -r '%s'", folder);
	return system(command);
}

/* ---- a profile in which everything is set */

struct filler {
	struct arena arena;
	struct unit_random random;
	const struct profile_line *lines;
	size_t line_count;
};

#define ROWS_EACH 3

static void *fill_rows(struct filler *filler, const struct table *table, size_t count);

static void fill_field(struct filler *filler, const struct field *field, uint8_t *row)
{
	uint64_t word = unit_random_next(&filler->random);
	uint8_t *at = row + field->offset;
	const char *text;
	void *rows;
	double real;

	switch (field->kind) {
	case FIELD_WORDS:
		for (size_t i = 0; i < field->size; i += 8) {
			word = 1 + unit_random_below(&filler->random, 1 << 20);
			memcpy(at + i, &word, sizeof(word));
		}
		break;
	case FIELD_NUMBER:
		word = 1 + word % (field->limit ? field->limit - 1 : 1000);
		memcpy(at, &word, field->size);
		break;
	case FIELD_REAL:
		real = (double)(1 + word % 1000) / 1000;
		memcpy(at, &real, sizeof(real));
		break;
	case FIELD_TEXT:
		snprintf((char *)at, field->size, "t%u", (unsigned)(word % 1000));
		break;
	case FIELD_STRING:
	case FIELD_STRING_OR_NULL:
		for (size_t i = 0; i < field->size; i += sizeof(text)) {
			text = arena_format(&filler->arena, "%s-%u", field->name,
					    (unsigned)unit_random_below(&filler->random, 1000));
			memcpy(at + i, &text, sizeof(text));
		}
		break;
	case FIELD_ROWS:
		rows = fill_rows(filler, field->table, ROWS_EACH);
		memcpy(at, &rows, sizeof(rows));
		memcpy(row + field->count_offset, &(size_t){ ROWS_EACH }, sizeof(size_t));
		if (!strcmp(field->table->name, "lines"))
			filler->lines = rows;
		break;
	case FIELD_LINE:
		memcpy(at, &(const void *){ &filler->lines[word % ROWS_EACH] }, sizeof(void *));
		break;
	}
}

static void *fill_rows(struct filler *filler, const struct table *table, size_t count)
{
	uint8_t *rows = arena_array(&filler->arena, count, table->row_size);

	assert_non_null(rows);
	for (size_t f = 0; f < table->field_count; f++)
		for (size_t i = 0; i < count; i++)
			fill_field(filler, &table->fields[f], rows + i * table->row_size);
	return rows;
}

static void *unconst(const void *pointer)
{
	return (void *)(uintptr_t)pointer;
}

static void order_cells(struct profile_timeline *timeline)
{
	struct profile_cell *cells = unconst(timeline->cells);

	timeline->slice_count = ROWS_EACH + 1;
	for (uint32_t i = 0; i < ROWS_EACH; i++) {
		cells[i].owner = i;
		cells[i].slice = i + 1;
	}
}

/* Everything set, and within the rules of profile.h. */
static struct profile filled_profile(struct filler *filler)
{
	struct recorded_profile *recorded;
	struct profile_line *lines;
	struct profile_node *nodes;
	const char **command;

	*filler = (struct filler){ 0 };
	filler->random.state = 7;
	arena_init(&filler->arena, ARENA_MAX);
	recorded = fill_rows(filler, &profile_table, 1);
	lines = unconst(recorded->profile.lines);
	nodes = unconst(recorded->profile.tree.nodes);
	command = arena_array(&filler->arena, ROWS_EACH + 1, sizeof(*command));
	for (uint32_t i = 0; i < ROWS_EACH; i++) {
		lines[i].reason_count = sizeof(lines->reasons) / sizeof(lines->reasons[0]);
		nodes[i].depth = i;
		nodes[i].parent = i ? i - 1 : PROFILE_NODE_NONE;
		nodes[i].frame = i;
		command[i] = recorded->command[i].text;
	}
	order_cells(&recorded->profile.facts.thread_timeline);
	order_cells(&recorded->profile.facts.node_timeline);
	recorded->profile.facts.target.command = command;
	for (size_t i = 0; i < LOSS_COUNT; i++)
		recorded->profile.facts.losses.counts[i] = i + 1;
	return recorded->profile;
}

static void compare_rows(const struct table *table, const uint8_t *a, const uint8_t *b,
			 size_t count);

static void compare_field(const struct field *field, const uint8_t *a, const uint8_t *b)
{
	const char *text_a, *text_b;
	size_t count_a, count_b;

	switch (field->kind) {
	case FIELD_STRING:
	case FIELD_STRING_OR_NULL:
		for (size_t i = 0; i < field->size; i += sizeof(text_a)) {
			memcpy(&text_a, a + field->offset + i, sizeof(text_a));
			memcpy(&text_b, b + field->offset + i, sizeof(text_b));
			assert_string_equal(text_a, text_b);
		}
		break;
	case FIELD_ROWS:
		memcpy(&count_a, a + field->count_offset, sizeof(count_a));
		memcpy(&count_b, b + field->count_offset, sizeof(count_b));
		memcpy(&text_a, a + field->offset, sizeof(text_a));
		memcpy(&text_b, b + field->offset, sizeof(text_b));
		assert_int_equal(count_a, count_b);
		compare_rows(field->table, (const uint8_t *)text_a, (const uint8_t *)text_b,
			     count_a);
		break;
	case FIELD_LINE:
		memcpy(&text_a, a + field->offset, sizeof(text_a));
		memcpy(&text_b, b + field->offset, sizeof(text_b));
		compare_rows(&(const struct table){ "one line", sizeof(struct profile_line), 1,
						    NULL, 0 },
			     (const uint8_t *)text_a, (const uint8_t *)text_b, 1);
		assert_string_equal(((const struct profile_line *)(const void *)text_a)->file,
				    ((const struct profile_line *)(const void *)text_b)->file);
		break;
	default:
		if (memcmp(a + field->offset, b + field->offset, field->size))
			fail_msg("%s came back as something else", field->name);
	}
}

static void compare_rows(const struct table *table, const uint8_t *a, const uint8_t *b,
			 size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (size_t f = 0; f < table->field_count; f++)
			compare_field(&table->fields[f], a + i * table->row_size,
				      b + i * table->row_size);
}

static char *written(const struct writer *writer, const struct profile *profile, size_t *ret_size)
{
	char *bytes = NULL;
	FILE *file = open_memstream(&bytes, ret_size);

	assert_non_null(file);
	assert_int_equal(writer->write(profile, &defaults, file), 0);
	assert_int_equal(fclose(file), 0);
	return bytes;
}

static struct recording *recorded(const struct profile *profile, const char *path)
{
	struct recording *recording;
	struct error error;

	assert_int_equal(writer_write_file(&writer_recording, profile, &defaults, path), 0);
	recording = recording_open(path, &error);
	if (!recording)
		print_error("%s\n", error.cause);
	assert_non_null(recording);
	return recording;
}

static void check_writers(const struct profile *before, const struct profile *after)
{
	for (size_t i = 0; i < WRITERS; i++) {
		size_t expected_size, size;
		char *expected = written(all_writers[i], before, &expected_size);
		char *bytes = written(all_writers[i], after, &size);

		if (size != expected_size || memcmp(bytes, expected, size))
			fail_msg("%s writes something else", all_writers[i]->name);
		free(expected);
		free(bytes);
	}
}

static void test_everything_comes_back(void **state)
{
	struct filler filler;
	struct recorded_profile before = { .profile = filled_profile(&filler) }, after = { 0 };
	struct recording *recording = recorded(&before.profile, path_of("x.pieprof"));

	(void)state;
	after.profile = recording->profile;
	compare_rows(&profile_table, (const uint8_t *)&before, (const uint8_t *)&after, 1);
	assert_memory_equal(&after.profile.facts.losses, &before.profile.facts.losses,
			    sizeof(struct losses));
	check_writers(&before.profile, &after.profile);
	recording_close(recording);
	arena_deinit(&filler.arena);
}

static void test_writers_make_the_same(void **state)
{
	struct profile profile = sample_profile(), nothing = { 0 };
	struct recording *recording = recorded(&profile, path_of("x.pieprof"));

	(void)state;
	check_writers(&profile, &recording->profile);
	recording_close(recording);
	/* Lists without items, strings that are not there. */
	nothing.facts.version = nothing.facts.sampler = "";
	recording = recorded(&nothing, path_of("x.pieprof"));
	check_writers(&nothing, &recording->profile);
	recording_close(recording);
}

/* ---- no member is left out */

/* Members that no writer reads, and those that are carried in another form. */
static const char *const not_carried[] = {
	"profile.facts.target.command",
	"profile.facts.losses",
	/* Of use only for merging. */
	"profile.facts.stop_histograms",
	"profile.facts.patterns",
	"profile.facts.line_info",
	"profile.facts.arguments",
	"profile.facts.open_source",
	"profile.facts.open_source_context",
	"differs_now",
};

static const struct {
	const char *table, *type;
} row_types[] = {
	{ "profile", "recorded_profile" },    { "pairs.first", "profile_frame" },
	{ "pairs.second", "profile_frame" },  { "tree.frames", "profile_frame" },
	{ "tree.nodes", "profile_node" },     { "lines", "profile_line" },
	{ "functions", "profile_function" },  { "pairs", "profile_pair" },
	{ "threads", "profile_thread" },      { "sources", "profile_source" },
	{ "losses", "recorded_loss" },        { "command", "recorded_word" },
	{ "processes", "profile_process" },   { "timeline.threads", "profile_cell" },
	{ "timeline.nodes", "profile_cell" },
};

static bool find_type(Dwarf *dwarf, const char *name, Dwarf_Die *ret_type)
{
	Dwarf_Off offset = 0, next;
	size_t header;

	for (; !dwarf_nextcu(dwarf, offset, &next, &header, NULL, NULL, NULL); offset = next) {
		Dwarf_Die unit, child;

		if (!dwarf_offdie(dwarf, offset + header, &unit) || dwarf_child(&unit, &child))
			continue;
		do {
			const char *found = dwarf_diename(&child);

			if (dwarf_tag(&child) == DW_TAG_structure_type && found &&
			    !strcmp(found, name) && !dwarf_hasattr(&child, DW_AT_declaration)) {
				*ret_type = child;
				return true;
			}
		} while (!dwarf_siblingof(&child, &child));
	}
	return false;
}

static Dwarf_Die type_of(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	Dwarf_Die type;

	assert_non_null(dwarf_attr_integrate(die, DW_AT_type, &attribute));
	assert_non_null(dwarf_formref_die(&attribute, &type));
	(void)dwarf_peel_type(&type, &type);
	return type;
}

/* Nothing in it but numbers of 64 bits. */
static bool all_words(Dwarf_Die *type)
{
	Dwarf_Die child, inner;

	switch (dwarf_tag(type)) {
	case DW_TAG_array_type:
		inner = type_of(type);
		return all_words(&inner);
	case DW_TAG_structure_type:
		if (dwarf_child(type, &child))
			return true;
		do {
			inner = type_of(&child);
			if (!all_words(&inner))
				return false;
		} while (!dwarf_siblingof(&child, &child));
		return true;
	default:
		return dwarf_tag(type) == DW_TAG_base_type && dwarf_bytesize(type) == 8;
	}
}

static bool is_carried(const struct table *table, const char *path, uint64_t offset,
		       Dwarf_Die *type)
{
	for (size_t i = 0; i < sizeof(not_carried) / sizeof(not_carried[0]); i++)
		if (!strcmp(not_carried[i], path))
			return true;
	for (size_t f = 0; f < table->field_count; f++) {
		const struct field *field = &table->fields[f];

		if (field->kind == FIELD_ROWS && field->count_offset == offset)
			return true;
		if (strcmp(field->name, path))
			continue;
		if (field->kind == FIELD_WORDS && !all_words(type))
			fail_msg("%s: not all of it are words of 64 bits", path);
		return true;
	}
	return false;
}

static void check_members(const struct table *table, Dwarf_Die *type, const char *prefix,
			  uint64_t base)
{
	Dwarf_Die member;

	assert_int_equal(dwarf_child(type, &member), 0);
	do {
		Dwarf_Die inner = type_of(&member);
		Dwarf_Attribute attribute;
		Dwarf_Word offset;
		char path[256];

		assert_int_equal(
			dwarf_formudata(dwarf_attr(&member, DW_AT_data_member_location, &attribute),
					&offset),
			0);
		snprintf(path, sizeof(path), "%s%s", prefix, dwarf_diename(&member));
		if (is_carried(table, path, base + offset, &inner))
			continue;
		if (dwarf_tag(&inner) != DW_TAG_structure_type)
			fail_msg("%s of table %s is in no recording: it needs a line in "
				 "profile_fields.c",
				 path, table->name);
		strcat(path, ".");
		check_members(table, &inner, path, base + offset);
	} while (!dwarf_siblingof(&member, &member));
}

static void check_table(Dwarf *dwarf, const struct table *table)
{
	const char *name = NULL;
	Dwarf_Die type;

	for (size_t i = 0; i < sizeof(row_types) / sizeof(row_types[0]); i++)
		if (!strcmp(row_types[i].table, table->name))
			name = row_types[i].type;
	if (!name || !find_type(dwarf, name, &type))
		fail_msg("table %s: its struct is not named here", table->name);
	check_members(table, &type, "", 0);
	for (size_t f = 0; f < table->field_count; f++)
		if (table->fields[f].kind == FIELD_ROWS)
			check_table(dwarf, table->fields[f].table);
}

static void test_no_member_is_left_out(void **state)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	Dwarf *dwarf = dwarf_begin(fd, DWARF_C_READ);

	(void)state;
	assert_non_null(dwarf);
	check_table(dwarf, &profile_table);
	dwarf_end(dwarf);
	close(fd);
}

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

static void write_file(const char *path, const char *bytes, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_int_equal(write(fd, bytes, size), size);
	close(fd);
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
		(void)!diff_write_text(diff, &defaults, file);
		(void)!diff_write_json(diff, file);
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

/* ---- source files that changed */

static void test_changed_sources(void **state)
{
	struct profile_source source = { .sha256 = "" };
	struct profile profile = { .sources = &source, .source_count = 1 };
	struct source_version version;
	struct arena arena;
	char path[128], *words;
	int fd;

	(void)state;
	arena_init(&arena, ARENA_MAX);
	strcpy(path, path_of("x.py"));
	write_file(path, "print(1)\n", 9);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(source_version_read(fd, &version), 0);
	close(fd);
	assert_string_equal(version.sha256, /* sha256sum's */
			    "cc42155088fca5730758db72b2a5bca33112a941dfaa2d43098ec422ce4ea213");
	source = (struct profile_source){ .file = path, .sha256 = version.sha256, .size = 9 };
	assert_int_equal(profile_sources_compare(&profile, &arena), 0);
	assert_false(profile.sources[0].differs_now);
	assert_null(profile_sources_differing(&profile));
	/* Of the same length. */
	write_file(path, "print(2)\n", 9);
	assert_int_equal(profile_sources_compare(&profile, &arena), 0);
	assert_true(profile.sources[0].differs_now);
	words = profile_sources_differing(&profile);
	assert_non_null(strstr(words, "x.py changed since the recording"));
	free(words);
	assert_null(profile_sources_newer(&profile));
	/* Somebody else's files by the same names. */
	profile.sources = &source;
	profile.facts.other_root = true;
	assert_int_equal(profile_sources_compare(&profile, &arena), 0);
	assert_false(profile.sources[0].differs_now);
	/* Not on this machine. */
	profile.facts.other_root = false;
	unlink(path);
	assert_int_equal(profile_sources_compare(&profile, &arena), 0);
	assert_false(profile.sources[0].differs_now);
	arena_deinit(&arena);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_everything_comes_back),
		cmocka_unit_test(test_writers_make_the_same),
		cmocka_unit_test(test_no_member_is_left_out),
		cmocka_unit_test(test_damaged_files),
		cmocka_unit_test(test_columns),
		cmocka_unit_test(test_hostile_contents),
		cmocka_unit_test(test_old_recording_survives),
		cmocka_unit_test(test_changed_sources),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
