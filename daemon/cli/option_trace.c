/* SPDX-License-Identifier: Apache-2.0 */
/* What trace is to record beside calls of MPI. */
#include "daemon/cli/option_values.h"

#include <errno.h>
#include <string.h>

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

static int add_event(struct option_parser *parser, const char *name, size_t length)
{
	static const enum span_kind kinds[] = { SPAN_COLLECTION, SPAN_GIL, SPAN_SWITCH };
	int error = -ENOENT;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && error == -ENOENT; i++) {
		const char *known = span_kind_name(kinds[i]);

		if (strlen(known) == length && !strncmp(known, name, length))
			error = span_list_add(&parser->options.spans, kinds[i]);
	}
	if (error == -ENOENT)
		return options_refuse(parser,
				      "--events '%.*s': expected gc, gil, sched, or several with "
				      "commas",
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
