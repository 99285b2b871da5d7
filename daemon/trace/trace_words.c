/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/trace/trace_words.h"

#include "common/clock.h"
#include "daemon/report/encode/figure.h"

#include <inttypes.h>
#include <stdio.h>

/* Efficiencies from here on are not worth a sentence. */
#define GOOD 0.95

void trace_words_method(const struct trace *trace, char ret_words[static TRACE_WORDS_BYTES])
{
	const struct mpi_library *library = trace_library(trace);
	const struct span_list *spans = trace->spans;
	bool beside = spans && span_list_has_probes(spans);
	bool switches = spans && span_list_find(spans, SPAN_SWITCH) >= 0;
	bool faults = spans && span_list_find(spans, SPAN_FAULT) >= 0;
	bool counters = spans && spans->counters;

	if (library)
		snprintf(ret_words, TRACE_WORDS_BYTES,
			 "Traced by breakpoints of the kernel (uprobes) in %s, %s, %sof these "
			 "processes: they were written into its code while this ran, and are gone.",
			 library->path, mpi_library_kind_name(library),
			 beside ? "and in what else was asked for, " : "");
	else if ((switches || faults) && !beside)
		snprintf(ret_words, TRACE_WORDS_BYTES,
			 "Traced by a program in the kernel at %s: nothing was written to these "
			 "processes.",
			 !faults    ? "switches of threads"
			 : switches ? "switches of threads and page faults"
				    : "page faults");
	else if (counters && !beside)
		snprintf(ret_words, TRACE_WORDS_BYTES,
			 "Traced by counters of the kernel: nothing was written to these "
			 "processes.");
	else
		snprintf(ret_words, TRACE_WORDS_BYTES,
			 "Traced by breakpoints of the kernel (uprobes) in the libraries of these "
			 "processes: they were written into their code while this ran, and are "
			 "gone.");
}

/* Why the busiest rank does not compute all the time. */
static void reason_of_communication(const struct trace_analysis *analysis, char *ret_words)
{
	struct figure share = figure_share(analysis->communication_efficiency);

	if (analysis->ideal.state != IDEAL_KNOWN)
		snprintf(ret_words, TRACE_WORDS_BYTES,
			 "Mostly for communication: even the busiest rank computes for only %s of "
			 "the time.",
			 share.text);
	else if (analysis->serialisation_efficiency < analysis->transfer_efficiency)
		snprintf(ret_words, TRACE_WORDS_BYTES,
			 "Mostly as ranks wait in turn: even the busiest one computes for only %s "
			 "of the time, and with messages that take no time it would for %s.",
			 share.text, figure_share(analysis->serialisation_efficiency).text);
	else
		snprintf(ret_words, TRACE_WORDS_BYTES,
			 "Mostly for the time that messages and MPI itself take: even the busiest "
			 "rank computes for only %s of the time, and without that it would for %s.",
			 share.text, figure_share(analysis->serialisation_efficiency).text);
}

void trace_words_reason(const struct trace_analysis *analysis,
			char ret_words[static TRACE_WORDS_BYTES])
{
	double balance = analysis->load_balance;

	if (analysis->parallel_efficiency >= GOOD)
		snprintf(ret_words, TRACE_WORDS_BYTES,
			 "The ranks compute for nearly all of the time.");
	else if (balance < analysis->communication_efficiency)
		snprintf(ret_words, TRACE_WORDS_BYTES,
			 "Mostly for uneven work: the average rank computes for %s of what the "
			 "busiest one does.",
			 figure_share(balance).text);
	else
		reason_of_communication(analysis, ret_words);
}

void trace_words_split(const struct trace_analysis *analysis,
		       char ret_words[static TRACE_WORDS_BYTES])
{
	const struct ideal_run *ideal = &analysis->ideal;
	char reason[200];

	if (ideal->state == IDEAL_KNOWN) {
		snprintf(ret_words, TRACE_WORDS_BYTES,
			 "Communication %s = serialisation %s x transfer %s: if messages took no "
			 "time, it would have lasted %s, not %s.",
			 figure_share(analysis->communication_efficiency).text,
			 figure_share(analysis->serialisation_efficiency).text,
			 figure_share(analysis->transfer_efficiency).text,
			 figure_ns(ideal->ns).text,
			 figure_ns(analysis->end_ns - analysis->begin_ns).text);
		return;
	}
	ideal_run_reason(ideal, reason, sizeof(reason));
	snprintf(ret_words, TRACE_WORDS_BYTES, "Serialisation and transfer are not known, as %s.",
		 reason);
}

bool trace_words_missing(const struct trace_analysis *analysis,
			 char ret_words[static TRACE_WORDS_BYTES])
{
	if (!analysis->unrecorded_calls && !analysis->left_out_events &&
	    !analysis->left_out_requests)
		return false;
	snprintf(ret_words, TRACE_WORDS_BYTES,
		 "%" PRIu64 " calls over the limit of %d a second and process (their time is "
		 "counted), %" PRIu64 " events and %" PRIu64
		 " requests beyond what is kept: messages may be matched wrongly after that.",
		 analysis->unrecorded_calls,
		 (int)(analysis->trace->processes[0]->counts.limit *
		       (NS_PER_SECOND / MPI_WINDOW_NS)),
		 analysis->left_out_events, analysis->left_out_requests);
	return true;
}
