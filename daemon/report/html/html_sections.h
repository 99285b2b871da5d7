/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of the HTML report that are there without JavaScript, as HTML.
 * Every string of the target goes through html_text().
 */
#ifndef PIEPROFD_DAEMON_REPORT_HTML_HTML_SECTIONS_H
#define PIEPROFD_DAEMON_REPORT_HTML_HTML_SECTIONS_H

#include "daemon/report/model/profile.h"

#include <stdio.h>

/* As printable.h shows it, with what HTML would obey as entities. 0 or -ENOMEM. */
int html_text(FILE *file, const char *text);

/* The begin of a row with its head, and a cell with a part of a whole. */
int html_line_head(FILE *file, const struct profile_line *line); /* 0 or -ENOMEM, as the others */
int html_thread_head(FILE *file, const struct profile_thread *thread);
void html_share(FILE *file, uint64_t part, uint64_t whole);
/* Of time that was sampled so often. */
void html_sampled(FILE *file, uint64_t part, uint64_t whole, uint64_t samples);
/* The classes of time that are told apart: a column's head each, and a cell. */
void html_class_heads(FILE *file, const struct profile_facts *facts);
void html_classes(FILE *file, const struct profile_facts *facts,
		  const uint64_t time_ns[TIME_CLASS_COUNT], uint64_t total_ns);

/* Of "python3 -X dev -m app.worker --fast", "app.worker"; NULL: that cannot be told. Borrowed. */
const char *html_program(const char *const *command);
/* ", 23 Nov 22:10", by the clock on the wall here; nothing for 0. */
void html_moment(FILE *file, uint64_t unix_ns);

/* Each: 0 or -ENOMEM; the caller looks at ferror(). */
int html_title(FILE *file, const struct profile *profile);
int html_command(FILE *file, const struct profile *profile);
int html_verdict(FILE *file, const struct profile *profile);
int html_lines(FILE *file, const struct profile *profile);   /* those with most time of their own */
int html_threads(FILE *file, const struct profile *profile); /* those with most time */
int html_quality(FILE *file, const struct profile *profile);
/* What of the CPU time the interpreter spent on itself, and the GIL; nothing where there is none.
 */
int html_interpreter(FILE *file, const struct profile *profile);

/* Sections of their own, and links to them; nothing at all where there is nothing to show. */
int html_processes(FILE *file, const struct profile *profile);
int html_memory(FILE *file, const struct profile *profile);
int html_waiting(FILE *file, const struct profile *profile);
int html_waiting_link(FILE *file, const struct profile *profile);

#endif
