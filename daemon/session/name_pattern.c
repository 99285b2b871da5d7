/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/session/name_pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <errno.h>
#include <pcre2.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEPS_MAX    1000000
#define HEAP_MAX_KIB 4096
#define DEPTH_MAX    50 /* of parentheses */

struct name_pattern {
	pcre2_code *code;
	pcre2_match_data *match;
	pcre2_match_context *limits;
};

void name_pattern_free(struct name_pattern *pattern)
{
	if (!pattern)
		return;
	pcre2_match_context_free(pattern->limits);
	pcre2_match_data_free(pattern->match);
	pcre2_code_free(pattern->code);
	free(pattern);
}

static int compile(const char *text, pcre2_code **ret_code, char *problem, size_t problem_size)
{
	pcre2_compile_context *limits = pcre2_compile_context_create(NULL);
	PCRE2_SIZE offset;
	int failure;

	if (!limits)
		return -ENOMEM;
	pcre2_set_parens_nest_limit(limits, DEPTH_MAX);
	/* What PCRE2 looks for in advance takes long in crafted expressions, and saves nothing
	 * here. */
	*ret_code = pcre2_compile((PCRE2_SPTR)text, strlen(text),
				  PCRE2_DOTALL | PCRE2_NO_AUTO_CAPTURE | PCRE2_NO_AUTO_POSSESS |
					  PCRE2_NO_START_OPTIMIZE | PCRE2_NEVER_UTF,
				  &failure, &offset, limits);
	pcre2_compile_context_free(limits);
	if (*ret_code)
		return 0;
	pcre2_get_error_message(failure, (PCRE2_UCHAR *)problem, problem_size);
	return failure == PCRE2_ERROR_HEAP_FAILED ? -ENOMEM : -EINVAL;
}

int name_pattern_new(const char *text, struct name_pattern **ret_pattern, char *problem,
		     size_t problem_size)
{
	struct name_pattern *pattern;
	int error;

	if (strnlen(text, NAME_PATTERN_MAX + 1) > NAME_PATTERN_MAX) {
		snprintf(problem, problem_size, "longer than %d bytes", NAME_PATTERN_MAX);
		return -EINVAL;
	}
	snprintf(problem, problem_size, "out of memory");
	pattern = calloc(1, sizeof(*pattern));
	if (!pattern)
		return -ENOMEM;
	error = compile(text, &pattern->code, problem, problem_size);
	if (!error) {
		pattern->match = pcre2_match_data_create_from_pattern(pattern->code, NULL);
		pattern->limits = pcre2_match_context_create(NULL);
		if (!pattern->match || !pattern->limits)
			error = -ENOMEM;
	}
	if (error) {
		name_pattern_free(pattern);
		return error;
	}
	pcre2_set_match_limit(pattern->limits, STEPS_MAX);
	pcre2_set_heap_limit(pattern->limits, HEAP_MAX_KIB);
	*ret_pattern = pattern;
	return 0;
}

bool name_pattern_matches(const struct name_pattern *pattern, const char *text)
{
	return pcre2_match(pattern->code, (PCRE2_SPTR)text, strlen(text), 0, 0, pattern->match,
			   pattern->limits) >= 0;
}
