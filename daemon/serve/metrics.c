/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/serve/metrics.h"

#include "common/clock.h"
#include "daemon/report/encode/escape.h"
#include "daemon/serve/window.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* All that are ever answered; the last stands for any other. */
static const unsigned codes[METRICS_CODES] = { 200, 400, 401, 403, 404, 405, 409,
					       413, 429, 499, 500, 501, 503 };

void request_count(struct request_counts *counts, size_t endpoint, unsigned code, size_t bytes)
{
	size_t i = 0;

	while (i < METRICS_CODES - 1 && codes[i] != code)
		i++;
	if (endpoint < METRICS_ENDPOINTS_MAX)
		__atomic_add_fetch(&counts->by_code[endpoint][i], 1, __ATOMIC_RELAXED);
	__atomic_add_fetch(&counts->bytes, bytes, __ATOMIC_RELAXED);
}

static void head(FILE *file, const char *name, const char *type, const char *help)
{
	fprintf(file, "# HELP pieprofd_%s %s\n# TYPE pieprofd_%s %s\n", name, help, name, type);
}

static void put_count(FILE *file, const char *name, const char *type, const char *help,
		      uint64_t value)
{
	head(file, name, type, help);
	fprintf(file, "pieprofd_%s %" PRIu64 "\n", name, value);
}

/* Exactly, which a double is not for long. */
static void put_ns(FILE *file, uint64_t ns)
{
	fprintf(file, "%" PRIu64 ".%09" PRIu64 "\n", ns / (uint64_t)NS_PER_SECOND,
		ns % (uint64_t)NS_PER_SECOND);
}

static void put_seconds(FILE *file, const char *name, const char *type, const char *help,
			uint64_t ns)
{
	head(file, name, type, help);
	fprintf(file, "pieprofd_%s ", name);
	put_ns(file, ns);
}

static void put_ratio(FILE *file, const char *name, const char *help, double value)
{
	head(file, name, "gauge", help);
	fprintf(file, "pieprofd_%s %.9g\n", name, value);
}

static void put_times(FILE *file, const struct session_counters *all)
{
	static const char *const classes[TIME_CLASS_COUNT] = {
		[TIME_PYTHON] = "python",
		[TIME_NATIVE] = "native",
		[TIME_SYSTEM] = "system",
	};

	put_seconds(file, "sampled_seconds_total", "counter", "Wall time that was sampled.",
		    all->sampled_ns);
	put_seconds(file, "target_cpu_seconds_total", "counter",
		    "CPU time of the target while it was sampled, by its own clock.", all->cpu_ns);
	head(file, "cpu_seconds_total", "counter",
	     "CPU time of the target by its samples: the interpreter, native libraries, the "
	     "kernel.");
	for (size_t c = 0; c < TIME_CLASS_COUNT; c++) {
		fprintf(file, "pieprofd_cpu_seconds_total{class=\"%s\"} ", classes[c]);
		put_ns(file, all->time_ns[c]);
	}
	/* Where it is not known which of the first two it is. */
	if (all->user_ns) {
		fputs("pieprofd_cpu_seconds_total{class=\"user\"} ", file);
		put_ns(file, all->user_ns);
	}
	put_seconds(file, "gil_seconds_total", "counter",
		    "CPU time of threads that held the global interpreter lock.", all->gil_ns);
	head(file, "waiting_seconds_total", "counter",
	     "Time that the target's threads slept, by what they waited for.");
	for (unsigned i = 0; i < WAIT_KIND_COUNT; i++) {
		fprintf(file, "pieprofd_waiting_seconds_total{kind=\"%s\"} ",
			wait_kind_name((enum wait_kind)i));
		put_ns(file, all->side.waiting_ns[i]);
	}
}

/* These say how many threads there are, not how often something happened. */
static bool metrics_is_state(enum loss loss)
{
	return loss == LOSS_STOP_SIGNAL_BLOCKED || loss == LOSS_THREAD_EVENTS ||
	       loss == LOSS_MEMORY_EVENTS;
}

