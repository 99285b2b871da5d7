/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/diff/spread.h"

#include "common/array.h"
#include "common/hash.h"
#include "daemon/report/encode/string_table.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* In ms, of recordings. */
struct sums {
	double x, squares, by_time, by_seconds;
};

struct entry {
	uint32_t file, function, source; /* of the strings; source ID_NONE: unreadable */
	int line;                        /* of those alone */
	size_t round;                    /* the recording that now_* are of */
	double now_self, now_total;
	struct sums self, total;
};

struct spread {
	struct string_table strings;
	struct entry *entries;
	size_t count, capacity;
	struct id_table ids;
	size_t recordings;
	/* Of the recording in hand, and of all. */
	double time, seconds;
	double time_sum, time_squares, seconds_sum, seconds_squares;
};

struct spread *spread_create(void)
{
	return calloc(1, sizeof(struct spread));
}

void spread_destroy(struct spread *spread)
{
	if (!spread)
		return;
	string_table_deinit(&spread->strings);
	free(spread->entries);
	id_table_deinit(&spread->ids);
	free(spread);
}

static uint64_t key_hash(const struct spread_key *key)
{
	uint64_t hash = hash_add_string(HASH_BASIS, key->file);

	hash = hash_combine(hash, hash_add_string(HASH_BASIS, key->function));
	hash = key->source ? hash_combine(hash, hash_add_string(HASH_BASIS, key->source))
			   : hash_combine(hash, (uint64_t)key->line);
	return hash_mix(hash);
}

static const char *string_of(const struct spread *spread, uint32_t id)
{
	return spread->strings.strings[id];
}

static bool is_of(const struct spread *spread, const struct entry *entry,
		  const struct spread_key *key)
{
	if (strcmp(string_of(spread, entry->file), key->file) != 0 ||
	    strcmp(string_of(spread, entry->function), key->function) != 0)
		return false;
	if (entry->source == ID_NONE || !key->source)
		return entry->source == ID_NONE && !key->source && entry->line == key->line;
	return !strcmp(string_of(spread, entry->source), key->source);
}

static const struct entry *spread_find(const struct spread *spread, const struct spread_key *key)
{
	uint64_t hash = key_hash(key);
	size_t probe = 0;
	uint32_t id;

	while ((id = id_table_next(&spread->ids, hash, &probe)) != ID_NONE)
		if (is_of(spread, &spread->entries[id], key))
			return &spread->entries[id];
	return NULL;
}

/* *ret_entry NULL: there is no room for it. */
static int spread_entry(struct spread *spread, const struct spread_key *key,
			struct entry **ret_entry)
{
	const struct entry *found = spread_find(spread, key);
	struct entry entry = { .source = ID_NONE, .line = key->source ? 0 : key->line };

	if (found || spread->count >= SPREAD_ENTRIES_MAX) {
		*ret_entry = found ? &spread->entries[found - spread->entries] : NULL;
		return 0;
	}
	if (string_table_find(&spread->strings, key->file, &entry.file) ||
	    string_table_find(&spread->strings, key->function, &entry.function) ||
	    (key->source && string_table_find(&spread->strings, key->source, &entry.source)) ||
	    !ARRAY_ROOM(spread->entries, spread->count, spread->capacity) ||
	    id_table_reserve(&spread->ids))
		return -ENOMEM;
	id_table_add(&spread->ids, key_hash(key), (uint32_t)spread->count);
	spread->entries[spread->count] = entry;
	*ret_entry = &spread->entries[spread->count++];
	return 0;
}

/* x grew by more within one recording: its square is that of the sum. */
static void sums_grow(struct sums *sums, double before, double more, const struct spread *spread)
{
	sums->x += more;
	sums->squares += (before + more) * (before + more) - before * before;
	sums->by_time += more * spread->time;
	sums->by_seconds += more * spread->seconds;
}

static int spread_put(struct spread *spread, const struct spread_key *key, uint64_t self_ns,
		      uint64_t total_ns)
{
	double self = (double)self_ns / 1e6, total = (double)total_ns / 1e6;
	struct entry *entry;

	if (spread_entry(spread, key, &entry))
		return -ENOMEM;
	if (!entry)
		return 0;
	if (entry->round != spread->recordings) {
		entry->round = spread->recordings;
		entry->now_self = entry->now_total = 0;
	}
	sums_grow(&entry->self, entry->now_self, self, spread);
	sums_grow(&entry->total, entry->now_total, total, spread);
	entry->now_self += self;
	entry->now_total += total;
	return 0;
}

int spread_add(struct spread *spread, const struct profile *profile)
{
	spread->recordings++;
	spread->time = (double)time_sum(profile->time_ns) / 1e6;
	spread->seconds = (double)profile->facts.duration_ns / 1e9;
	spread->time_sum += spread->time;
	spread->time_squares += spread->time * spread->time;
	spread->seconds_sum += spread->seconds;
	spread->seconds_squares += spread->seconds * spread->seconds;
	for (size_t i = 0; i < profile->line_count; i++) {
		const struct profile_line *line = &profile->lines[i];
		const struct spread_key key = { line->file, line->function, line->source,
						line->line };

		if (spread_put(spread, &key, time_sum(line->self_ns), line->total_ns))
			return -ENOMEM;
	}
	for (size_t i = 0; i < profile->function_count; i++) {
		const struct profile_function *function = &profile->functions[i];
		const struct spread_key key = { function->file, function->function, "", 0 };

		if (spread_put(spread, &key, time_sum(function->self_ns), function->total_ns))
			return -ENOMEM;
	}
	return 0;
}

static double ratio_error(const struct sums *sums, double by, double whole, double whole_squares,
			  size_t recordings)
{
	double ratio, variance, n = (double)recordings;

	if (recordings < 2 || whole <= 0)
		return 0;
	ratio = sums->x / whole;
	variance = (sums->squares - 2 * ratio * by + ratio * ratio * whole_squares) /
		   (whole * whole) * n / (n - 1);
	return sqrt(fmax(variance, 0));
}

static struct spread_error error_of(const struct spread *spread, const struct sums *sums)
{
	return (struct spread_error){
		.share = ratio_error(sums, sums->by_time, spread->time_sum, spread->time_squares,
				     spread->recordings),
		.rate = ratio_error(sums, sums->by_seconds, spread->seconds_sum,
				    spread->seconds_squares, spread->recordings),
	};
}

struct spread_errors spread_errors_of(const struct spread *spread, const struct spread_key *key)
{
	const struct entry *entry = spread_find(spread, key);
	struct spread_errors errors = { 0 };

	if (entry) {
		errors.self = error_of(spread, &entry->self);
		errors.total = error_of(spread, &entry->total);
	}
	return errors;
}

size_t spread_recordings(const struct spread *spread)
{
	return spread->recordings;
}

double spread_seconds(const struct spread *spread)
{
	return spread->seconds_sum;
}
