/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the sections of the text report are set with: cells of a fixed width,
 * wrapped sentences, figures with units. Strings may be the target's: they
 * are escaped here and nowhere else.
 */
#ifndef PIEPROFD_DAEMON_REPORT_FORMAT_TEXT_LAYOUT_H
#define PIEPROFD_DAEMON_REPORT_FORMAT_TEXT_LAYOUT_H

#include "daemon/report/encode/figure.h"
#include "daemon/report/format/writer.h"

#define TEXT_COLUMNS_MIN     80
#define TEXT_COLUMNS_MAX     240
#define TEXT_COLUMNS_DEFAULT 100

struct text_layout {
	FILE *file;
	unsigned columns; /* within the limits above */
	bool colour;
};

/* Within the limits; 0: the default. */
unsigned text_columns(unsigned columns);

struct figure figure_end(const struct profile_process *process); /* "exit 0", "SIGKILL", "-" */

/* A label in capitals, before the rest of its line. */
void text_label(const struct text_layout *layout, const char *label);

/* A heading in capitals with a sentence behind it. */
void text_heading(const struct text_layout *layout, const char *heading, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* text in exactly width columns: cut at its end or padded. The last cell of a row is not padded. */
void text_cell(const struct text_layout *layout, const char *text, unsigned width);
void text_last_cell(const struct text_layout *layout, const char *text, unsigned width);
/* A line of its own, cut at the width of the terminal. */
void text_line(const struct text_layout *layout, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The line's source, if it has any, behind indent columns; below it carets under the expression of
 * its finding. */
void text_source(const struct text_layout *layout, const struct profile_line *line,
		 unsigned indent);

/*
 * "PATHsuffix" in at most width columns, padded when pad. A path that is too
 * long loses folders from its start; suffix is ours and stays whole.
 */
void text_path_cell(const struct text_layout *layout, const char *path, const char *suffix,
		    unsigned width, bool pad);

/* label (ours), then sentences wrapped between words; further lines begin under the first word. */
void text_wrapped(const struct text_layout *layout, const char *label, const char *text);

/* A line of the character, over all columns, with words in the middle (may be NULL). */
void text_rule(const struct text_layout *layout, char character, const char *words);

/* The parts of the text report, each in a file of its name. */

/* What was profiled, in three lines, or brief in two; one more in a container. */
/* What was profiled. brief: two lines; what else there is to say of it comes last. */
void text_target(const struct text_layout *layout, const struct profile *profile, bool brief);
void text_target_end(const struct text_layout *layout, const struct profile *profile);

struct verdict;
void text_verdict(const struct text_layout *layout, const struct verdict *verdict);

/* ":33"; "" of a native function, which has no line. */
void text_line_suffix(const struct profile_line *line, char *suffix, size_t size);

/* CPU time, and of these lines those with at least so much self time, which is not 0, up to the
 * first with less. Returns how many. */
size_t text_time(const struct text_layout *layout, const struct profile *profile,
		 const struct profile_line *const *lines, size_t count, uint64_t least_ns);
/* What of it the interpreter spent on itself, where that is worth a line. */
void text_interpreter(const struct text_layout *layout, const struct profile *profile);
/* Shares of a time, class by class, as wide as their heads. */
void text_classes(const struct text_layout *layout, const struct profile_facts *facts,
		  const uint64_t time_ns[TIME_CLASS_COUNT], uint64_t total_ns);
const char *text_class_heads(const struct profile_facts *facts);

/* All of it on one screen of TEXT_BRIEF_LINES, unless more lines are asked for. 0 or -ENOMEM. */
#define TEXT_BRIEF_LINES 20
__attribute__((warn_unused_result)) int text_brief(const struct text_layout *layout,
						   const struct profile *profile,
						   const struct writer_options *options);

/* The lines that waited most, where that was asked for.
 * 0, or -1: no memory. */
__attribute__((warn_unused_result)) int text_waiting(const struct text_layout *layout,
						     const struct profile *profile, size_t maximum);

/* Of resident memory, where that was asked for: a line, or the lines that made it grow.
 * 0, or -1: no memory. */
__attribute__((warn_unused_result)) int text_memory_brief(const struct text_layout *layout,
							  const struct profile *profile);
__attribute__((warn_unused_result)) int text_memory(const struct text_layout *layout,
						    const struct profile *profile, size_t maximum);
/* Of what was copied, likewise; the former where it is a good part of the time. */
__attribute__((warn_unused_result)) int text_copies_brief(const struct text_layout *layout,
							  const struct profile *profile);
__attribute__((warn_unused_result)) int text_copies(const struct text_layout *layout,
						    const struct profile *profile, size_t maximum);
/* How far to trust it. */
__attribute__((warn_unused_result)) int text_allocations_brief(const struct text_layout *layout,
							       const struct profile *profile);
__attribute__((warn_unused_result)) int text_allocations(const struct text_layout *layout,
							 const struct profile *profile,
							 size_t maximum);
void text_allocations_quality(const struct text_layout *layout, const struct profile *profile);
void text_memory_quality(const struct text_layout *layout, const struct profile *profile);

/* Where in the kernel time went, if that is known. 0, or -1: no memory. */
__attribute__((warn_unused_result)) int text_kernel(const struct text_layout *layout,
						    const struct profile *profile, size_t maximum);
/* Or there is no such time. */
bool text_kernel_is_known(const struct profile *profile);

/* One pair as figure 7 of the PieProf paper has it. */
void text_pair(const struct text_layout *layout, const struct profile_pair *pair, size_t number,
	       size_t count);

#endif