static void metrics_put_losses(FILE *file, const struct losses *losses)
{
	head(file, "losses_total", "counter", "What was seen and could not be used, by reason.");
	for (size_t i = 0; i < LOSS_COUNT; i++)
		if (!metrics_is_state((enum loss)i))
			fprintf(file, "pieprofd_losses_total{reason=\"%s\"} %" PRIu64 "\n",
				loss_name((enum loss)i), losses->counts[i]);
	head(file, "threads_not_sampled", "gauge",
	     "Threads of the target that are not, or not fully, sampled, by reason.");
	for (size_t i = 0; i < LOSS_COUNT; i++)
		if (metrics_is_state((enum loss)i))
			fprintf(file, "pieprofd_threads_not_sampled{reason=\"%s\"} %" PRIu64 "\n",
				loss_name((enum loss)i), losses->counts[i]);
}

static void put_stops(FILE *file, const struct session_counters *all, double limit)
{
	static const struct {
		const char *words;
		uint64_t ns;
	} bounds[] = {
		{ "1e-05", 10000 },   { "2.5e-05", 25000 },  { "5e-05", 50000 },
		{ "0.0001", 100000 }, { "0.00025", 250000 }, { "0.0005", 500000 },
		{ "0.001", 1000000 }, { "0.0025", 2500000 }, { "0.005", 5000000 },
		{ "0.01", 10000000 }, { "0.1", 100000000 },
	};

	head(file, "stop_duration_seconds", "histogram",
	     "How long a thread of the target was stopped.");
	for (size_t i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++)
		fprintf(file, "pieprofd_stop_duration_seconds_bucket{le=\"%s\"} %" PRIu64 "\n",
			bounds[i].words, stop_histogram_count_to(&all->stops, bounds[i].ns));
	fprintf(file, "pieprofd_stop_duration_seconds_bucket{le=\"+Inf\"} %" PRIu64 "\n",
		all->stops.count);
	fputs("pieprofd_stop_duration_seconds_sum ", file);
	put_ns(file, all->stops.sum_ns);
	fprintf(file, "pieprofd_stop_duration_seconds_count %" PRIu64 "\n", all->stops.count);
	put_seconds(file, "lost_seconds_total", "counter",
		    "Time that the target's threads lost to stops and to waking up from them.",
		    all->lost_ns);
	put_ratio(file, "overhead_ratio", "Time lost, over the target's CPU time, since the start.",
		  all->cpu_ns ? (double)all->lost_ns / (double)all->cpu_ns : 0);
	put_ratio(file, "overhead_limit_ratio", "Limit of that ratio in any thread.", limit);
}

/* Within a share of the machine. */
static void put_turns(FILE *file, const struct sampler_counters *counters)
{
	const struct newcomer_waits *waits = &counters->newcomers;
	uint64_t count = 0;

	if (!counters->takes_turns)
		return;
	put_ratio(file, "budget_seconds",
		  "CPU time that the daemon may use now; below 0, it has used more.",
		  (double)counters->budget_ns / 1e9);
	head(file, "newcomer_wait_seconds", "histogram",
	     "Of processes that came while others were sampled, from their start until they were.");
	for (size_t i = 0; i < NEWCOMER_WAITS - 1; i++) {
		count += waits->counts[i];
		fprintf(file, "pieprofd_newcomer_wait_seconds_bucket{le=\"%u\"} %" PRIu64 "\n",
			newcomer_wait_bounds_s[i], count);
	}
	count += waits->counts[NEWCOMER_WAITS - 1];
	fprintf(file, "pieprofd_newcomer_wait_seconds_bucket{le=\"+Inf\"} %" PRIu64 "\n", count);
	fputs("pieprofd_newcomer_wait_seconds_sum ", file);
	put_ns(file, waits->sum_ns);
	fprintf(file, "pieprofd_newcomer_wait_seconds_count %" PRIu64 "\n", count);
}

