/* SPDX-License-Identifier: Apache-2.0 */
/* Values of the options of pushing. */
#include "common/clock.h"
#include "daemon/cli/option_values.h"
#include "daemon/push/push.h"

#include <string.h>

#define EVERY_MIN_S 1
#define EVERY_MAX_S 86400

int option_push(struct option_parser *parser, const struct option_use *use)
{
	struct push_url url;
	struct error error;

	if (push_url_parse(use->text, PUSH_OTLP, &url, &error))
		return options_refuse(parser, "%s", error.cause);
	parser->options.push = use->text;
	return 0;
}

int option_push_protocol(struct option_parser *parser, const struct option_use *use)
{
	static const char *const names[] = {
		[PUSH_OTLP] = "otlp", [PUSH_OTLP_GRPC] = "grpc", [PUSH_PYROSCOPE] = "pyroscope"
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(use->text, names[i])) {
			parser->options.push_protocol = (enum push_protocol)i;
			return 0;
		}
	return options_refuse(parser, "--push-protocol '%s': expected otlp, grpc or pyroscope",
			      use->text);
}

int option_push_every(struct option_parser *parser, const struct option_use *use)
{
	double seconds;

	if (!option_seconds(use->text, &seconds) || seconds < EVERY_MIN_S || seconds > EVERY_MAX_S)
		return options_refuse(parser,
				      "--push-every '%s': expected seconds, such as 15 or 1m (1 to "
				      "86400)",
				      use->text);
	parser->options.push_every_ns = (uint64_t)(seconds * (double)NS_PER_SECOND);
	return 0;
}

/* It may be a secret: it is not repeated. */
int option_push_header(struct option_parser *parser, const struct option_use *use)
{
	struct options *options = &parser->options;

	if (options->push_header_count == OPTIONS_PUSH_HEADERS_MAX)
		return options_refuse(parser, "--push-header: at most %d of them",
				      OPTIONS_PUSH_HEADERS_MAX);
	if (use->text[0] != '@' && !push_header_is_valid(use->text))
		return options_refuse(parser, "--push-header: expected 'NAME: VALUE' or @FILE");
	options->push_headers[options->push_header_count++] = use->text;
	return 0;
}
