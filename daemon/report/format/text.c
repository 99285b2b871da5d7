/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report a person reads in a terminal. By default that is one screen
 * (text_brief.c); here is all of it: what ran, the verdict in words and where the
 * time went; then the redundant lines, the pairs, and how far the figures can be
 * trusted.
 */
#include "daemon/report/format/text_layout.h"

#include "daemon/report/merge/profile_merge.h"
#include "daemon/report/model/container_text.h"
#include "daemon/report/model/profile_sources.h"
#include "daemon/report/model/verdict.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define LINES_DEFAULT   8
#define PAIRS_DEFAULT   2
#define THREADS_SHOWN   10
#define PROCESSES_SHOWN 12
/* Of fewer accesses a pair says nothing. */
#define PAIR_ACCESSES_MIN 5

/* "412 of 450  91.6%" */
static void put_counts(const struct text_layout *layout, const struct access_counts *counts)
{
	char words[48];

	if (counts->sampled == 0)
		snprintf(words, sizeof(words), "-");
	else
		snprintf(words, sizeof(words), "%" PRIu64 " of %" PRIu64 "  %s", counts->redundant,
			 counts->sampled, figure_part(counts->redundant, counts->sampled).text);
	text_cell(layout, words, 22);
}

/* The finding, the time, then the other reasons. */
static void put_reasons(const struct text_layout *layout, const struct profile_line *line)
{
	char reasons[1024];
	size_t used;

	used = (size_t)snprintf(
		reasons, sizeof(reasons), "%s%scould save %s to %s%s%s",
		line->finding ? line->finding : "", line->finding ? "; " : "",
		figure_ns(line->avoidable_low_ns).text, figure_ns(line->avoidable_high_ns).text,
		line->category != CATEGORY_UNCLEAR ? "; " : "",
		line->category != CATEGORY_UNCLEAR ? category_name(line->category) : "");
	if (!profile_line_is_supported(line) && used < sizeof(reasons))
		used += (size_t)snprintf(reasons + used, sizeof(reasons) - used,
					 "; too few accesses to tell");
	for (size_t i = 0; i < line->reason_count && used < sizeof(reasons); i++)
		if (!line->finding || strcmp(line->reasons[i], line->finding) != 0)
			used += (size_t)snprintf(reasons + used, sizeof(reasons) - used, "; %s",
						 line->reasons[i]);
	text_wrapped(layout, "             ", reasons);
}

/* Those that could save nothing are shown where there are no others. */
static void put_saving_lines(const struct text_layout *layout,
			     const struct profile_line *const *lines, size_t count)
{
	size_t shown = 0;

	while (shown < count && profile_line_has_evidence(lines[shown]) &&
	       (lines[shown]->avoidable_ns || !lines[0]->avoidable_ns))
		shown++;
	if (!shown)
		return;
	text_heading(layout, "COULD SAVE",
		     "lines that do the same work, or access the same values, again");
	fputs(" could save  redundant loads       redundant stores      per call line\n",
	      layout->file);
	for (size_t i = 0; i < shown; i++) {
		const struct profile_line *line = lines[i];
		char suffix[32];

		fprintf(layout->file, "%11s  ", figure_ns(line->avoidable_ns).text);
		put_counts(layout, &line->accesses[PAIR_LOAD]);
		put_counts(layout, &line->accesses[PAIR_STORE]);
		text_cell(layout, line->call_ns ? figure_ns(line->call_ns).text : "-", 9);
		text_line_suffix(line, suffix, sizeof(suffix));
		text_path_cell(layout, line->file, suffix, layout->columns - 66, false);
		fputc('\n', layout->file);
		text_source(layout, line, 13);
		put_reasons(layout, line);
	}
}

/* Shares of the time that the profile took: how long a thread held the GIL, slept, and of that
 * waited for the GIL. */
static void put_wall_shares(const struct text_layout *layout, const struct profile_facts *facts,
			    const struct profile_thread *thread)
{
	if (facts->gil_known)
		fprintf(layout->file, "%6s ", figure_part(thread->gil_ns, facts->duration_ns).text);
	if (facts->waits)
		fprintf(layout->file, "%6s ",
			figure_part(side_time_waiting_ns(&thread->side), facts->duration_ns).text);
	if (facts->waits && !profile_has_no_gil(facts))
		fprintf(layout->file, "%6s ",
			figure_part(thread->side.waiting_ns[WAIT_GIL], facts->duration_ns).text);
}

