/* SPDX-License-Identifier: Apache-2.0 */
/* Many processes as one fleet: by service, with the labels that all have in common. */
#include "merge_variant.h"

static void label(struct variant *variant, unsigned number)
{
	struct profile_target *target = &variant->profile.facts.target;

	snprintf(target->labels.service, sizeof(target->labels.service), "%s",
		 number % 2 ? "shop" : "mail");
	snprintf(target->labels.version, sizeof(target->labels.version), "1.4");
	snprintf(target->labels.pod, sizeof(target->labels.pod), "pod-%u", number);
	snprintf(target->labels.pod_uid, sizeof(target->labels.pod_uid), "%032u", number);
	snprintf(target->host, sizeof(target->host), "node-1");
}

static void test_services(void **state)
{
	struct profile_merge *merge = profile_merge_create();
	const struct profile_target *target;
	struct profile *profile;
	size_t roots = 0;
	uint64_t threads_ns = 0, parts_ns = 0;

	(void)state;
	profile_merge_set_fleet(merge);
	for (unsigned i = 1; i <= 200; i++) {
		struct variant *variant = make(i);

		label(variant, i);
		for (size_t k = 0; k < variant->profile.facts.thread_count; k++)
			parts_ns += time_sum(variant->profile.facts.threads[k].time_ns);
		assert_int_equal(profile_merge_add(merge, &variant->profile), 0);
		free(variant);
	}
	profile = profile_merge_build(merge, false);
	assert_non_null(profile);
	for (size_t i = 0; i < profile->tree.node_count; i++) {
		const struct profile_node *node = &profile->tree.nodes[i];

		if (node->parent != PROFILE_NODE_NONE)
			continue;
		roots++;
		assert_true(!strncmp(profile->tree.frames[node->frame].function, "service ", 8));
	}
	assert_int_equal(roots, 2);
	assert_int_equal(profile->process_count, 200);
	/* Of each name one, and no time is lost. */
	assert_in_range(profile->facts.thread_count, 1, 2);
	for (size_t i = 0; i < profile->facts.thread_count; i++)
		threads_ns += time_sum(profile->facts.threads[i].time_ns);
	assert_int_equal(threads_ns, parts_ns);
	target = &profile->facts.target;
	assert_string_equal(target->labels.service, "");
	assert_string_equal(target->labels.version, "1.4");
	assert_string_equal(target->labels.pod, "");
	assert_string_equal(target->labels.pod_uid, "");
	assert_string_equal(target->host, "node-1");
	profile_destroy(profile);
	profile_merge_destroy(merge);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_services) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
