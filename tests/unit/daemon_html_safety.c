/* SPDX-License-Identifier: Apache-2.0 */
/* The HTML report against what a target puts into names, and the policy's hashes. */
#include "daemon/report/encode/sha256.h"
#include "html_page.h"

static void test_hostile(void **state)
{
	static const char *const command[] = { "python3", HOSTILE, "\xe2\x80\xa8\xe2\x80\xae\xff",
					       NULL };
	struct profile profile = sample_profile();
	struct profile_line lines[sizeof(sample_lines) / sizeof(sample_lines[0])];
	struct profile_frame frames[sizeof(sample_tree_frames) / sizeof(sample_tree_frames[0])];
	struct profile_frame path = sample_first[6];
	struct profile_pair pair = sample_pairs[0];
	json_t *report, *tree, *line;
	char *page;

	(void)state;
	memcpy(lines, sample_lines, sizeof(lines));
	memcpy(frames, sample_tree_frames, sizeof(frames));
	lines[1].file = lines[1].function = lines[1].source = lines[1].reasons[0] = HOSTILE;
	frames[2].function = frames[2].file = HOSTILE;
	path.function = path.source = HOSTILE;
	pair.first = pair.second = &path;
	pair.first_count = pair.second_count = 1;
	profile.pairs = &pair;
	profile.pair_count = 1;
	profile.lines = lines;
	profile.tree.frames = frames;
	profile.facts.target.command = command;
	profile.facts.version = HOSTILE;
	memcpy(profile.facts.target.comm, "<b onload=x>\"'&<", sizeof(profile.facts.target.comm));
	page = written(&profile);
	check_markup(page);
	assert_null(strstr(page, "<img"));
	assert_null(strstr(page, "<b onload"));
	assert_int_equal(occurrences(page, "</script>"), 3);
	assert_int_equal(occurrences(page, "\xe2\x80\xa8") + occurrences(page, "\xe2\x80\xae"), 0);
	assert_non_null(strstr(page, "&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;&amp;amp;"));
	report = block(page, "report-data");
	line = json_array_get(json_object_get(report, "lines"), 1);
	assert_string_equal(json_string_value(json_object_get(line, "function")), HOSTILE);
	tree = block(page, "tree-data");
	line = json_array_get(json_array_get(json_object_get(tree, "frames"), 2), 1);
	assert_string_equal(json_string_value(line), HOSTILE);
	json_decref(report);
	json_decref(tree);
	free(page);
}

/* By the coreutils, not by what wrote it: SHA-256 of a file, in hexadecimal. */
static void sum_of(const char *text, char ret_sum[65])
{
	char path[] = "/tmp/pieprofd-test-XXXXXX", command[64];
	int descriptor = mkstemp(path);
	FILE *file, *output;

	assert_true(descriptor >= 0);
	file = fdopen(descriptor, "w");
	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
	snprintf(command, sizeof(command), "sha256sum %s", path);
	output = popen(command, "r");
	assert_non_null(output);
	assert_int_equal(fread(ret_sum, 1, 64, output), 64);
	ret_sum[64] = '\0';
	pclose(output);
	remove(path);
}

static void base64_to_hexadecimal(const char *text, char *ret_sum)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	uint32_t bits = 0;
	unsigned count = 0;

	for (; *text && *text != '='; text++) {
		const char *digit = strchr(digits, *text);

		assert_non_null(digit);
		bits = bits << 6 | (uint32_t)(digit - digits);
		count += 6;
		if (count >= 8) {
			count -= 8;
			ret_sum += sprintf(ret_sum, "%02x", bits >> count & 0xff);
		}
	}
}

static void check_allowed(const char *page, const char *text, const char *directive)
{
	char start[32], expected[65], actual[80];
	char *hash;

	snprintf(start, sizeof(start), "; %s 'sha256-", directive);
	hash = between(page, start, "'");
	assert_int_equal(strlen(hash), SHA256_BASE64_BYTES - 1);
	base64_to_hexadecimal(hash, actual);
	sum_of(text, expected);
	assert_string_equal(actual, expected);
	free(hash);
}

static void test_policy(void **state)
{
	struct profile profile = sample_profile();
	char *page = written(&profile);
	char *script = between(page, "<script>", "</script>");
	char *style = between(page, "<style>", "</style>");

	(void)state;
	assert_non_null(strstr(page, "content=\"default-src 'none'; style-src 'sha256-"));
	assert_null(strstr(page, "unsafe-"));
	check_allowed(page, script, "script-src");
	check_allowed(page, style, "style-src");
	/* Nothing that parses HTML or runs text. */
	assert_null(strstr(script, "innerHTML"));
	assert_null(strstr(script, "eval("));
	free(script);
	free(style);
	free(page);
}

static void test_sha256(void **state)
{
	/* FIPS 180-4's examples, and every length around the ends of blocks against sha256sum. */
	char text[SHA256_BASE64_BYTES], filled[131], expected[65], actual[80];

	(void)state;
	sha256_base64("abc", 3, text);
	assert_string_equal(text, "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
	sha256_base64("", 0, text);
	assert_string_equal(text, "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
	for (size_t size = 54; size <= 130; size += size == 66 ? 52 : 1) {
		memset(filled, 'x', size);
		filled[size] = '\0';
		sha256_base64(filled, size, text);
		base64_to_hexadecimal(text, actual);
		sum_of(filled, expected);
		assert_string_equal(actual, expected);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_policy),
		cmocka_unit_test(test_sha256),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