/* What it runs in stands first: commands are cut. A name alone is shorter; its id follows below. */
static void put_process_title(const struct text_layout *layout,
			      const struct profile_process *process)
{
	struct container_text container = container_suffix(&process->container);
	char title[768];

	if (process->container.name[0])
		snprintf(container.text, sizeof(container.text), " in %s", process->container.name);
	snprintf(title, sizeof(title), "%s%s%.*s", container.text[0] ? container.text + 1 : "",
		 container.text[0] ? ": " : "", 480,
		 process->pid ? process_title(process->command) : "all others");
	text_last_cell(layout, title, layout->columns - 56);
}

static bool names_container_before(const struct profile *profile, size_t process)
{
	for (size_t i = 0; i < process; i++)
		if (!strcmp(profile->processes[i].container.id,
			    profile->processes[process].container.id))
			return true;
	return false;
}

/* Each container that the table names. */
static void put_process_containers(const struct text_layout *layout, const struct profile *profile,
				   size_t shown)
{
	for (size_t i = 0; i < shown; i++) {
		const struct profile_container *container = &profile->processes[i].container;

		if (!container->name[0] || names_container_before(profile, i))
			continue;
		fputs("  in container ", layout->file);
		text_last_cell(layout, container_words(container).text, layout->columns - 15);
	}
}

static void put_processes(const struct text_layout *layout, const struct profile *profile)
{
	uint64_t total_ns = time_sum(profile->time_ns), samples = profile->facts.samples;
	size_t shown =
		profile->process_count < PROCESSES_SHOWN ? profile->process_count : PROCESSES_SHOWN;

	if (profile->process_count < 2)
		return;
	text_heading(layout, "PROCESSES", "%zu profiled", profile->process_count);
	fprintf(layout->file, "   time %s     pid  parent end       command\n",
		text_class_heads(&profile->facts));
	for (size_t i = 0; i < shown; i++) {
		const struct profile_process *process = &profile->processes[i];

		fprintf(layout->file, "%7s ",
			figure_sampled(time_sum(process->time_ns), total_ns, samples).text);
		text_classes(layout, &profile->facts, process->time_ns, total_ns);
		fprintf(layout->file, " %7d %7d %-9s ", (int)process->pid, (int)process->parent,
			figure_end(process).text);
		put_process_title(layout, process);
	}
	put_process_containers(layout, profile, shown);
	if (shown < profile->process_count)
		fprintf(layout->file, "  (%zu more process%s)\n", profile->process_count - shown,
			profile->process_count - shown == 1 ? "" : "es");
}

/* Nothing to tell apart where there is but one. */
static void text_put_threads(const struct text_layout *layout, const struct profile *profile)
{
	const struct profile_facts *facts = &profile->facts;
	uint64_t total_ns = time_sum(profile->time_ns);
	size_t shown = facts->thread_count < THREADS_SHOWN ? facts->thread_count : THREADS_SHOWN;
	bool no_gil = profile_has_no_gil(facts);
	unsigned columns =
		40 + (facts->gil_known ? 7 : 0) + (facts->waits ? 7 : 0) * (no_gil ? 1 : 2);

	if (facts->thread_count < 2)
		return;
	text_heading(layout, "THREADS",
		     !facts->waits ? "%zu that used the CPU"
		     : no_gil      ? "%zu; asleep is a share of the time watched"
				   : "%zu; GIL, asleep and for GIL are shares of the time watched",
		     facts->thread_count);
	fprintf(layout->file, "   time %s%s%s thread\n", text_class_heads(facts),
		facts->gil_known ? "   GIL " : "",
		!facts->waits ? ""
		: no_gil      ? "asleep "
			      : "asleep forGIL ");
	for (size_t i = 0; i < shown; i++) {
		const struct profile_thread *thread = &facts->threads[i];

		fprintf(layout->file, "%7s ",
			figure_sampled(time_sum(thread->time_ns), total_ns, facts->samples).text);
		text_classes(layout, facts, thread->time_ns, total_ns);
		put_wall_shares(layout, facts, thread);
		fprintf(layout->file, " %7d ", (int)thread->tid);
		text_last_cell(layout, thread->name, layout->columns - columns);
		if (profile_thread_mark(thread))
			fprintf(layout->file, "%9s%s\n", "", profile_thread_mark(thread));
	}
	if (shown < facts->thread_count)
		fprintf(layout->file, "  (%zu more thread%s)\n", facts->thread_count - shown,
			figure_plural(facts->thread_count - shown));
}

