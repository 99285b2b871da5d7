/* SPDX-License-Identifier: Apache-2.0 */
/* A page that lies in the program, with its parts filled in: "<title>@TITLE@</title>". */
#ifndef PIEPROFD_DAEMON_REPORT_HTML_HTML_FILL_H
#define PIEPROFD_DAEMON_REPORT_HTML_HTML_FILL_H

#include "daemon/report/html/html_files.h"

#include <stdio.h>

/*
 * What stands at an '@' of the page: writes it and returns the length of its name, or 0 where that
 * is no part. *ret_result: 0 or a negative errno.
 */
typedef size_t html_put_part(FILE *file, const void *context, const char *text, size_t size,
			     int *ret_result);

/* 0, -EIO, or what a part said first. */
__attribute__((warn_unused_result)) int html_fill(FILE *file, struct html_file page,
						  html_put_part *put, const void *context);

/* The name of a part, when it stands there; otherwise 0. */
size_t html_part_at(const char *name, const char *text, size_t size);

void html_put_file(FILE *file, struct html_file part);
/* The policy that allows this style and script, by their hashes, and nothing else. */
void html_put_policy(FILE *file, struct html_file style, struct html_file script);
/* What every page has, where it stands: @POLICY@, @STYLE@ or @SCRIPT@. Its name's length, or 0. */
size_t html_put_frame(FILE *file, struct html_file style, struct html_file script, const char *text,
		      size_t size);

#endif
