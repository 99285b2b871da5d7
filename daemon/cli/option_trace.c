/* SPDX-License-Identifier: Apache-2.0 */
/* What trace is to record beside calls of MPI. */
#include "attach/bpf/function_record.h"
#include "attach/counter_set.h"
#include "daemon/cli/option_values.h"

#include <errno.h>
#include <string.h>

#define LEAST_SECONDS_MAX 3600

static int settle(const struct option_parser *parser, int error, const char *option,
		  const char *text)
{
	if (error == -E2BIG)
		return options_refuse(parser, "--%s %s: at most %d are traced at a time", option,
				      text, SPANS_MAX);
	if (error == -EINVAL)
		return options_refuse(parser,
				      "--%s '%s': expected LIBRARY:FUNCTION, such as "
				      "libc.so.6:fsync",
				      option, text);
	/* What is there already is there once. */
	return 0;
}

int option_probe(struct option_parser *parser, const struct option_use *use)
{
	return settle(parser, span_list_add_function(&parser->options.spans, use->text), "probe",
		      use->text);
}

int option_functions(struct option_parser *parser, const struct option_use *use)
{
	int error =
		use->text[0] ? span_list_add_pattern(&parser->options.spans, use->text) : -EINVAL;

	if (error == -EINVAL)
		return options_refuse(parser, "--functions '': expected a pattern, such as '*'");
	if (error)
		return options_refuse(parser,
				      "--functions %s: at most %d patterns, and %d that are "
				      "traced at a time",
				      use->text, FUNCTION_PATTERNS_MAX, SPANS_MAX);
	return 0;
}

int option_depth(struct option_parser *parser, const struct option_use *use)
{
	long depth;

	if (!option_whole(use->text, 1, FUNCTION_DEPTH_MAX, &depth))
		return options_refuse(parser, "--depth '%s': expected a number from 1 to %d",
				      use->text, FUNCTION_DEPTH_MAX);
	parser->options.spans.functions.depth_max = (unsigned)depth;
	return 0;
}

/* Calls are short: "50us" and "2ms", too. */
static bool read_least(const char *text, double *ret_seconds)
{
	size_t length = strlen(text);
	double scale = 1;
	char number[32];

	if (length > 2 && length < sizeof(number) && !strcmp(text + length - 2, "us"))
		scale = 1e-6;
	else if (length > 2 && length < sizeof(number) && !strcmp(text + length - 2, "ms"))
		scale = 1e-3;
	if (scale < 1) {
		snprintf(number, sizeof(number), "%.*s", (int)(length - 2), text);
		text = number;
	}
	if (!option_seconds(text, ret_seconds))
		return false;
	*ret_seconds *= scale;
	return *ret_seconds <= LEAST_SECONDS_MAX;
}

int option_least(struct option_parser *parser, const struct option_use *use)
{
	double seconds;

	if (!read_least(use->text, &seconds))
		return options_refuse(parser,
				      "--least '%s': expected a time, such as 0.001, 2ms or 50us",
				      use->text);
	parser->options.spans.functions.least_ns = (uint64_t)(seconds * 1e9);
	return 0;
}

static int add_event(struct option_parser *parser, const char *name, size_t length)
{
	static const enum span_kind kinds[] = { SPAN_COLLECTION, SPAN_GIL, SPAN_SWITCH,
						SPAN_FAULT };
	int error = -ENOENT;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && error == -ENOENT; i++) {
		const char *known = span_kind_name(kinds[i]);

		if (strlen(known) == length && !strncmp(known, name, length))
			error = span_list_add(&parser->options.spans, kinds[i]);
	}
	if (error == -ENOENT)
		return options_refuse(
			parser,
			"--events '%.*s': expected gc, gil, sched, faults, or several "
			"with commas",
			(int)length, name);
	return settle(parser, error, "events", name);
}

int option_events(struct option_parser *parser, const struct option_use *use)
{
	const char *name = use->text;

	for (;;) {
		size_t length = strcspn(name, ",");

		if (add_event(parser, name, length))
			return -1;
		if (!name[length])
			return 0;
		name += length + 1;
	}
}

int option_counters(struct option_parser *parser, const struct option_use *use)
{
	const char *name = use->text;

	for (;;) {
		size_t length = strcspn(name, ",");
		int kind = counter_find(name, length);

		if (kind < 0)
			return options_refuse(parser,
					      "--counters '%.*s': expected cpu, context-switches, "
					      "cpu-migrations, page-faults, major-faults, "
					      "instructions, cycles, cache-misses, or several with "
					      "commas",
					      (int)length, name);
		parser->options.spans.counters |= 1u << kind;
		if (!name[length])
			return 0;
		name += length + 1;
	}
}
