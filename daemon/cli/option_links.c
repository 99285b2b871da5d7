/* SPDX-License-Identifier: Apache-2.0 */
/* Where the links of a page lead: addresses of a line of source. */
#include "daemon/cli/option_values.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const struct {
	const char *name, *url;
} editors[] = {
	{ "vscode", "vscode://file{file}:{line}" },
	{ "vscodium", "vscodium://file{file}:{line}" },
	{ "cursor", "cursor://file{file}:{line}" },
	{ "zed", "zed://file{file}:{line}" },
	{ "pycharm", "pycharm://open?file={file}&line={line}" },
	{ "idea", "idea://open?file={file}&line={line}" },
	{ "sublime", "subl://open?url=file://{file}&line={line}" },
	{ "textmate", "txmt://open?url=file://{file}&line={line}" },
};

/* A scheme and what is behind it, and no scheme that a browser runs. */
static bool is_address(const char *text)
{
	static const char *const run[] = { "javascript", "vbscript", "data", "blob", "about" };
	size_t length = 0;

	if (!isalpha((unsigned char)text[0]))
		return false;
	while (isalnum((unsigned char)text[length]) || strchr("+-.", text[length])) {
		if (!text[length])
			return false;
		length++;
	}
	if (text[length] != ':')
		return false;
	for (size_t i = 0; i < sizeof(run) / sizeof(run[0]); i++)
		if (strlen(run[i]) == length && !strncasecmp(text, run[i], length))
			return false;
	for (const char *at = text; *at; at++)
		if ((unsigned char)*at <= ' ' || *at == 0x7f)
			return false;
	return true;
}

int option_editor(struct option_parser *parser, const struct option_use *use)
{
	for (size_t i = 0; i < sizeof(editors) / sizeof(editors[0]); i++)
		if (!strcmp(use->text, editors[i].name)) {
			parser->options.editor_url = editors[i].url;
			return 0;
		}
	if (is_address(use->text) && strstr(use->text, "{file}")) {
		parser->options.editor_url = use->text;
		return 0;
	}
	fprintf(parser->errors, "pieprofd: --editor '%s' is not known; there are", use->text);
	for (size_t i = 0; i < sizeof(editors) / sizeof(editors[0]); i++)
		fprintf(parser->errors, "%s %s", i ? "," : "", editors[i].name);
	fputs(", or an address with {file} in it, such as myeditor://{file}:{line}\n",
	      parser->errors);
	return -1;
}

int option_source_url(struct option_parser *parser, const struct option_use *use)
{
	struct options *options = &parser->options;
	const char *url = use->text, *sign = strchr(use->text, '=');

	if (url[0] == '/' && sign) {
		if ((size_t)(sign - url) >= sizeof(options->link_root))
			return options_refuse(parser, "--source-url: the folder is too long");
		snprintf(options->link_root, sizeof(options->link_root), "%.*s", (int)(sign - url),
			 url);
		url = sign + 1;
	}
	if (!is_address(url) || !strstr(url, "{path}"))
		return options_refuse(
			parser, "--source-url takes an address with {path} and {line}, such as "
				"/srv/app=https://github.com/me/app/blob/main/{path}#L{line}");
	options->source_url = url;
	return 0;
}