static void put_sizes(FILE *file, const struct sampler_counters *counters)
{
	const struct session_counters *all = &counters->all;

	put_seconds(file, "sampling_period_seconds", "gauge",
		    "CPU time of a thread between two samples.", all->period_ns);
	put_count(file, "processes", "gauge", "Processes that are sampled now.",
		  counters->processes);
	put_count(file, "processes_limit", "gauge", "The most at a time.",
		  counters->sessions_limit);
	put_count(file, "processes_over_limit", "gauge",
		  "Processes that wait to be sampled until another one ends.",
		  counters->processes_over_limit);
	put_count(file, "processes_idle", "gauge",
		  "Of those that wait, those that used no CPU time since they were last sampled.",
		  counters->processes_idle);
	put_count(file, "sessions_total", "counter",
		  "Sessions begun: of each process, and anew with each rotation.",
		  counters->sessions_begun);
	put_count(file, "tree_nodes", "gauge", "Nodes of the calling context tree.", all->nodes);
	put_count(file, "tree_nodes_limit", "gauge", "Limit of tree_nodes.", counters->nodes_limit);
	put_count(file, "pairs", "gauge", "Pairs of paths that accessed the same memory.",
		  all->pairs);
	put_count(file, "pairs_limit", "gauge", "The most there may be.", counters->pairs_limit);
	put_count(file, "threads_seen", "gauge", "Threads of the session, ended ones included.",
		  all->threads);
	put_seconds(file, "session_age_seconds", "gauge",
		    "Age of the oldest session that samples now; 0: none does.",
		    counters->session_ns);
	put_count(file, "rotations_total", "counter",
		  "How often a session gave way to a new one, old or full.", counters->rotations);
	put_count(file, "windows_open", "gauge", "Profiles that are being waited for.",
		  counters->windows);
	put_count(file, "windows_limit", "gauge", "The most at a time.", WINDOWS_MAX);
}

/* What is read of it is the text as every report shows it. */
static void put_label_value(FILE *file, const char *text)
{
	char *escaped = escape_printable(text, '\0');

	for (const char *at = escaped; at && *at; at++) {
		if (*at == '\\' || *at == '"')
			fputc('\\', file);
		fputc(*at, file);
	}
	free(escaped);
}

static void put_containers(FILE *file, const struct sampler_counters *counters)
{
	if (!counters->container_count)
		return;
	head(file, "container_processes", "gauge",
	     "Processes that are sampled now, by the container that they run in.");
	for (size_t i = 0; i < counters->container_count; i++) {
		const struct sampler_container *entry = &counters->containers[i];

		fputs("pieprofd_container_processes{runtime=\"", file);
		put_label_value(file, entry->container.runtime);
		fputs("\",id=\"", file);
		put_label_value(file, entry->container.id);
		fputs("\",name=\"", file);
		put_label_value(file, entry->container.name);
		fprintf(file, "\"} %zu\n", entry->processes);
	}
}

static void put_services(FILE *file, const struct sampler_counters *counters)
{
	if (!counters->service_count)
		return;
	head(file, "service_processes", "gauge",
	     "Processes that are sampled now, by what they are called.");
	for (size_t i = 0; i < counters->service_count; i++) {
		const struct process_labels *labels = &counters->services[i].labels;

		fputs("pieprofd_service_processes{service=\"", file);
		put_label_value(file, labels->service);
		fputs("\",version=\"", file);
		put_label_value(file, labels->version);
		fputs("\",revision=\"", file);
		put_label_value(file, labels->revision);
		fputs("\",namespace=\"", file);
		put_label_value(file, labels->namespace);
		fputs("\",pod=\"", file);
		put_label_value(file, labels->pod);
		fprintf(file, "\"} %zu\n", counters->services[i].processes);
	}
}

