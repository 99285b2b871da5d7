/* SPDX-License-Identifier: Apache-2.0 */
/* speedscope's format, parsed back: the rules of its schema, and the sample's figures. */
#include "report_sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <jansson.h>

static const struct writer_options defaults;

static json_t *written(const struct profile *profile)
{
	char *text = sample_written(&writer_speedscope, profile, &defaults);
	json_error_t error;
	json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &error);

	if (!root)
		print_error("line %d: %s\nin:\n%s\n", error.line, error.text, text);
	assert_non_null(root);
	free(text);
	return root;
}

static const char *text_of(json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	assert_non_null(text);
	return text;
}

static json_int_t number_of(json_t *object, const char *key)
{
	assert_true(json_is_integer(json_object_get(object, key)));
	return json_integer_value(json_object_get(object, key));
}

/* What holds for every profile of the format. Returns the sum of its weights. */
static json_int_t check_profile(json_t *profile, size_t frame_count)
{
	json_t *samples = json_object_get(profile, "samples");
	json_t *weights = json_object_get(profile, "weights");
	json_int_t sum = 0;

	assert_string_equal(text_of(profile, "type"), "sampled");
	assert_string_equal(text_of(profile, "unit"), "nanoseconds");
	assert_int_equal(json_array_size(samples), json_array_size(weights));
	for (size_t i = 0; i < json_array_size(samples); i++) {
		json_t *stack = json_array_get(samples, i);

		assert_true(json_array_size(stack) > 0);
		for (size_t f = 0; f < json_array_size(stack); f++)
			assert_in_range(json_integer_value(json_array_get(stack, f)), 0,
					frame_count - 1);
		sum += json_integer_value(json_array_get(weights, i));
	}
	assert_int_equal(number_of(profile, "startValue"), 0);
	assert_true(number_of(profile, "endValue") == sum);
	return sum;
}

static void test_sample(void **state)
{
	static const char *const names[] = { "CPU time", "Python", "native", "system" };
	static const json_int_t sums[] = { 9800000000, 3000000000, 6000000000, 800000000 };
	static const json_int_t leaf[] = { 0, 1, 2, 3 };
	struct profile profile = sample_profile();
	json_t *root = written(&profile), *frames, *profiles, *frame, *stack;

	(void)state;
	assert_string_equal(text_of(root, "$schema"),
			    "https://www.speedscope.app/file-format-schema.json");
	assert_string_equal(text_of(root, "exporter"), "pieprofd@9.8.7");
	assert_string_equal(text_of(root, "name"), "python3 4321");
	frames = json_object_get(json_object_get(root, "shared"), "frames");
	profiles = json_object_get(root, "profiles");
	assert_int_equal(json_array_size(frames), 6);
	assert_int_equal(json_array_size(profiles), 4);
	for (size_t i = 0; i < 4; i++) {
		json_t *one = json_array_get(profiles, i);

		assert_string_equal(text_of(one, "name"), names[i]);
		assert_true(check_profile(one, 6) == sums[i]);
	}
	/* Outermost first: _start, <module>, backprop, the nameless one. */
	stack = json_array_get(json_object_get(json_array_get(profiles, 2), "samples"), 0);
	assert_int_equal(json_array_size(stack), 4);
	for (size_t i = 0; i < 4; i++)
		assert_true(json_integer_value(json_array_get(stack, i)) == leaf[i]);

	frame = json_array_get(frames, 2);
	assert_string_equal(text_of(frame, "name"), "Convolution.backprop");
	assert_string_equal(text_of(frame, "file"), SAMPLE_FILE);
	assert_int_equal(number_of(frame, "line"), 33);
	frame = json_array_get(frames, 3);
	assert_string_equal(text_of(frame, "name"), "libm.so.6+0x9abc");
	assert_string_equal(text_of(frame, "file"), "/usr/lib/libm.so.6");
	assert_null(json_object_get(frame, "line"));
	frame = json_array_get(frames, 4);
	assert_string_equal(text_of(frame, "file"), "numpy/core/src/mapping.c");
	assert_int_equal(number_of(frame, "line"), 1475);
	json_decref(root);
}

/* What is not told apart has no profile of its own. */
static void test_native_time_unknown(void **state)
{
	struct profile profile = sample_profile();
	json_t *root, *profiles;

	(void)state;
	profile.facts.native_unknown = true;
	root = written(&profile);
	profiles = json_object_get(root, "profiles");
	for (size_t i = 0; i < json_array_size(profiles); i++)
		assert_string_not_equal(text_of(json_array_get(profiles, i), "name"), "Python");
	assert_true(check_profile(json_array_get(profiles, 0), 6) == 9800000000);
	json_decref(root);
}

/* A reader always finds a profile to show; classes without time have none. */
static void test_empty(void **state)
{
	struct profile profile = { .facts = { .version = "1", .sampler = "clock" } };
	json_t *root = written(&profile), *profiles = json_object_get(root, "profiles");

	(void)state;
	assert_int_equal(json_array_size(profiles), 1);
	assert_true(check_profile(json_array_get(profiles, 0), 0) == 0);
	json_decref(root);
}

static void test_hostile(void **state)
{
	struct profile profile = sample_profile();
	struct profile_frame frames[sizeof(sample_tree_frames) / sizeof(sample_tree_frames[0])];
	json_t *root, *frame;

	(void)state;
	memcpy(frames, sample_tree_frames, sizeof(frames));
	frames[1].function = "</script>\"\\\n\x1b[2J";
	frames[1].file = "\xff/caf\xc3\xa9";
	frames[3].file = "?";
	profile.tree.frames = frames;
	memset(profile.facts.target.comm, '"', sizeof(profile.facts.target.comm));
	root = written(&profile);
	frame = json_array_get(json_object_get(json_object_get(root, "shared"), "frames"), 1);
	assert_string_equal(text_of(frame, "name"), "</script>\"\\\n\x1b[2J");
	assert_string_equal(text_of(frame, "file"), "\xef\xbf\xbd/caf\xc3\xa9");
	frame = json_array_get(json_object_get(json_object_get(root, "shared"), "frames"), 3);
	assert_string_equal(text_of(frame, "name"), "0x9abc");
	assert_null(json_object_get(frame, "file"));
	json_decref(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sample),
		cmocka_unit_test(test_native_time_unknown),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
