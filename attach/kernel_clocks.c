/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/kernel_clocks.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
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

_Static_assert(sizeof(struct clock_state) <= PAGE_BYTES, "what is mapped of it is all of it");

struct kernel_clocks {
	struct bpf_object *object;
	struct ring_buffer *ring;
	struct clock_state *state; /* the program's, mapped */
	int threads_fd;
	/* Perf events, one a processor; -1: it is offline. Those of faults are there if wanted. */
	int *clocks, *faults;
	size_t clock_count, fault_count;
	struct clock_sample sample;
	void (*take)(void *context, const struct clock_sample *sample);
	void *take_context;
	unsigned taken, take_maximum;
	uint64_t unreadable;
};

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

static void explain(int failure, struct error *error)
{
	switch (-failure) {
	case EPERM:
	case EACCES:
		error_set(error, EXIT_PERMISSION, "no program may be loaded into the kernel: %s",
			  strerror(-failure));
		error_set_cure(error, "Run as root, or give CAP_BPF and CAP_PERFMON: setcap "
				      "cap_bpf,cap_perfmon,cap_sys_ptrace+ep; docker run --cap-add "
				      "BPF --cap-add PERFMON; Kubernetes: securityContext: "
				      "{capabilities: {add: [\"BPF\", \"PERFMON\"]}}");
		break;
	default:
		error_set(error, EXIT_PERMISSION,
			  "the kernel does not take the sampling program: %s", strerror(-failure));
		error_set_cure(error, "It needs Linux 5.17 or later with CONFIG_BPF_EVENTS and "
				      "CONFIG_DEBUG_INFO_BTF; --engine ptrace does without.");
	}
}

static int namespace_inode(uint32_t *ret_inode)
{
	struct stat status;

	if (stat("/proc/self/ns/pid", &status))
		return -errno;
	*ret_inode = (uint32_t)status.st_ino;
	return 0;
}

static int take_record(void *context, void *data, size_t size)
{
	struct kernel_clocks *clocks = context;

	if (clock_sample_parse(data, size, &clocks->sample))
		clocks->unreadable++;
	else
		clocks->take(clocks->take_context, &clocks->sample);
	/* The record is taken out in either case; what is negative ends the round. */
	return ++clocks->taken == clocks->take_maximum ? -ECANCELED : 0;
}

