/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/top/history.h"

#include "common/hash.h"
#include "daemon/cct/id_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint64_t history_mix(uint64_t hash, const char *string)
{
	return hash_mix(hash_add_string(hash, string));
}

/* Native functions have no line: their name tells them apart. */
uint64_t top_line_key(const struct profile_line *line)
{
	uint64_t hash = history_mix(TOP_LINES + 1, line->file);

	return line->line ? hash_mix(hash ^ (uint32_t)line->line)
			  : history_mix(hash, line->function);
}

static uint64_t path_key(uint64_t hash, const struct profile_frame *frames, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct profile_frame *frame = &frames[i];

		hash = history_mix(hash ^ frame->kind, frame->function);
		hash = history_mix(hash, frame->file);
		hash = hash_mix(hash ^
				(frame->kind == FRAME_PYTHON ? (uint64_t)(uint32_t)frame->line
							     : frame->function_address));
	}
	return hash_mix(hash);
}

static void history_count_accesses(struct top_figures *figures,
				   const struct access_counts accesses[PAIR_KIND_COUNT])
{
	for (size_t i = 0; i < PAIR_KIND_COUNT; i++) {
		figures->watched[i] = accesses[i].sampled;
		figures->redundant[i] = accesses[i].redundant;
	}
}

static struct top_entry line_entry(const struct profile_line *line)
{
	struct top_entry entry = {
		.key = top_line_key(line),
		.figures = { .total_ns = line->total_ns,
			     .charged_ns = line->charged_ns,
			     .fresh_bytes = side_time_fresh_bytes(&line->side) },
	};

	memcpy(entry.figures.self_ns, line->self_ns, sizeof(entry.figures.self_ns));
	history_count_accesses(&entry.figures, line->accesses);
	return entry;
}

static struct top_entry function_entry(const struct profile_function *function)
{
	struct top_entry entry = {
		.key = history_mix(history_mix(TOP_FUNCTIONS + 1, function->file),
				   function->function),
		.figures = { .total_ns = function->total_ns,
			     .charged_ns = function->total_ns,
			     .fresh_bytes = side_time_fresh_bytes(&function->side) },
	};

	memcpy(entry.figures.self_ns, function->self_ns, sizeof(entry.figures.self_ns));
	history_count_accesses(&entry.figures, function->accesses);
	return entry;
}

static struct top_entry thread_entry(const struct profile_thread *thread)
{
	struct top_entry entry = {
		.key = hash_mix((uint64_t)TOP_THREADS << 32 | (uint32_t)thread->tid),
	};

	memcpy(entry.figures.self_ns, thread->time_ns, sizeof(entry.figures.self_ns));
	for (size_t i = 0; i < TIME_CLASS_COUNT; i++)
		entry.figures.total_ns += thread->time_ns[i];
	return entry;
}

static struct top_entry pair_entry(const struct profile_pair *pair)
{
	struct top_entry entry = {
		.key = path_key(
			path_key((uint64_t)TOP_PAIRS + pair->kind, pair->first, pair->first_count),
			pair->second, pair->second_count),
	};

	entry.figures.watched[pair->kind] = pair->sampled;
	entry.figures.redundant[pair->kind] = pair->redundant;
	return entry;
}

size_t top_view_count(const struct profile *profile, enum top_view view)
{
	size_t count = 0;

	switch (view) {
	case TOP_LINES:
		count = profile->line_count;
		break;
	case TOP_FUNCTIONS:
		count = profile->function_count;
		break;
	case TOP_THREADS:
		count = profile->facts.thread_count;
		break;
	case TOP_PAIRS:
		count = profile->pair_count;
		break;
	case TOP_VIEW_COUNT:
		break;
	}
	return count < TOP_ENTRIES_MAX ? count : TOP_ENTRIES_MAX;
}

struct top_entry top_view_entry(const struct profile *profile, enum top_view view, size_t index)
{
	switch (view) {
	case TOP_LINES:
		return line_entry(&profile->lines[index]);
	case TOP_FUNCTIONS:
		return function_entry(&profile->functions[index]);
	case TOP_THREADS:
		return thread_entry(&profile->facts.threads[index]);
	case TOP_PAIRS:
		return pair_entry(&profile->pairs[index]);
	case TOP_VIEW_COUNT:
		break;
	}
	return (struct top_entry){ 0 };
}