/* Those with a few accesses alone are chance. */
static void text_put_pairs(const struct text_layout *layout, const struct profile *profile,
			   size_t maximum)
{
	size_t all = profile->pairs_omitted, hidden = 0, shown = 0;

	for (size_t i = 0; i < profile->pair_count; i++)
		all += profile->pairs[i].sampled >= PAIR_ACCESSES_MIN;
	for (size_t i = 0; i < profile->pair_count; i++)
		if (profile->pairs[i].sampled < PAIR_ACCESSES_MIN)
			hidden++;
		else if (shown < maximum)
			text_pair(layout, &profile->pairs[i], ++shown, all);
	if (shown < all)
		fprintf(layout->file, "  (%zu more pair%s; --pairs N shows more)\n", all - shown,
			figure_plural(all - shown));
	if (hidden)
		fprintf(layout->file, "%s  (%zu pair%s of fewer than %d accesses %s not shown)\n",
			all ? "" : "\n", hidden, figure_plural(hidden), PAIR_ACCESSES_MIN,
			hidden == 1 ? "is" : "are");
}

/* Whether the lines shown are what ran; a sentence is freed here. */
static void text_put_source(const struct text_layout *layout, char *sentence)
{
	if (sentence)
		text_wrapped(layout, "  source     ", sentence);
	free(sentence);
}

static void put_quality(const struct text_layout *layout, const struct profile *profile)
{
	static const char *const labels[PAIR_KIND_COUNT] = {
		[PAIR_LOAD] = "  loads      ", [PAIR_STORE] = "  stores     "
	};
	const struct profile_facts *facts = &profile->facts;
	char words[256];
	bool lost = false;

	text_heading(layout, "DATA QUALITY", "how far to trust the above");
	snprintf(words, sizeof(words),
		 "%" PRIu64 " in %s, sampler: %s, one every %s of %s a thread", facts->samples,
		 figure_ns(facts->duration_ns).text, facts->sampler,
		 figure_ns(facts->period_ns).text, facts->sampler_limits ? "running" : "CPU time");
	text_wrapped(layout, "  samples    ", words);
	if (facts->sampler_limits)
		text_wrapped(layout, "  limits     ", facts->sampler_limits);
	if (facts->target.python.free_threaded)
		text_wrapped(layout, "  limits     ", PYTHON_FREE_THREADED_LIMITS);
	for (size_t i = 0; i < PAIR_KIND_COUNT; i++) {
		const struct access_counts *counts = &profile->accesses[i];

		if (counts->sampled == 0)
			continue;
		snprintf(words, sizeof(words),
			 "%" PRIu64 " watched: %" PRIu64 " accessed again, %" PRIu64
			 " with the same value, %" PRIu64 " within 1%%",
			 counts->sampled, counts->reaccessed, counts->redundant,
			 counts->approximate);
		text_wrapped(layout, labels[i], words);
	}
	if (facts->stops.count)
		snprintf(words, sizeof(words),
			 "p50 %s, p99 %s, max %s over %" PRIu64 " stops of one thread each",
			 figure_ns(facts->stops.p50_ns).text, figure_ns(facts->stops.p99_ns).text,
			 figure_ns(facts->stops.max_ns).text, facts->stops.count);
	else
		snprintf(words, sizeof(words), "none: no thread was stopped");
	text_wrapped(layout, "  stop time  ", words);
	if (facts->sample_stops.count && facts->breakpoint_stops.count) {
		snprintf(words, sizeof(words),
			 "to sample p50 %s, p99 %s over %" PRIu64
			 "; at breakpoints p50 %s, p99 %s over %" PRIu64,
			 figure_ns(facts->sample_stops.p50_ns).text,
			 figure_ns(facts->sample_stops.p99_ns).text, facts->sample_stops.count,
			 figure_ns(facts->breakpoint_stops.p50_ns).text,
			 figure_ns(facts->breakpoint_stops.p99_ns).text,
			 facts->breakpoint_stops.count);
		text_wrapped(layout, "             ", words);
	}
	snprintf(words, sizeof(words), "%s of the target's CPU time, limit %s",
		 figure_share(facts->overhead).text, figure_share(facts->overhead_limit).text);
	text_wrapped(layout, "  overhead   ", words);
	text_memory_quality(layout, profile);
	text_allocations_quality(layout, profile);
	if (facts->kernel_time_refused)
		text_wrapped(layout, "  system     ",
			     "not measured: it takes root, CAP_PERFMON, or sysctl "
			     "kernel.perf_event_paranoid=1; shares are of the time in user code");
	else if (!text_kernel_is_known(profile))
		text_wrapped(layout, "  system     ",
			     "where in the kernel is not known: that takes the kernel's samples "
			     "(root, or CAP_BPF and CAP_PERFMON; neither --engine ptrace nor "
			     "--no-kernel-frames)");
	text_put_source(layout, profile_sources_newer(profile));
	text_put_source(layout, profile_sources_differing(profile));
	for (size_t i = 0; i < LOSS_COUNT; i++) {
		if (facts->losses.counts[i] == 0)
			continue;
		if (!lost)
			fputs("  not used:\n", layout->file);
		lost = true;
		snprintf(words, sizeof(words), "  %9" PRIu64 "  ", facts->losses.counts[i]);
		text_wrapped(layout, words, loss_words((enum loss)i));
	}
	if (!lost)
		fputs("  nothing was lost\n", layout->file);
}

