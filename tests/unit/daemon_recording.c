/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recordings: that nothing of a profile is left out, and that every writer
 * makes the same of what comes back.
 */
#include "daemon/report/recording/profile_fields.h"
#include "recorded_files.h"
#include "unit_random.h"

#include <dwarf.h>
#include <elfutils/libdw.h>

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
	struct profile_stack *stacks;
	struct resident_point *points;
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
	order_cells(&recorded->profile.facts.stack_timeline);
	stacks = unconst(recorded->profile.facts.stacks);
	for (uint32_t i = 0; i < ROWS_EACH; i++)
		stacks[i].thread = stacks[i].node = i;
	points = unconst(recorded->profile.facts.resident.points);
	for (uint32_t i = 0; i < ROWS_EACH; i++)
		points[i].time_ns = i;
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
	"profile.facts.start_frames",
	"profile.facts.open_source",
	"profile.facts.open_source_context",
	"profile.facts.source_memory",
	"differs_now",
	/* Made of the others when it is read. */
	"profile.findings",
	"profile.finding_count",
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
	{ "timeline.nodes", "profile_cell" }, { "sources.texts", "profile_text" },
	{ "timeline.nodes", "profile_cell" }, { "timeline.stacks", "profile_cell" },
	{ "stacks", "profile_stack" },        { "resident", "resident_point" },
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_everything_comes_back),
		cmocka_unit_test(test_writers_make_the_same),
		cmocka_unit_test(test_no_member_is_left_out),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
