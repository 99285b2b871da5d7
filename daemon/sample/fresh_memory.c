/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/sample/fresh_memory.h"

#include "attach/resident_memory.h"
#include "common/clock.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Between two points at first. It doubles whenever there are too many. */
#define INTERVAL_NS (50 * NS_PER_MS)
/* Those lie in longer files. */
#define COUNTS_NS NS_PER_SECOND
/* A page that does not come in that time was given back. The thread that touched it may have to
 * wait for a processor. */
#define AWAITED_NS (200 * NS_PER_MS)

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

/* Of a page that is there now. It was charged as a small one. */
static void charge_rest(struct fresh_memory *memory, const struct awaited_page *page,
			uint64_t page_bytes)
{
	struct side_time fresh = { .fresh_samples = 0 };

	if (page_bytes != PAGE_HUGE_BYTES)
		return;
	memory->counts.huge_samples++;
	fresh.fresh_bytes[page->owner] = page->faults * (PAGE_HUGE_BYTES - PAGE_SMALL_BYTES);
	if (page->node)
		side_time_add(page->node, &fresh);
	if (page->thread)
		side_time_add(page->thread, &fresh);
}

/* final: what is not there now never will be. */
static void ask_again(struct fresh_memory *memory, uint64_t now_ns, bool final)
{
	size_t kept = 0;

	for (size_t i = 0; i < memory->awaited_count; i++) {
		struct awaited_page page = memory->awaited[i];
		uint64_t page_bytes = 0;
		int error = page_map_size(memory->page_map, page.fault, &page_bytes);

		if (!error)
			charge_rest(memory, &page, page_bytes);
		/* The caller's clock may have been read before the sample was. */
		else if (error == -ENOENT && !final && now_ns < page.charged_ns + AWAITED_NS)
			memory->awaited[kept++] = page;
	}
	memory->awaited_count = kept;
}

void fresh_memory_look(struct fresh_memory *memory, uint64_t now_ns)
{
	if (!memory->pid)
		return;
	ask_again(memory, now_ns, false);
	if (now_ns - memory->read_ns < memory->interval_ns)
		return;
	read_resident(memory, now_ns);
	if (now_ns - memory->counts_read_ns >= COUNTS_NS)
		read_counts(memory, now_ns);
}

void fresh_memory_end(struct fresh_memory *memory, uint64_t now_ns)
{
	if (!memory->pid)
		return;
	ask_again(memory, now_ns, true);
	read_resident(memory, now_ns);
	read_counts(memory, now_ns);
}

/* What finds no room stays small, and is counted as of unknown size. */
static bool await_page(struct fresh_memory *memory, const struct awaited_page *page)
{
	if (memory->awaited_count == FRESH_AWAITED_MAX)
		ask_again(memory, page->charged_ns, false);
	if (memory->awaited_count == FRESH_AWAITED_MAX)
		return false;
	memory->awaited[memory->awaited_count++] = *page;
	return true;
}

void fresh_memory_charge(struct fresh_memory *memory, remote_addr fault, uint64_t faults,
			 enum fresh_owner owner, struct side_time *node, struct side_time *thread)
{
	const struct awaited_page page = { .fault = fault,
					   .faults = faults,
					   .charged_ns = clock_now_ns(),
					   .node = node,
					   .thread = thread,
					   .owner = owner };
	uint64_t page_bytes = PAGE_SMALL_BYTES;
	struct side_time fresh = { .fresh_samples = 1 };
	int error = -EBADF;

	if (!memory->pid)
		return;
	if (memory->page_map >= 0)
		error = page_map_size(memory->page_map, fault, &page_bytes);
	if (error == -ENOENT && await_page(memory, &page))
		error = 0;
	memory->counts.samples++;
	memory->counts.faults_sampled += faults;
	memory->counts.huge_samples += page_bytes == PAGE_HUGE_BYTES;
	memory->counts.unknown_samples += error != 0;
	fresh.fresh_bytes[owner] = faults * page_bytes;
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