static void put_time(const struct text_layout *layout, const struct profile *profile,
		     const struct profile_line *const *lines, size_t count)
{
	size_t shown = text_time(layout, profile, lines, count, 1);

	if (shown && shown == count && profile->line_count > count)
		fprintf(layout->file, "  (%zu more line%s; --lines N shows more)\n",
			profile->line_count - count, figure_plural(profile->line_count - count));
	if (time_sum(profile->time_ns))
		text_interpreter(layout, profile);
}

static int write_details(const struct text_layout *layout, const struct profile *profile,
			 const struct writer_options *options)
{
	size_t maximum = options->lines_max ? options->lines_max : LINES_DEFAULT;
	size_t count = profile->line_count < maximum ? profile->line_count : maximum;
	const struct profile_line **by_self, **by_waste;
	struct verdict verdict;
	int result = verdict_find(profile, &verdict);

	if (result)
		return result;
	by_self = calloc(profile->line_count + 1, sizeof(*by_self));
	by_waste = calloc(profile->line_count + 1, sizeof(*by_waste));
	if (!by_self || !by_waste) {
		free(by_self);
		free(by_waste);
		return -ENOMEM;
	}
	for (size_t i = 0; i < profile->line_count; i++)
		by_self[i] = by_waste[i] = &profile->lines[i];
	qsort(by_self, profile->line_count, sizeof(*by_self), profile_line_by_self);
	qsort(by_waste, profile->line_count, sizeof(*by_waste), profile_line_by_avoidable);

	text_target(layout, profile, false);
	if (!options->verdict_last)
		text_verdict(layout, &verdict);
	put_time(layout, profile, by_self, count);
	put_processes(layout, profile);
	text_put_threads(layout, profile);
	result = text_kernel(layout, profile, maximum) || text_waiting(layout, profile, maximum) ||
		 text_memory(layout, profile, maximum) || text_copies(layout, profile, maximum) ||
		 text_allocations(layout, profile, maximum);
	put_saving_lines(layout, by_waste, count);
	text_put_pairs(layout, profile, options->pairs_max ? options->pairs_max : PAIRS_DEFAULT);
	put_quality(layout, profile);
	if (options->notes) {
		fputc('\n', layout->file);
		text_wrapped(layout, "", options->notes);
	}
	if (options->verdict_last)
		text_verdict(layout, &verdict);
	free(by_self);
	free(by_waste);
	return result ? -ENOMEM : 0;
}

static int text_write(const struct profile *profile, const struct writer_options *options,
		      FILE *file)
{
	const struct text_layout layout = {
		.file = file,
		.columns = text_columns(options->columns),
		.colour = options->colour,
	};
	int result = options->brief ? text_brief(&layout, profile, options)
				    : write_details(&layout, profile, options);

	if (result)
		return result;
	return ferror(file) ? -EIO : 0;
}

const struct writer writer_text = { .name = "text", .extension = ".txt", .write = text_write };
