/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/sample/fresh_memory.h"

#include "attach/resident_memory.h"
#include "common/clock.h"

#include <string.h>
#include <unistd.h>

/* Between two points at first. It doubles whenever there are too many. */
#define INTERVAL_NS (50 * NS_PER_MS)
/* Those lie in longer files. */
#define COUNTS_NS NS_PER_SECOND

void fresh_memory_init(struct fresh_memory *memory, pid_t pid)
{
	*memory = (struct fresh_memory){
		.pid = pid,
		.page_map = page_map_open(pid),
		.interval_ns = INTERVAL_NS,
	};
}

void fresh_memory_deinit(struct fresh_memory *memory)
{
	if (memory->pid && memory->page_map >= 0)
		close(memory->page_map);
	*memory = (struct fresh_memory){ 0 };
}

/* Every second one goes, not the first. */
static void thin(struct fresh_memory *memory)
{
	size_t kept = 0;

	for (size_t i = 0; i < memory->point_count; i += 2)
		memory->points[kept++] = memory->points[i];
	memory->point_count = kept;
	memory->interval_ns *= 2;
}

static void add_point(struct fresh_memory *memory, uint64_t now_ns, uint64_t bytes)
{
	if (memory->point_count == RESIDENT_POINTS_MAX)
		thin(memory);
	memory->points[memory->point_count++] =
		(struct resident_point){ now_ns - memory->began_ns, bytes };
}

static void read_resident(struct fresh_memory *memory, uint64_t now_ns)
{
	uint64_t bytes;

	memory->read_ns = now_ns;
	/* Gone: the last reading stands. */
	if (resident_memory_read(memory->pid, &bytes))
		return;
	if (!memory->point_count)
		memory->counts.start_bytes = bytes;
	memory->counts.end_bytes = bytes;
	if (bytes > memory->seen_bytes)
		memory->seen_bytes = bytes;
	add_point(memory, now_ns, bytes);
}

/* 0: not to be had. */
static uint64_t peak_of(pid_t pid)
{
	uint64_t bytes;

	return resident_memory_read_peak(pid, &bytes) ? 0 : bytes;
}

static uint64_t faults_of(pid_t pid)
{
	uint64_t faults;

	return resident_memory_read_faults(pid, &faults) ? 0 : faults;
}

/* Both only grow: of a process that is gone, the last reading stands. */
static void read_counts(struct fresh_memory *memory, uint64_t now_ns)
{
	uint64_t peak = peak_of(memory->pid), faults = faults_of(memory->pid);

	memory->counts_read_ns = now_ns;
	if (peak)
		memory->peak_now = peak;
	if (faults > memory->faults_at_start)
		memory->counts.faults = memory->faults_over + faults - memory->faults_at_start;
}

void fresh_memory_begin(struct fresh_memory *memory, uint64_t now_ns)
{
	if (!memory->pid)
		return;
	if (!memory->began_ns) {
		memory->began_ns = now_ns;
		memory->peak_at_start = peak_of(memory->pid);
	}
	memory->counts_read_ns = now_ns;
	memory->faults_over = memory->counts.faults;
	memory->faults_at_start = faults_of(memory->pid);
	read_resident(memory, now_ns);
}

void fresh_memory_look(struct fresh_memory *memory, uint64_t now_ns)
{
	if (!memory->pid || now_ns - memory->read_ns < memory->interval_ns)
		return;
	read_resident(memory, now_ns);
	if (now_ns - memory->counts_read_ns >= COUNTS_NS)
		read_counts(memory, now_ns);
}

void fresh_memory_end(struct fresh_memory *memory, uint64_t now_ns)
{
	if (!memory->pid)
		return;
	read_resident(memory, now_ns);
	read_counts(memory, now_ns);
}

void fresh_memory_charge(struct fresh_memory *memory, remote_addr fault, uint64_t faults,
			 enum fresh_owner owner, struct side_time *node, struct side_time *thread)
{
	uint64_t page_bytes = 0;
	struct side_time fresh = { .fresh_samples = 1 };

	if (!memory->pid)
		return;
	if (memory->page_map >= 0)
		page_bytes = page_map_size(memory->page_map, fault);
	memory->counts.samples++;
	memory->counts.faults_sampled += faults;
	memory->counts.huge_samples += page_bytes == PAGE_HUGE_BYTES;
	memory->counts.unknown_samples += !page_bytes;
	fresh.fresh_bytes[owner] = faults * (page_bytes ? page_bytes : PAGE_SMALL_BYTES);
	if (node)
		side_time_add(node, &fresh);
	if (thread)
		side_time_add(thread, &fresh);
}

struct resident_figures fresh_memory_figures(const struct fresh_memory *memory)
{
	/* Higher than before: it was in the run. */
	bool exact = memory->peak_now > memory->peak_at_start;

	return (struct resident_figures){
		.counts = memory->counts,
		.peak_bytes = exact ? memory->peak_now : memory->seen_bytes,
		.peak_exact = exact,
		.kernel_seen = memory->kernel_seen,
		.points = memory->points,
		.point_count = memory->point_count,
	};
}
