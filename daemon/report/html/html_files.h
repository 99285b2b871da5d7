/* SPDX-License-Identifier: Apache-2.0 */
/* The files of daemon/report/html/, as they lie in the program. */
#ifndef PIEPROFD_DAEMON_REPORT_HTML_HTML_FILES_H
#define PIEPROFD_DAEMON_REPORT_HTML_HTML_FILES_H

#include <stddef.h>

struct html_file {
	const char *text; /* size bytes, not terminated */
	size_t size;
};

struct html_file html_page(void);
struct html_file html_style(void);
struct html_file html_script(void);
/* Of a look at a heap, with the same style. */
struct html_file html_heap_page(void);
struct html_file html_heap_script(void);
/* Of a trace, likewise. */
struct html_file html_trace_page(void);
struct html_file html_trace_script(void);

#endif
