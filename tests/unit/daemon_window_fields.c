/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is taken out of a later copy for a window. That no member is forgotten is
 * asked of the debugging information of this very program.
 */
#include "daemon/cct/pair_table.h"
#include "daemon/report/model/profile.h"
#include "daemon/session/session_window_fields.h"
#include "daemon/session/snapshot_mark.h"
#include "struct_members.h"

#include <stdlib.h>

static const struct window_field *find_field(const struct window_table *table, const char *name)
{
	for (size_t i = 0; i < table->count; i++)
		if (!strcmp(table->fields[i].name, name))
			return &table->fields[i];
	return NULL;
}

static void check_member(const struct window_table *table, Dwarf_Die *member)
{
	const struct window_field *field = find_field(table, dwarf_diename(member));
	Dwarf_Die type;

	if (!field)
		fail_msg("struct %s has a member %s, of which its table does not know",
			 table->struct_name, dwarf_diename(member));
	if (field->rule == WINDOW_SUBTRACT && (!type_of(member, &type) || !is_words(&type)))
		fail_msg("%s.%s cannot be subtracted: it is not made of uint64_t",
			 table->struct_name, field->name);
}

static void test_no_member_is_forgotten(void **state)
{
	static const struct window_table *const tables[] = {
		&window_pair,           &window_pair_origin,   &window_side_time,
		&window_profile_thread, &window_profile_facts, &window_profile_stack,
	};
	int fd;
	Dwarf *dwarf = open_own_debug_info(&fd);

	(void)state;
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		const struct window_table *table = tables[i];
		size_t members = 0;
		Dwarf_Die found, member;

		find_struct(dwarf, table->struct_name, table->struct_size, &found);
		assert_int_equal(dwarf_child(&found, &member), 0);
		do {
			if (dwarf_tag(&member) != DW_TAG_member)
				continue;
			check_member(table, &member);
			members++;
		} while (!dwarf_siblingof(&member, &member));
		assert_int_equal(members, table->count);
	}
	dwarf_end(dwarf);
	close(fd);
}

/* Every figure of a node is in its mark, and is taken out: what is left is which node it is. */
static void test_no_figure_of_a_node_is_forgotten(void **state)
{
	static const char *const identity[] = { "parent", "first_child", "next_sibling",
						"frame",  "id",          "depth" };
	struct snapshot snapshot;
	struct snapshot_mark mark;
	struct cct_node *node;
	Dwarf_Die found, member;
	int fd;
	Dwarf *dwarf = open_own_debug_info(&fd);

	(void)state;
	assert_int_equal(snapshot_init(&snapshot, 16, 16), 0);
	node = cct_root(snapshot.cct);
	find_struct(dwarf, "cct_node", sizeof(*node), &found);
	for (unsigned pass = 0; pass < 2; pass++) {
		assert_int_equal(dwarf_child(&found, &member), 0);
		do {
			const char *name = dwarf_diename(&member);
			bool is_identity = dwarf_tag(&member) != DW_TAG_member;
			Dwarf_Attribute attribute;
			Dwarf_Word offset, size;
			Dwarf_Die type;

			for (size_t i = 0; i < sizeof(identity) / sizeof(identity[0]); i++)
				is_identity = is_identity || !strcmp(name, identity[i]);
			if (is_identity)
				continue;
			assert_true(type_of(&member, &type) && is_words(&type));
			assert_non_null(
				dwarf_attr(&member, DW_AT_data_member_location, &attribute));
			assert_int_equal(dwarf_formudata(&attribute, &offset), 0);
			assert_int_equal(dwarf_aggregate_size(&type, &size), 0);
			for (size_t i = 0; i < size / sizeof(uint64_t); i++) {
				uint64_t *word = (uint64_t *)((char *)node + offset) + i;

				if (pass && *word)
					fail_msg("cct_node.%s is not subtracted", name);
				*word = 7 + i;
			}
		} while (!dwarf_siblingof(&member, &member));
		if (pass)
			break;
		assert_int_equal(snapshot_mark_take(&snapshot, &mark), 0);
		assert_int_equal(snapshot_subtract(&snapshot, &mark), 0);
		snapshot_mark_deinit(&mark);
	}
	dwarf_end(dwarf);
	close(fd);
	snapshot_deinit(&snapshot);
}

/* 200 new values before the window, 3 in it. */
static void test_settled_of_a_window(void **state)
{
	const struct pair_evidence evidence = { .settled = true, .settled_same = true };
	struct cct *cct = cct_create(16);
	struct pair_table *pairs = pair_table_create(16);
	struct snapshot snapshot;
	struct snapshot_mark mark = { 0 };
	const struct pair *pair;

	(void)state;
	assert_int_equal(snapshot_init(&snapshot, 16, 16), 0);
	for (unsigned i = 0; i < 203; i++) {
		assert_int_equal(pair_table_add(pairs, PAIR_STORE, cct_root(cct), cct_root(cct),
						VERDICT_NEW, &evidence),
				 0);
		if (i != 199 && i != 202)
			continue;
		while (snapshot_step(&snapshot, cct, pairs))
			;
		if (i == 199)
			assert_int_equal(snapshot_mark_take(&snapshot, &mark), 0);
	}
	assert_int_equal(snapshot_subtract(&snapshot, &mark), 0);
	pair = pair_table_pair(snapshot.pairs, 0);
	assert_int_equal(pair->verdicts[VERDICT_NEW], 3);
	assert_int_equal(pair->settled, 3);
	assert_int_equal(pair->settled_same, 3);
	snapshot_mark_deinit(&mark);
	snapshot_deinit(&snapshot);
	pair_table_destroy(pairs);
	cct_destroy(cct);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_member_is_forgotten),
		cmocka_unit_test(test_no_figure_of_a_node_is_forgotten),
		cmocka_unit_test(test_settled_of_a_window),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