/* What was declared for many processors is made as large as this machine needs. */
static int size_maps(struct bpf_object *object, size_t processors)
{
	static const char *const names[] = { "scratches", "processors" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct bpf_map *map = bpf_object__find_map_by_name(object, names[i]);
		int error = map ? bpf_map__set_max_entries(map, (uint32_t)processors) : -ENOENT;

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

static int load(struct kernel_clocks *clocks, const struct clock_config *config, size_t processors)
{
	struct bpf_map *constants, *variables, *ring, *threads;
	struct bpf_object_open_opts options = { .sz = sizeof(options), .object_name = "pieprofd" };
	int error;

	(void)libbpf_set_print(no_words);
	clocks->object = bpf_object__open_mem(
		clock_program_start, (uintptr_t)clock_program_end - (uintptr_t)clock_program_start,
		&options);
	if (!clocks->object)
		return -errno;
	constants = find_section(clocks->object, ".rodata.config");
	variables = find_section(clocks->object, ".bss");
	ring = bpf_object__find_map_by_name(clocks->object, "ring");
	threads = bpf_object__find_map_by_name(clocks->object, "threads");
	if (!constants || !variables || !ring || !threads)
		return -ENOENT;
	error = bpf_map__set_initial_value(constants, config, sizeof(*config));
	if (!error)
		error = size_maps(clocks->object, processors);
	if (!error)
		error = bpf_object__load(clocks->object);
	if (error)
		return error;
	clocks->threads_fd = bpf_map__fd(threads);
	clocks->state = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
			     bpf_map__fd(variables), 0);
	if (clocks->state == MAP_FAILED) {
		clocks->state = NULL;
		return -errno;
	}
	clocks->state->stack_pages = STACK_PAGES_FIRST;
	clocks->ring = ring_buffer__new(bpf_map__fd(ring), take_record, clocks, NULL);
	return clocks->ring ? 0 : -errno;
}

/* An event of one processor that runs the program of that name. Its descriptor or -errno. */
static int open_event(const struct kernel_clocks *clocks, int cpu,
		      struct perf_event_attr *attributes, const char *name)
{
	struct bpf_program *program = bpf_object__find_program_by_name(clocks->object, name);
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

/* One on each processor; *ret_fds is the caller's also on failure. */
static int open_events(const struct kernel_clocks *clocks, size_t processors,
		       struct perf_event_attr *attributes, const char *name, int **ret_fds,
		       size_t *ret_count)
{
	size_t opened = 0;

	*ret_fds = malloc(processors * sizeof((*ret_fds)[0]));
	if (!*ret_fds)
		return -ENOMEM;
	for (size_t cpu = 0; cpu < processors; cpu++) {
		int fd = open_event(clocks, (int)cpu, attributes, name);

		/* One that is offline. */
		if (fd < 0 && fd != -ENODEV && fd != -ENXIO)
			return fd;
		(*ret_fds)[(*ret_count)++] = fd < 0 ? -1 : fd;
		opened += fd >= 0;
	}
	return opened ? 0 : -ENODEV;
}

static int open_clocks(struct kernel_clocks *clocks, size_t processors, uint64_t period_ns)
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

	return open_events(clocks, processors, &attributes, "on_clock", &clocks->clocks,
			   &clocks->clock_count);
}

static void close_events(int *fds, size_t *count)
{
	for (size_t i = 0; i < *count; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	*count = 0;
}

int kernel_clocks_add_faults(struct kernel_clocks *clocks, uint64_t interval_ns)
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
	int error = open_events(clocks, clocks->clock_count, &attributes, "on_fault",
				&clocks->faults, &clocks->fault_count);

	if (error) {
		close_events(clocks->faults, &clocks->fault_count);
		free(clocks->faults);
		clocks->faults = NULL;
		return error;
	}
	kernel_clocks_set_fault_interval(clocks, interval_ns);
	return 0;
}

void kernel_clocks_set_fault_interval(struct kernel_clocks *clocks, uint64_t interval_ns)
{
	uint64_t interval_us = interval_ns / 1000;

	__atomic_store_n(&clocks->state->fault_interval_us,
			 interval_us < UINT32_MAX ? (uint32_t)interval_us : UINT32_MAX,
			 __ATOMIC_RELAXED);
}

void kernel_clocks_set_kernel_frames(struct kernel_clocks *clocks, bool wanted)
{
	__atomic_store_n(&clocks->state->kernel_frames, wanted, __ATOMIC_RELAXED);
}

int kernel_clocks_symbol(struct kernel_clocks *clocks, uint64_t address, char *ret_text,
			 size_t size)
{
	struct bpf_program *program = bpf_object__find_program_by_name(clocks->object, "on_symbol");
	LIBBPF_OPTS(bpf_test_run_opts, options);
	int error;

	if (!program || !size)
		return -ENOENT;
	clocks->state->asked = address;
	error = bpf_prog_test_run_opts(bpf_program__fd(program), &options);
	if (error)
		return error < 0 ? error : -EIO;
	snprintf(ret_text, size, "%.*s", (int)sizeof(clocks->state->symbol) - 1,
		 clocks->state->symbol);
	return 0;
}

struct kernel_clocks *kernel_clocks_create(pid_t pid, const struct clock_config *config,
					   uint64_t period_ns, struct error *error)
{
	struct kernel_clocks *clocks = calloc(1, sizeof(*clocks));
	struct clock_config own = *config;
	int processors = libbpf_num_possible_cpus();
	int failure = processors > 0 ? 0 : processors;

	if (!clocks) {
		error_set(error, EXIT_INTERNAL, "out of memory");
		return NULL;
	}
	own.pid = (uint32_t)pid;
	if (!failure)
		failure = namespace_inode(&own.namespace_inode);
	if (!failure)
		failure = load(clocks, &own, (size_t)processors);
	if (!failure)
		failure = open_clocks(clocks, (size_t)processors, period_ns);
	if (!failure)
		return clocks;
	kernel_clocks_destroy(clocks);
	explain(failure, error);
	return NULL;
}

static void close_clocks(struct kernel_clocks *clocks)
{
	close_events(clocks->faults, &clocks->fault_count);
	close_events(clocks->clocks, &clocks->clock_count);
}

void kernel_clocks_destroy(struct kernel_clocks *clocks)
{
	if (!clocks)
		return;
	close_clocks(clocks);
	free(clocks->faults);
	free(clocks->clocks);
	ring_buffer__free(clocks->ring);
	if (clocks->state)
		munmap(clocks->state, PAGE_BYTES);
	bpf_object__close(clocks->object);
	free(clocks);
}

void kernel_clocks_let_go(struct kernel_clocks *clocks)
{
	close_clocks(clocks);
}

static void enable_events(const int *fds, size_t count, bool enable)
{
	for (size_t i = 0; i < count; i++)
		if (fds[i] >= 0)
			(void)ioctl(fds[i], enable ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE,
				    0);
}

void kernel_clocks_enable(struct kernel_clocks *clocks, bool enable)
{
	enable_events(clocks->clocks, clocks->clock_count, enable);
	enable_events(clocks->faults, clocks->fault_count, enable);
}

void kernel_clocks_set_period(struct kernel_clocks *clocks, uint64_t period_ns)
{
	for (size_t i = 0; i < clocks->clock_count; i++)
		if (clocks->clocks[i] >= 0)
			(void)ioctl(clocks->clocks[i], PERF_EVENT_IOC_PERIOD, &period_ns);
}

void kernel_clocks_set_stack(struct kernel_clocks *clocks, unsigned pages)
{
	__atomic_store_n(&clocks->state->stack_pages,
			 pages < CLOCK_STACK_PAGES_MAX ? pages : CLOCK_STACK_PAGES_MAX,
			 __ATOMIC_RELAXED);
}

void kernel_clocks_add_thread(struct kernel_clocks *clocks, pid_t tid, remote_addr state)
{
	struct {
		uint64_t state, searched_ns;
	} known = { .state = state };
	uint32_t key = (uint32_t)tid;

	/* Else the program searches for it. */
	(void)bpf_map_update_elem(clocks->threads_fd, &key, &known, BPF_ANY);
}

unsigned kernel_clocks_read(struct kernel_clocks *clocks,
			    void (*take)(void *context, const struct clock_sample *sample),
			    void *context, unsigned maximum)
{
	clocks->take = take;
	clocks->take_context = context;
	clocks->taken = 0;
	clocks->take_maximum = maximum;
	(void)ring_buffer__consume(clocks->ring);
	return clocks->taken;
}

uint64_t kernel_clocks_dropped(const struct kernel_clocks *clocks)
{
	return __atomic_load_n(&clocks->state->dropped, __ATOMIC_RELAXED) + clocks->unreadable;
}

uint64_t kernel_clocks_dropped_faults(const struct kernel_clocks *clocks)
{
	return __atomic_load_n(&clocks->state->faults_dropped, __ATOMIC_RELAXED);
}
