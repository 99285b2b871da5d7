/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A block of data in a page: a script element that is not run. What is small
 * lies in it as it is, for people and tools; more than that as gzip in base64,
 * a quarter of the size, which the page's script inflates.
 */
#ifndef PIEPROFD_DAEMON_REPORT_HTML_HTML_DATA_H
#define PIEPROFD_DAEMON_REPORT_HTML_HTML_DATA_H

#include <stdio.h>

/* As JSON, more is gzipped. */
#define HTML_DATA_PLAIN_MAX 65536

/*
 * The whole element with this id around the JSON that put() writes, ASCII. No
 * byte in it could end the element: <, > and & are in strings alone, where they
 * are \u003c and the like. 0, -ENOMEM or -EIO.
 */
__attribute__((warn_unused_result)) int html_data(FILE *file, const char *id, const void *context,
						  int (*put)(FILE *file, const void *context));

#endif