struct top_totals top_totals_of(const struct profile *profile)
{
	struct top_totals totals = {
		.duration_ns = profile->facts.duration_ns,
		.cpu_ns = profile->facts.cpu_ns,
		.samples = profile->facts.samples,
		.gil_ns = profile->gil_ns,
	};

	memcpy(totals.time_ns, profile->time_ns, sizeof(totals.time_ns));
	return totals;
}

static int history_compare(const void *left, const void *right)
{
	const struct top_entry *a = left, *b = right;

	return a->key < b->key ? -1 : a->key > b->key;
}

int top_past_take(struct top_past *past, const struct profile *profile)
{
	for (enum top_view view = 0; view < TOP_VIEW_COUNT; view++) {
		size_t count = top_view_count(profile, view);
		struct top_entry *entries =
			reallocarray(past->entries[view], count + 1, sizeof(*entries));

		if (!entries) {
			top_past_deinit(past);
			return -ENOMEM;
		}
		past->entries[view] = entries;
		past->counts[view] = count;
		for (size_t i = 0; i < count; i++)
			entries[i] = top_view_entry(profile, view, i);
		qsort(entries, count, sizeof(*entries), history_compare);
	}
	past->totals = top_totals_of(profile);
	return 0;
}

void top_past_deinit(struct top_past *past)
{
	for (enum top_view view = 0; view < TOP_VIEW_COUNT; view++)
		free(past->entries[view]);
	*past = (struct top_past){ 0 };
}

const struct top_figures *top_past_find(const struct top_past *past, enum top_view view,
					uint64_t key)
{
	struct top_entry wanted = { .key = key };
	const struct top_entry *found;

	if (!past->counts[view])
		return NULL;
	found = bsearch(&wanted, past->entries[view], past->counts[view], sizeof(wanted),
			history_compare);
	return found ? &found->figures : NULL;
}

/* Two threads may have had one id, and a tree that is full folds: what is gone is not negative. */
static uint64_t since(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static void times_since(uint64_t times[TIME_CLASS_COUNT], const uint64_t before[TIME_CLASS_COUNT])
{
	for (size_t i = 0; i < TIME_CLASS_COUNT; i++)
		times[i] = since(times[i], before[i]);
}

struct top_figures top_figures_since(const struct top_figures *a, const struct top_figures *b)
{
	struct top_figures figures = *a;

	if (!b)
		return figures;
	times_since(figures.self_ns, b->self_ns);
	figures.total_ns = since(a->total_ns, b->total_ns);
	figures.charged_ns = since(a->charged_ns, b->charged_ns);
	figures.fresh_bytes = since(a->fresh_bytes, b->fresh_bytes);
	for (size_t i = 0; i < PAIR_KIND_COUNT; i++) {
		figures.watched[i] = since(a->watched[i], b->watched[i]);
		figures.redundant[i] = since(a->redundant[i], b->redundant[i]);
	}
	return figures;
}

struct top_totals top_totals_since(const struct top_totals *a, const struct top_totals *b)
{
	struct top_totals totals = *a;

	if (!b)
		return totals;
	totals.duration_ns = since(a->duration_ns, b->duration_ns);
	totals.cpu_ns = since(a->cpu_ns, b->cpu_ns);
	totals.samples = since(a->samples, b->samples);
	totals.gil_ns = since(a->gil_ns, b->gil_ns);
	times_since(totals.time_ns, b->time_ns);
	return totals;
}

void top_history_deinit(struct top_history *history)
{
	for (size_t i = 0; i < TOP_HISTORY_MAX; i++)
		top_past_deinit(&history->pasts[i]);
	top_history_clear(history);
}

void top_history_clear(struct top_history *history)
{
	history->next = history->count = 0;
}

int top_history_add(struct top_history *history, const struct profile *profile)
{
	int error = top_past_take(&history->pasts[history->next], profile);

	if (error) {
		top_history_deinit(history);
		return error;
	}
	history->next = (history->next + 1) % TOP_HISTORY_MAX;
	if (history->count < TOP_HISTORY_MAX)
		history->count++;
	return 0;
}

const struct top_past *top_history_at(const struct top_history *history, uint64_t duration_ns)
{
	for (size_t i = 1; i <= history->count; i++) {
		const struct top_past *past =
			&history->pasts[(history->next + TOP_HISTORY_MAX - i) % TOP_HISTORY_MAX];

		if (past->totals.duration_ns <= duration_ns)
			return past;
	}
	return NULL;
}
