/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pprof's file (pprof_file.h) of a profile, of the samples of stack_sample.h.
 */
#include "daemon/report/format/pprof.h"
#include "daemon/report/encode/escape.h"
#include "daemon/report/format/pprof_file.h"
#include "daemon/report/format/stack_sample.h"
#include "daemon/report/format/writer.h"
#include "daemon/report/model/container_text.h"

#include <errno.h>
#include <string.h>

struct pprof {
	const struct profile *profile;
	enum pprof_view view;
	const struct pprof_part *part; /* NULL: all */
	size_t samples;
	struct pprof_file out;
};

static const enum sample_value shown_values[] = {
	[PPROF_ALL] = SAMPLE_VALUE_CPU,
	[PPROF_CPU] = SAMPLE_VALUE_CPU,
	[PPROF_WALL] = SAMPLE_VALUE_WALL,
	[PPROF_REDUNDANCY] = SAMPLE_VALUE_REDUNDANT,
};

/* ---- samples ---- */

static int put_sample(void *context, const struct stack_sample *sample)
{
	struct pprof *pprof = context;
	uint64_t values[SAMPLE_VALUE_COUNT];
	size_t count = 0;

	for (size_t i = 0; i < SAMPLE_VALUE_COUNT; i++)
		if (sample_view_has(pprof->profile, pprof->view, (enum sample_value)i))
			values[count++] = pprof_file_bounded(sample->values[i]);
	pprof_file_begin_sample(&pprof->out, sample->stack, sample->depth, values, count);
	pprof->samples++;
	for (size_t i = 0; i < sample->label_count; i++)
		if (!pprof->part || pprof->part->has_label(sample->labels[i].key))
			pprof_file_label(&pprof->out, sample->labels[i].key,
					 sample->labels[i].text);
	pprof_file_put(&pprof->out, PROFILE_SAMPLE);
	return pprof->out.error;
}

/* ---- what the samples refer to ---- */

/*
 * The first mapping is shown as the program that was profiled: the one that
 * an interpreter's name begins, however samples came.
 */
static void choose_main_mapping(struct pprof *pprof)
{
	for (size_t i = 0; i < pprof->profile->tree.frame_count; i++) {
		const struct profile_frame *frame = &pprof->profile->tree.frames[i];

		if (frame->kind == FRAME_NATIVE &&
		    strncmp(path_last(frame->file), "python", strlen("python")) == 0) {
			(void)pprof_table_location(&pprof->out.table, frame);
			return;
		}
	}
}

/* ---- about the profile ---- */

static void put_value_type(struct pprof *pprof, unsigned field, enum sample_value value)
{
	pprof_file_value_type(&pprof->out, field, sample_value_types[value].type,
			      sample_value_types[value].unit);
}

static void add_comment(struct pprof *pprof, uint64_t *comments, size_t *count, const char *text)
{
	comments[(*count)++] = pprof_file_string(&pprof->out, text);
}

#define COMMENTS_MAX (LOSS_COUNT + 6)

