/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/clock_hub.h"

#include "attach/clock_ring.h"
#include "common/clock.h"
#include "common/random.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define STACK_PAGES_FIRST 5
#define PAGE_BYTES        4096u
#define TARGETS_BYTES                                                                              \
	((CLOCK_TARGETS_MAX * sizeof(struct clock_target) + PAGE_BYTES - 1) / PAGE_BYTES *         \
	 PAGE_BYTES)
/* Rings of some 200 samples, and of 25 for each process beyond those. */
#define RING_BYTES       (8u << 20)
#define RING_BYTES_CROWD (1u << 20)
#define CROWD            4
#define VARY_NS          (100 * NS_PER_MS)

_Static_assert(sizeof(struct clock_target) % 8 == 0, "they lie in the map one behind the other");

struct hub_member {
	bool present, enabled, faults;
	uint32_t pid;
	uint64_t period_ns;
};

struct clock_hub {
	struct bpf_object *object;
	struct clock_target *targets; /* the program's, mapped */
	int slots_fd, rings_fd, threads_fd, fault_counts_fd, symbol_fd;
	size_t processors;
	/* Perf events, one a processor; -1: it is offline. Those of faults are there once wanted.
	 */
	int *clocks, *faults;
	size_t clock_count, fault_count;
	bool clocks_run, faults_run;
	uint64_t period_ns; /* of the clocks, on average */
	uint64_t varied_ns, random;
	struct hub_member members[CLOCK_TARGETS_MAX];
	unsigned member_count;
	unsigned next_slot; /* one behind the last that was given out */
};

/* The machine's processors are there once, and so is what samples them. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct clock_hub *shared;
static bool held;

/* The program as clang made it of clock.bpf.c. */
__asm__(".section .rodata\n"
	".balign 16\n"
	"clock_program_start: .incbin \"" CLOCK_PROGRAM "\"\n"
	"clock_program_end:\n"
	".previous\n");
extern const uint8_t clock_program_start[], clock_program_end[];

static int no_words(enum libbpf_print_level level, const char *format, va_list arguments)
{
	(void)level, (void)format, (void)arguments;
	return 0;
}

/* ---- the program ---- */

/* What was declared for many processors is made as large as this machine needs. */
static int size_maps(struct bpf_object *object, size_t processors)
{
	const struct {
		const char *name;
		size_t entries;
	} maps[] = {
		{ "scratches", processors },
		{ "processors", processors },
		{ "fault_counts", processors * CLOCK_TARGETS_MAX },
	};

	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++) {
		struct bpf_map *map = bpf_object__find_map_by_name(object, maps[i].name);
		int error =
			map ? bpf_map__set_max_entries(map, (uint32_t)maps[i].entries) : -ENOENT;

		if (error)
			return error;
	}
	return 0;
}

/* Of the program's variables, the section whose name ends like this. */
static struct bpf_map *find_section(const struct bpf_object *object, const char *suffix)
{
	struct bpf_map *map;

	bpf_object__for_each_map(map, object)
	{
		const char *name = bpf_map__name(map);
		size_t length = strlen(name), wanted = strlen(suffix);

		if (length >= wanted && !strcmp(name + length - wanted, suffix))
			return map;
	}
	return NULL;
}

/* -1: there is no such map. */
static int map_fd(const struct bpf_object *object, const char *name)
{
	struct bpf_map *map = bpf_object__find_map_by_name(object, name);

	return map ? bpf_map__fd(map) : -1;
}

static int find_maps(struct clock_hub *hub)
{
	struct bpf_program *symbol = bpf_object__find_program_by_name(hub->object, "on_symbol");
	void *targets;

	hub->slots_fd = map_fd(hub->object, "slots");
	hub->rings_fd = map_fd(hub->object, "rings");
	hub->threads_fd = map_fd(hub->object, "threads");
	hub->fault_counts_fd = map_fd(hub->object, "fault_counts");
	if (!symbol || hub->slots_fd < 0 || hub->rings_fd < 0 || hub->threads_fd < 0 ||
	    hub->fault_counts_fd < 0)
		return -ENOENT;
	hub->symbol_fd = bpf_program__fd(symbol);
	targets = mmap(NULL, TARGETS_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
		       map_fd(hub->object, "targets"), 0);
	if (targets == MAP_FAILED)
		return -errno;
	hub->targets = targets;
	return 0;
}

