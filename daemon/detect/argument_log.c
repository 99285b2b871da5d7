/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/detect/argument_log.h"

#include "common/array.h"
#include "common/hash.h"
#include "common/random.h"

#include <errno.h>
#include <stdlib.h>

void argument_log_init(struct argument_log *log)
{
	/* A fixed seed: equal runs give equal profiles. */
	*log = (struct argument_log){ .random = random_seed(1) };
}

void argument_log_deinit(struct argument_log *log)
{
	free(log->sites);
	free(log->samples);
	id_table_deinit(&log->site_ids);
}

static uint64_t hash_site(const struct python_code *code, int offset)
{
	return hash_mix((uint64_t)code->id << 32 | (uint32_t)offset);
}

uint32_t argument_log_find(const struct argument_log *log, const struct python_code *code,
			   int offset)
{
	uint64_t hash = hash_site(code, offset);
	size_t probe = 0;
	uint32_t id;

	while ((id = id_table_next(&log->site_ids, hash, &probe)) != ID_NONE)
		if (log->sites[id].code == code && log->sites[id].offset == offset)
			break;
	return id;
}

struct argument_site *argument_log_site(struct argument_log *log, const struct python_code *code,
					int offset, uint32_t *ret_id)
{
	uint32_t id = argument_log_find(log, code, offset);
	struct argument_site *sites;

	if (id != ID_NONE) {
		*ret_id = id;
		return &log->sites[id];
	}
	if (log->site_count == ARGUMENT_SITES_MAX)
		return NULL;
	sites = array_reserve(log->sites, log->site_count, &log->site_capacity, sizeof(*sites));
	if (!sites)
		return NULL;
	log->sites = sites;
	if (id_table_reserve(&log->site_ids))
		return NULL;
	id = (uint32_t)log->site_count++;
	sites[id] = (struct argument_site){ .code = code, .offset = offset };
	id_table_add(&log->site_ids, hash_site(code, offset), id);
	*ret_id = id;
	return &sites[id];
}

int argument_log_add(struct argument_log *log, const struct argument_sample *sample)
{
	struct argument_sample *samples;
	uint64_t at;

	log->seen++;
	log->seen_ns += sample->time_ns;
	if (log->sample_count < ARGUMENT_SAMPLES_MAX) {
		samples = array_reserve(log->samples, log->sample_count, &log->sample_capacity,
					sizeof(*samples));
		if (!samples)
			return -ENOMEM;
		log->samples = samples;
		samples[log->sample_count++] = *sample;
		return 0;
	}
	/* Algorithm R: each of all samples has the same chance to be among those kept. */
	at = random_below(&log->random, log->seen);
	if (at < log->sample_count)
		log->samples[at] = *sample;
	return 0;
}
