/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the timeline of a trace's page draws, as JSON that trace.js reads. Not stable.
 *
 *   {"length":ns, "judged":[ns, ns],
 *    "rows":[["rank 0", thread, "rank 0: python3 solve.py"], ...], "rows_left_out":0,
 *    "names":[["MPI_Send", class], ...], "paths":["", "solve.py:31 in step", ...],
 *    "calls":{"row":[...], "begin":[...], "ns":[...], "name":[...], "path":[...], "peer":[...],
 *             "tag":[...], "bytes":[...]}, "calls_left_out":0,
 *    "messages":{"from":[...], "to":[...], "sent":[...], "received":[...], "tag":[...],
 *                "bytes":[...], "late":[...]}, "messages_left_out":0,
 *    "bins":[[share of MPI in thousandths of each bin], ...]}
 *
 * Columns, times from the beginning of the trace; thread 0 is a process's first row. A page is
 * bounded: the longest calls and the latest messages are there one by one. What is left out is
 * counted, and calls' time is in the bins of their row, so that the picture is whole though its
 * smallest parts are not to be told apart.
 */
#ifndef PIEPROFD_DAEMON_TRACE_TRACE_HTML_DATA_H
#define PIEPROFD_DAEMON_TRACE_TRACE_HTML_DATA_H

#include "daemon/trace/trace_analysis.h"

#include <stdio.h>

#define TRACE_HTML_ROWS_MAX     200
#define TRACE_HTML_CALLS_MAX    60000
#define TRACE_HTML_MESSAGES_MAX 20000
#define TRACE_HTML_BINS         1000

/* What a slice is drawn as. */
enum trace_html_class {
	TRACE_HTML_SEND,
	TRACE_HTML_RECEIVE,
	TRACE_HTML_COLLECTIVE,
	TRACE_HTML_OTHER,
	TRACE_HTML_SPAN, /* what is traced beside MPI */
	TRACE_HTML_OFF,  /* off the processor */
};

/* 0, -ENOMEM or -EIO. */
__attribute__((warn_unused_result)) int trace_html_data_write(const struct trace_analysis *analysis,
							      FILE *file);

#endif