static int load(struct clock_hub *hub)
{
	struct bpf_object_open_opts options = { .sz = sizeof(options), .object_name = "pieprofd" };
	struct clock_machine machine = { .processors = (uint32_t)hub->processors };
	struct bpf_map *constants;
	struct stat status;
	int error;

	if (stat("/proc/self/ns/pid", &status))
		return -errno;
	machine.namespace_inode = (uint32_t)status.st_ino;
	(void)libbpf_set_print(no_words);
	hub->object = bpf_object__open_mem(
		clock_program_start, (uintptr_t)clock_program_end - (uintptr_t)clock_program_start,
		&options);
	if (!hub->object)
		return -errno;
	constants = find_section(hub->object, ".rodata.config");
	error = constants ? bpf_map__set_initial_value(constants, &machine, sizeof(machine))
			  : -ENOENT;
	if (!error)
		error = size_maps(hub->object, hub->processors);
	if (!error)
		error = bpf_object__load(hub->object);
	return error ? error : find_maps(hub);
}

/* ---- its events ---- */

/* An event of one processor that runs the program of that name. Its descriptor or -errno. */
static int open_event(const struct clock_hub *hub, int cpu, struct perf_event_attr *attributes,
		      const char *name)
{
	struct bpf_program *program = bpf_object__find_program_by_name(hub->object, name);
	long fd = syscall(SYS_perf_event_open, attributes, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	int error;

	if (fd < 0)
		return -errno;
	if (!program || ioctl((int)fd, PERF_EVENT_IOC_SET_BPF, bpf_program__fd(program))) {
		error = program ? -errno : -ENOENT;
		close((int)fd);
		return error;
	}
	return (int)fd;
}

static void close_events(int **fds, size_t *count)
{
	for (size_t i = 0; i < *count; i++)
		if ((*fds)[i] >= 0)
			close((*fds)[i]);
	*count = 0;
}

static void free_events(int **fds, size_t *count)
{
	close_events(fds, count);
	free(*fds);
	*fds = NULL;
}

/* One on each processor, or none. */
static int open_events(const struct clock_hub *hub, struct perf_event_attr *attributes,
		       const char *name, int **ret_fds, size_t *ret_count)
{
	size_t opened = 0;

	*ret_fds = calloc(hub->processors, sizeof((*ret_fds)[0]));
	if (!*ret_fds)
		return -ENOMEM;
	for (size_t cpu = 0; cpu < hub->processors; cpu++) {
		int fd = open_event(hub, (int)cpu, attributes, name);

		/* One that is offline. */
		if (fd < 0 && fd != -ENODEV && fd != -ENXIO) {
			free_events(ret_fds, ret_count);
			return fd;
		}
		(*ret_fds)[(*ret_count)++] = fd < 0 ? -1 : fd;
		opened += fd >= 0;
	}
	if (!opened)
		free_events(ret_fds, ret_count);
	return opened ? 0 : -ENODEV;
}

static int open_clocks(struct clock_hub *hub, uint64_t period_ns)
{
	struct perf_event_attr attributes = {
		.size = sizeof(attributes),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = period_ns,
		.exclude_hv = 1,
		.exclude_guest = 1,
		.exclude_idle = 1,
		.disabled = 1,
	};

	hub->period_ns = period_ns;
	return open_events(hub, &attributes, "on_clock", &hub->clocks, &hub->clock_count);
}

static int open_faults(struct clock_hub *hub)
{
	struct perf_event_attr attributes = {
		.size = sizeof(attributes),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		/* Never with PERF_SAMPLE_PERIOD: each fault would be an overflow then. */
		.sample_period = CLOCK_FAULT_PERIOD,
		.sample_type = PERF_SAMPLE_ADDR,
		.exclude_hv = 1,
		.disabled = 1,
	};

	return open_events(hub, &attributes, "on_fault", &hub->faults, &hub->fault_count);
}

static void enable_events(const int *fds, size_t count, bool enable)
{
	for (size_t i = 0; i < count; i++)
		if (fds[i] >= 0)
			(void)ioctl(fds[i], enable ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE,
				    0);
}

static void set_clocks(const struct clock_hub *hub, uint64_t period_ns)
{
	for (size_t i = 0; i < hub->clock_count; i++)
		if (hub->clocks[i] >= 0)
			(void)ioctl(hub->clocks[i], PERF_EVENT_IOC_PERIOD, &period_ns);
}

/* ---- who is in it ---- */

/* How many of the ticks one gets that wants fewer. */
static uint32_t share_of(uint64_t period_ns, uint64_t wanted_ns)
{
	if (wanted_ns <= period_ns)
		return CLOCK_SHARE_ALL;
	return (uint32_t)((double)period_ns / (double)wanted_ns * CLOCK_SHARE_ALL);
}

/* After whatever has changed of its members: which events run, how often they do, and for whom. */
static void adapt(struct clock_hub *hub)
{
	uint64_t period_ns = 0;
	bool any = false, faults = false;

	for (size_t i = 0; i < CLOCK_TARGETS_MAX; i++) {
		const struct hub_member *member = &hub->members[i];

		if (!member->present || !member->enabled)
			continue;
		if (!any || member->period_ns < period_ns)
			period_ns = member->period_ns;
		any = true;
		faults |= member->faults;
	}
	if (any && period_ns != hub->period_ns) {
		hub->period_ns = period_ns;
		set_clocks(hub, period_ns);
	}
	for (size_t i = 0; i < CLOCK_TARGETS_MAX; i++)
		if (hub->members[i].present)
			__atomic_store_n(&hub->targets[i].share,
					 share_of(hub->period_ns, hub->members[i].period_ns),
					 __ATOMIC_RELAXED);
	if (any != hub->clocks_run)
		enable_events(hub->clocks, hub->clock_count, any);
	if (faults != hub->faults_run)
		enable_events(hub->faults, hub->fault_count, faults);
	hub->clocks_run = any;
	hub->faults_run = faults;
}

static void hub_destroy(struct clock_hub *hub)
{
	if (!hub)
		return;
	free_events(&hub->faults, &hub->fault_count);
	free_events(&hub->clocks, &hub->clock_count);
	if (hub->targets)
		munmap(hub->targets, TARGETS_BYTES);
	bpf_object__close(hub->object);
	free(hub);
}

static int hub_create(uint64_t period_ns, struct clock_hub **ret_hub)
{
	struct clock_hub *hub = calloc(1, sizeof(*hub));
	int processors = libbpf_num_possible_cpus();
	int error = processors > 0 ? 0 : processors;

	if (!hub)
		return -ENOMEM;
	hub->processors = processors > 0 ? (size_t)processors : 0;
	hub->random = random_seed(clock_now_ns());
	if (!error)
		error = load(hub);
	if (!error)
		error = open_clocks(hub, period_ns);
	if (error)
		hub_destroy(hub);
	else
		*ret_hub = hub;
	return error;
}

/* Not the last one that was given back, if it can be: the program may be at work on it still. */
static int find_slot(const struct clock_hub *hub, unsigned *ret_slot)
{
	for (unsigned i = 0; i < CLOCK_TARGETS_MAX; i++) {
		unsigned slot = (hub->next_slot + i) % CLOCK_TARGETS_MAX;

		if (!hub->members[slot].present) {
			*ret_slot = slot;
			return 0;
		}
	}
	return -EUSERS;
}

static int take_in(struct clock_hub *hub, pid_t pid, const struct clock_config *config,
		   uint64_t period_ns, int ring_fd, unsigned *ret_slot)
{
	uint32_t number = (uint32_t)pid;
	unsigned slot;
	int error = find_slot(hub, &slot);

	if (error)
		return error;
	hub->targets[slot] = (struct clock_target){
		.config = *config,
		.share = CLOCK_SHARE_ALL,
		.stack_pages = STACK_PAGES_FIRST,
	};
	if (bpf_map_update_elem(hub->rings_fd, &slot, &ring_fd, BPF_ANY))
		return -errno;
	/* One that is sampled already is not sampled twice. */
	if (bpf_map_update_elem(hub->slots_fd, &number, &slot, BPF_NOEXIST)) {
		error = -errno;
		(void)bpf_map_delete_elem(hub->rings_fd, &slot);
		return error;
	}
	hub->members[slot] =
		(struct hub_member){ .present = true, .pid = number, .period_ns = period_ns };
	hub->member_count++;
	hub->next_slot = slot + 1;
	*ret_slot = slot;
	return 0;
}

/* With the lock held. */
static void drop_unused(void)
{
	if (!shared || shared->member_count || held)
		return;
	hub_destroy(shared);
	shared = NULL;
}

size_t clock_hub_ring_bytes(void)
{
	size_t bytes;

	pthread_mutex_lock(&lock);
	bytes = shared && shared->member_count >= CROWD ? RING_BYTES_CROWD : RING_BYTES;
	pthread_mutex_unlock(&lock);
	return bytes;
}

int clock_hub_enter(pid_t pid, const struct clock_config *config, uint64_t period_ns, int ring_fd,
		    struct clock_hub **ret_hub, unsigned *ret_slot)
{
	int error;

	pthread_mutex_lock(&lock);
	error = shared ? 0 : hub_create(period_ns, &shared);
	if (!error)
		error = take_in(shared, pid, config, period_ns, ring_fd, ret_slot);
	if (!error)
		*ret_hub = shared;
	drop_unused();
	pthread_mutex_unlock(&lock);
	return error;
}

void clock_hub_hold(void)
{
	pthread_mutex_lock(&lock);
	held = true;
	pthread_mutex_unlock(&lock);
	clock_ring_keep(true);
}

void clock_hub_release(void)
{
	pthread_mutex_lock(&lock);
	held = false;
	drop_unused();
	pthread_mutex_unlock(&lock);
	clock_ring_keep(false);
}

void clock_hub_leave(struct clock_hub *hub, unsigned slot)
{
	pthread_mutex_lock(&lock);
	__atomic_store_n(&hub->targets[slot].enabled, 0, __ATOMIC_RELAXED);
	(void)bpf_map_delete_elem(hub->slots_fd, &hub->members[slot].pid);
	(void)bpf_map_delete_elem(hub->rings_fd, &slot);
	hub->members[slot] = (struct hub_member){ 0 };
	hub->member_count--;
	adapt(hub);
	drop_unused();
	pthread_mutex_unlock(&lock);
}

struct clock_target *clock_hub_target(const struct clock_hub *hub, unsigned slot)
{
	return &hub->targets[slot];
}

void clock_hub_enable(struct clock_hub *hub, unsigned slot, bool enable)
{
	pthread_mutex_lock(&lock);
	hub->members[slot].enabled = enable;
	__atomic_store_n(&hub->targets[slot].enabled, enable, __ATOMIC_RELAXED);
	adapt(hub);
	pthread_mutex_unlock(&lock);
}

void clock_hub_set_period(struct clock_hub *hub, unsigned slot, uint64_t period_ns)
{
	uint64_t now_ns = clock_now_ns();

	/* A tracer's thread calls this, for which a stopped thread may wait: it does not wait
	 * itself. */
	if (pthread_mutex_trylock(&lock))
		return;
	hub->members[slot].period_ns = period_ns;
	adapt(hub);
	/* To set it begins the interval in hand anew: seldom, however many ask for it. */
	if (now_ns - hub->varied_ns >= VARY_NS) {
		hub->varied_ns = now_ns;
		set_clocks(hub, hub->period_ns * 3 / 4 +
					random_below(&hub->random, hub->period_ns / 2 + 1));
	}
	pthread_mutex_unlock(&lock);
}

static void forget_faults(const struct clock_hub *hub, unsigned slot)
{
	static const uint64_t none[16]; /* more than a struct fault_counts */

	for (size_t cpu = 0; cpu < hub->processors; cpu++) {
		uint32_t place = (uint32_t)(slot * hub->processors + cpu);

		(void)bpf_map_update_elem(hub->fault_counts_fd, &place, none, BPF_ANY);
	}
}

int clock_hub_add_faults(struct clock_hub *hub, unsigned slot)
{
	int error;

	pthread_mutex_lock(&lock);
	error = hub->faults ? 0 : open_faults(hub);
	if (!error) {
		forget_faults(hub, slot);
		hub->members[slot].faults = true;
		__atomic_store_n(&hub->targets[slot].wants_faults, 1, __ATOMIC_RELAXED);
		adapt(hub);
	}
	pthread_mutex_unlock(&lock);
	return error;
}

void clock_hub_add_thread(struct clock_hub *hub, pid_t tid, remote_addr state)
{
	struct {
		uint64_t state, searched_ns;
	} known = { .state = state };
	uint32_t key = (uint32_t)tid;

	/* Else the program searches for it. */
	(void)bpf_map_update_elem(hub->threads_fd, &key, &known, BPF_ANY);
}

int clock_hub_symbol(struct clock_hub *hub, unsigned slot, uint64_t address, char *ret_text,
		     size_t size)
{
	struct clock_target *target = &hub->targets[slot];
	const uint64_t arguments[] = { slot };
	struct bpf_test_run_opts options = {
		.sz = sizeof(options),
		.ctx_in = arguments,
		.ctx_size_in = sizeof(arguments),
	};
	int error;

	if (!size)
		return -ENOENT;
	target->asked = address;
	error = bpf_prog_test_run_opts(hub->symbol_fd, &options);
	if (!error)
		snprintf(ret_text, size, "%.*s", (int)sizeof(target->symbol) - 1, target->symbol);
	return error > 0 ? -EIO : error;
}

void clock_hub_let_go(struct clock_hub *hub)
{
	close_events(&hub->faults, &hub->fault_count);
	close_events(&hub->clocks, &hub->clock_count);
}
