/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/profile_push.h"

#include "common/whole_file.h"
#include "daemon/cli/confinement.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEADER_BYTES_MAX      8192
#define AUTHORITIES_BYTES_MAX (4u << 20)

struct headers {
	struct push_options *push;
	char *texts[PUSH_HEADERS_MAX]; /* those of files, to be freed */
	unsigned count;
};

/* Of the process that sends. */
static int confine_sender(void)
{
	int failure = confinement_give_up(CONFINEMENT_NOTHING);

	if (!failure)
		failure = confinement_filter_sender();
	return confinement_has_failed(failure) ? failure : 0;
}

static int confine_keeper(void)
{
	int failure = confinement_give_up(CONFINEMENT_NOTHING);

	if (!failure)
		failure = confinement_filter_keeper();
	return confinement_has_failed(failure) ? failure : 0;
}

/* While it can be read. */
static int read_authorities(const char *path, struct push_options *push, char **ret_text,
			    struct error *error)
{
	char *text = NULL;
	int result;

	if (!path)
		return 0;
	result = whole_file_read(path, AUTHORITIES_BYTES_MAX, &text, &push->authorities_size);
	if (result) {
		error_set(error, EXIT_USAGE, "--push-ca %s: %s", path, strerror(-result));
		return -1;
	}
	*ret_text = text;
	if (!strstr(text, "-----BEGIN CERTIFICATE-----") &&
	    !strstr(text, "-----BEGIN TRUSTED CERTIFICATE-----")) {
		error_set(error, EXIT_USAGE, "--push-ca %s: no certificate is in it", path);
		error_set_cure(error,
			       "It is PEM, text that has -----BEGIN CERTIFICATE-----; openssl "
			       "x509 -inform der -in FILE makes that of other ones.");
		return -1;
	}
	push->authorities = text;
	return 0;
}

static int add_header(struct headers *headers, const char *text, const char *from,
		      struct error *error)
{
	if (headers->push->header_count == PUSH_HEADERS_MAX) {
		error_set(error, EXIT_USAGE, "--push-header: at most %d of them", PUSH_HEADERS_MAX);
		return -1;
	}
	if (!push_header_is_valid(text)) {
		error_set(error, EXIT_USAGE, "--push-header %s: a line is not NAME: VALUE", from);
		return -1;
	}
	headers->push->headers[headers->push->header_count++] = text;
	return 0;
}

static int add_line(struct headers *headers, char *line, const char *from, struct error *error)
{
	char *text;

	line[strcspn(line, "\r\n")] = '\0';
	if (!*line)
		return 0;
	text = strdup(line);
	if (!text) {
		error_set(error, EXIT_INTERNAL, "out of memory");
		return -1;
	}
	if (add_header(headers, text, from, error)) {
		free(text);
		return -1;
	}
	headers->texts[headers->count++] = text;
	return 0;
}

static int add_file(struct headers *headers, const char *from, struct error *error)
{
	FILE *file = fopen(from + 1, "re");
	char line[HEADER_BYTES_MAX];
	int result = 0;

	if (!file) {
		error_set(error, EXIT_USAGE, "--push-header %s: %s", from, strerror(errno));
		return -1;
	}
	while (!result && fgets(line, sizeof(line), file))
		result = add_line(headers, line, from, error);
	explicit_bzero(line, sizeof(line));
	fclose(file);
	return result;
}

static int read_headers(const struct options *options, struct headers *headers, struct error *error)
{
	int result = 0;

	for (unsigned i = 0; i < options->push_header_count && !result; i++) {
		const char *text = options->push_headers[i];

		result = *text == '@' ? add_file(headers, text, error)
				      : add_header(headers, text, "", error);
	}
	return result;
}

int profile_push_start(const struct options *options, struct push **ret_push, struct error *error)
{
	struct push_options push = {
		.spool = options->push_spool,
		.service = options->push_service,
		.protocol = options->push_protocol,
		.confine_keeper = confine_keeper,
		.confine = confine_sender,
	};
	struct headers headers = { .push = &push };
	char *authorities = NULL;
	int result = 0;

	*ret_push = NULL;
	if (!options->push)
		return 0;
	if (push_url_parse(options->push, push.protocol, &push.url, error) ||
	    read_authorities(options->push_ca, &push, &authorities, error) ||
	    read_headers(options, &headers, error) || !(*ret_push = push_start(&push, error)))
		result = -1;
	for (unsigned i = 0; i < headers.count; i++) {
		explicit_bzero(headers.texts[i], strlen(headers.texts[i]));
		free(headers.texts[i]);
	}
	free(authorities);
	return result;
}