static void put_heap(const struct metrics *metrics, FILE *file)
{
	const struct heap_looks_counters *heap = metrics->heap;
	const struct heap_regions *regions = &heap->regions;
	const struct {
		const char *name;
		uint64_t bytes;
	} parts[] = {
		{ "objects", regions->objects_bytes },
		{ "pool_free", regions->pool_free_bytes },
		{ "malloc_held", regions->malloc_held_bytes },
		{ "malloc_unheld", regions->malloc_unheld_bytes },
		{ "free", regions->free_bytes },
		{ "libraries", regions->libraries_bytes },
		{ "stacks", regions->stacks_bytes },
		{ "other", regions->other_bytes },
	};

	put_count(file, "target_resident_memory_bytes", "gauge",
		  "Memory in RAM of the processes that are sampled now.", metrics->resident_bytes);
	head(file, "heap_looks_total", "counter",
	     "Requests for /debug/pprof/heap that were let look, and those that were not.");
	fprintf(file,
		"pieprofd_heap_looks_total{result=\"done\"} %" PRIu64 "\n"
		"pieprofd_heap_looks_total{result=\"failed\"} %" PRIu64 "\n"
		"pieprofd_heap_looks_total{result=\"refused\"} %" PRIu64 "\n",
		heap->done, heap->failed, heap->refused);
	if (!heap->done)
		return;
	put_seconds(file, "heap_look_age_seconds", "gauge",
		    "How long ago the last look was: the heap's other figures are of then.",
		    clock_now_ns() - heap->done_ns);
	put_seconds(file, "heap_look_duration_seconds", "gauge", "How long it took.",
		    heap->duration_ns);
	put_count(file, "heap_look_processes", "gauge", "How many processes it was of.",
		  heap->processes);
	head(file, "heap_memory_bytes", "gauge",
	     "What was in RAM at the last look, in parts that add up to it.");
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		fprintf(file, "pieprofd_heap_memory_bytes{part=\"%s\"} %" PRIu64 "\n",
			parts[i].name, parts[i].bytes);
}

static void put_push(FILE *file, const struct push_counts *push)
{
	if (!push)
		return;
	put_count(file, "push_requests_total", "counter",
		  "Requests with profiles that the receiver has taken.", push->taken);
	put_count(file, "push_bytes_total", "counter", "Bytes of these, compressed.",
		  push->taken_bytes);
	put_count(file, "push_retries_total", "counter",
		  "Tries that came to nothing, and are made again.", push->failures);
	head(file, "push_dropped_total", "counter",
	     "Requests that will not be sent, by reason: no room in the spool, not written there, "
	     "damaged there, not made, not taken by the process that sends, refused.");
	for (size_t i = 0; i < PUSH_LOSS_COUNT; i++)
		fprintf(file, "pieprofd_push_dropped_total{reason=\"%s\"} %" PRIu64 "\n",
			push_loss_name((enum push_loss)i), push->lost[i]);
	put_count(file, "push_rejected_profiles_total", "counter",
		  "Profiles of requests that were taken, which the receiver did not keep.",
		  push->rejected);
	put_count(file, "push_spool_requests", "gauge", "Requests that wait.", push->waiting);
	put_count(file, "push_spool_bytes", "gauge", "Bytes of these.", push->waiting_bytes);
	put_count(file, "push_sender_restarts_total", "counter",
		  "How often the process that sends ended before its time.", push->restarts);
	put_seconds(file, "push_last_taken_timestamp_seconds", "gauge",
		    "When the receiver took a request last, since 1970; 0: never.",
		    push->taken_unix_ns);
}

static void put_requests(const struct metrics *metrics, FILE *file)
{
	const struct request_counts *requests = metrics->requests;

	head(file, "http_requests_total", "counter",
	     "Requests answered, by endpoint and status; 499: the client went away.");
	for (size_t i = 0; i < metrics->endpoint_count; i++)
		for (size_t k = 0; k < METRICS_CODES; k++) {
			uint64_t count =
				__atomic_load_n(&requests->by_code[i][k], __ATOMIC_RELAXED);

			if (count)
				fprintf(file,
					"pieprofd_http_requests_total{endpoint=\"%s\",code=\"%u\"} "
					"%" PRIu64 "\n",
					metrics->endpoints[i], codes[k], count);
		}
	put_count(file, "http_response_bytes_total", "counter", "Bytes of bodies answered.",
		  __atomic_load_n(&requests->bytes, __ATOMIC_RELAXED));
	put_count(file, "http_connections", "gauge", "Connections, this one included.",
		  __atomic_load_n(&requests->connections, __ATOMIC_RELAXED));
	put_count(file, "http_slow_connections_total", "counter",
		  "Connections closed because their client was too slow.",
		  __atomic_load_n(&requests->cut, __ATOMIC_RELAXED));
}

