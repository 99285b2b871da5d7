/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences on a trace, for its text and its page. */
#ifndef PIEPROFD_DAEMON_TRACE_TRACE_WORDS_H
#define PIEPROFD_DAEMON_TRACE_TRACE_WORDS_H

#include "daemon/trace/trace_analysis.h"

#define TRACE_WORDS_BYTES 1024

/* By what means it was recorded, and what that wrote to the processes. A path is the target's. */
void trace_words_method(const struct trace *trace, char ret_words[static TRACE_WORDS_BYTES]);

/* What parallel efficiency is lost to most. */
void trace_words_reason(const struct trace_analysis *analysis,
			char ret_words[static TRACE_WORDS_BYTES]);

/* Communication as serialisation and transfer, or why these are not known. */
void trace_words_split(const struct trace_analysis *analysis,
		       char ret_words[static TRACE_WORDS_BYTES]);

/* False: nothing is missing. */
bool trace_words_missing(const struct trace_analysis *analysis,
			 char ret_words[static TRACE_WORDS_BYTES]);

#endif