static void put_comments(struct pprof *pprof)
{
	const struct profile *profile = pprof->profile;
	const struct profile_facts *facts = &profile->facts;
	uint64_t comments[COMMENTS_MAX];
	size_t count = 0;
	char text[160];

	snprintf(text, sizeof(text), "pieprofd %.40s, Python %d.%d.%d, %.*s, pid %d",
		 facts->version, facts->target.python.major, facts->target.python.minor,
		 facts->target.python.micro, (int)sizeof(facts->target.comm), facts->target.comm,
		 (int)facts->target.pid);
	add_comment(pprof, comments, &count, text);
	if (facts->target.host[0]) {
		snprintf(text, sizeof(text), "host %s", facts->target.host);
		add_comment(pprof, comments, &count, text);
	}
	if (facts->target.container.id[0]) {
		struct container_text container = container_words(&facts->target.container);
		char words[sizeof(container) + 16];

		snprintf(words, sizeof(words), "container %s", container.text);
		add_comment(pprof, comments, &count, words);
	}
	if (facts->losses.counts[LOSS_STOP_SIGNAL_BLOCKED]) {
		snprintf(text, sizeof(text), "%llu %s",
			 (unsigned long long)facts->losses.counts[LOSS_STOP_SIGNAL_BLOCKED],
			 loss_words(LOSS_STOP_SIGNAL_BLOCKED));
		add_comment(pprof, comments, &count, text);
	}
	for (size_t i = 0; i < LOSS_COUNT; i++) {
		if (!facts->losses.counts[i] || i == LOSS_STOP_SIGNAL_BLOCKED)
			continue;
		snprintf(text, sizeof(text), "not used: %llu %s",
			 (unsigned long long)facts->losses.counts[i], loss_name((enum loss)i));
		add_comment(pprof, comments, &count, text);
	}
	if (facts->kernel_time_refused)
		add_comment(pprof, comments, &count,
			    "time in the kernel is missing: the kernel did not let it be sampled");
	if (profile->tree.nodes_folded) {
		snprintf(text, sizeof(text),
			 "%zu contexts with least time are part of their callers",
			 profile->tree.nodes_folded);
		add_comment(pprof, comments, &count, text);
	}
	if (profile->pairs_omitted) {
		snprintf(text, sizeof(text), "%zu further pairs are left out",
			 profile->pairs_omitted);
		add_comment(pprof, comments, &count, text);
	}
	protobuf_numbers(&pprof->out.message, PROFILE_COMMENT, comments, count);
	pprof_file_flush(&pprof->out);
}

static void pprof_put_facts(struct pprof *pprof)
{
	const struct profile_facts *facts = &pprof->profile->facts;

	for (size_t i = 0; i < SAMPLE_VALUE_COUNT; i++)
		if (sample_view_has(pprof->profile, pprof->view, (enum sample_value)i))
			put_value_type(pprof, PROFILE_SAMPLE_TYPE, (enum sample_value)i);
	put_value_type(pprof, PROFILE_PERIOD_TYPE,
		       pprof->view == PPROF_WALL ? SAMPLE_VALUE_WALL : SAMPLE_VALUE_CPU);
	protobuf_number(&pprof->out.message, PROFILE_PERIOD, pprof_file_bounded(facts->period_ns));
	protobuf_number(&pprof->out.message, PROFILE_TIME_NANOS,
			pprof_file_bounded(facts->started_unix_ns));
	protobuf_number(&pprof->out.message, PROFILE_DURATION_NANOS,
			pprof_file_bounded(facts->duration_ns));
	protobuf_number(
		&pprof->out.message, PROFILE_DEFAULT_SAMPLE_TYPE,
		pprof_file_string(&pprof->out, sample_value_types[shown_values[pprof->view]].type));
	pprof_file_flush(&pprof->out);
	put_comments(pprof);
}

int pprof_write_part(const struct profile *profile, enum pprof_view view,
		     const struct pprof_part *part, FILE *file)
{
	struct pprof pprof = { .profile = profile, .view = view, .part = part };
	int result = pprof_file_init(&pprof.out, file);

	if (result < 0)
		return result;
	choose_main_mapping(&pprof);
	pprof_put_facts(&pprof);
	result = stack_samples_put(profile, view, part ? &part->of : NULL, &pprof.out.table,
				   put_sample, &pprof);
	if (!result && part && !pprof.samples)
		result = -ENODATA;
	if (result < 0)
		pprof_file_fail(&pprof.out, result);
	result = pprof_file_finish(&pprof.out);
	pprof_file_deinit(&pprof.out);
	return result;
}

int pprof_write_view(const struct profile *profile, enum pprof_view view, FILE *file)
{
	return pprof_write_part(profile, view, NULL, file);
}

static int pprof_write(const struct profile *profile, const struct writer_options *options,
		       FILE *file)
{
	(void)options;
	return pprof_write_view(profile, PPROF_ALL, file);
}

const struct writer writer_pprof = { .name = "pprof", .extension = ".pb.gz", .write = pprof_write };