static uint64_t open_files(void)
{
	DIR *folder = opendir("/proc/self/fd");
	const struct dirent *entry;
	uint64_t count = 0;

	if (!folder)
		return 0;
	while ((entry = readdir(folder)))
		count += entry->d_name[0] != '.';
	closedir(folder);
	return count - 1; /* the folder's own */
}

/* In pages. */
static void metrics_read_memory(uint64_t *ret_virtual, uint64_t *ret_resident)
{
	FILE *file = fopen("/proc/self/statm", "re");

	*ret_virtual = *ret_resident = 0;
	if (!file)
		return;
	if (fscanf(file, "%" SCNu64 " %" SCNu64, ret_virtual, ret_resident) != 2)
		*ret_virtual = *ret_resident = 0;
	fclose(file);
}

/* By the names that Prometheus' own libraries use. */
static void metrics_put_process(FILE *file)
{
	uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE), virtual_pages, resident_pages;
	struct rlimit limit = { 0 };
	struct timespec cpu = { 0 };

	metrics_read_memory(&virtual_pages, &resident_pages);
	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
	(void)getrlimit(RLIMIT_NOFILE, &limit);
	fprintf(file,
		"# HELP process_resident_memory_bytes Memory of pieprofd that is in RAM.\n"
		"# TYPE process_resident_memory_bytes gauge\n"
		"process_resident_memory_bytes %" PRIu64 "\n"
		"# HELP process_virtual_memory_bytes Address space of pieprofd.\n"
		"# TYPE process_virtual_memory_bytes gauge\n"
		"process_virtual_memory_bytes %" PRIu64 "\n",
		resident_pages * page_bytes, virtual_pages * page_bytes);
	fprintf(file,
		"# HELP process_open_fds Open file descriptors of pieprofd.\n"
		"# TYPE process_open_fds gauge\n"
		"process_open_fds %" PRIu64 "\n"
		"# HELP process_max_fds Limit of open file descriptors.\n"
		"# TYPE process_max_fds gauge\n"
		"process_max_fds %" PRIu64 "\n",
		open_files(), (uint64_t)limit.rlim_cur);
	fprintf(file,
		"# HELP process_cpu_seconds_total CPU time of pieprofd itself.\n"
		"# TYPE process_cpu_seconds_total counter\n"
		"process_cpu_seconds_total %lld.%09ld\n",
		(long long)cpu.tv_sec, cpu.tv_nsec);
}

void metrics_write(const struct metrics *metrics, FILE *file)
{
	const struct session_counters *all = &metrics->counters->all;

	head(file, "build_info", "gauge", "Version of pieprofd.");
	fputs("pieprofd_build_info{version=\"" PIEPROFD_VERSION "\"} 1\n", file);
	head(file, "state", "gauge", "1 for the present state of pieprofd.");
	for (unsigned state = SAMPLER_STOPPED; state <= SAMPLER_ENDED; state++)
		fprintf(file, "pieprofd_state{state=\"%s\"} %d\n",
			sampler_state_name((enum sampler_state)state), metrics->state == state);
	put_count(file, "samples_total", "counter", "Samples taken.", all->samples);
	put_times(file, all);
	metrics_put_losses(file, &all->losses);
	put_stops(file, all, metrics->overhead_limit);
	put_sizes(file, metrics->counters);
	put_turns(file, metrics->counters);
	put_containers(file, metrics->counters);
	put_services(file, metrics->counters);
	put_heap(metrics, file);
	put_push(file, metrics->push);
	put_requests(metrics, file);
	metrics_put_process(file);
}
