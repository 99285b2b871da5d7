/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/mpi_probes.h"

#include "attach/mpi_probes_parts.h"
#include "attach/procfs.h"
#include "attach/uprobe_link.h"
#include "common/clock.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE_BYTES 4096u
#define TARGETS_BYTES                                                                              \
	((MPI_TARGETS_MAX * sizeof(struct mpi_target) + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES)
/* "config:32-63" in format/ref_ctr_offset, ever since there has been one (4.20). */
#define COUNTER_OFFSET_SHIFT 32
#define UPROBE_TYPE          "/sys/bus/event_source/devices/uprobe/type"
#define UPROBE_RETURN        "/sys/bus/event_source/devices/uprobe/format/retprobe"

_Static_assert(sizeof(struct mpi_target) % 8 == 0, "they lie in the map one behind the other");

/* The program as clang made it of mpi.bpf.c. */
__asm__(".section .rodata\n"
	".balign 16\n"
	"mpi_program_start: .incbin \"" MPI_PROGRAM "\"\n"
	"mpi_program_end:\n"
	".previous\n");
extern const uint8_t mpi_program_start[], mpi_program_end[];

static int no_words(enum libbpf_print_level level, const char *format, va_list arguments)
{
	(void)level, (void)format, (void)arguments;
	return 0;
}

/* ---- the program ---- */

static int take_piece(void *context, void *data, size_t size)
{
	const struct mpi_probes *probes = context;
	uint32_t kind;

	if (size < sizeof(kind))
		return 0;
	memcpy(&kind, data, sizeof(kind));
	if (kind == MPI_RECORD_CALL && size >= sizeof(struct mpi_record))
		probes->taker->call(probes->taker->context, data);
	else if (kind == MPI_RECORD_SPAN && size >= sizeof(struct span_record))
		probes->taker->span(probes->taker->context, data);
	else if (kind == MPI_RECORD_FUNCTION && size >= sizeof(struct function_record))
		probes->taker->function(probes->taker->context, data);
	else if (kind == MPI_RECORD_CODE && size >= sizeof(struct function_code_record))
		probes->taker->code(probes->taker->context, data);
	else if (kind < MPI_RECORD_SPAN && kind != MPI_RECORD_CALL &&
		 size >= sizeof(struct mpi_chunk))
		probes->taker->chunk(probes->taker->context, data);
	return 0;
}

static int find_parts(struct mpi_probes *probes, const struct mpi_shape *shapes, size_t count)
{
	struct bpf_program *enter = bpf_object__find_program_by_name(probes->object, "on_enter");
	struct bpf_program *leave = bpf_object__find_program_by_name(probes->object, "on_return");
	int targets_fd = bpf_object__find_map_fd_by_name(probes->object, "targets");
	int shapes_fd = bpf_object__find_map_fd_by_name(probes->object, "shapes");
	int ring_fd = bpf_object__find_map_fd_by_name(probes->object, "ring");
	void *targets;
	int error;

	probes->calls_fd = bpf_object__find_map_fd_by_name(probes->object, "calls");
	probes->pythons_fd = bpf_object__find_map_fd_by_name(probes->object, "pythons");
	if (!enter || !leave || targets_fd < 0 || shapes_fd < 0 || ring_fd < 0 ||
	    probes->calls_fd < 0 || probes->pythons_fd < 0)
		return -ENOENT;
	probes->enter_fd = bpf_program__fd(enter);
	probes->return_fd = bpf_program__fd(leave);
	targets = mmap(NULL, TARGETS_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, targets_fd, 0);
	if (targets == MAP_FAILED)
		return -errno;
	probes->targets = targets;
	for (uint32_t i = 0; i < count; i++)
		if (bpf_map_update_elem(shapes_fd, &i, &shapes[i], BPF_ANY))
			return -errno;
	probes->ring = ring_buffer__new(ring_fd, take_piece, probes, NULL);
	if (!probes->ring)
		return -errno;
	error = mpi_probes_find_spans(probes);
	if (!error)
		error = mpi_probes_find_functions(probes);
	if (!error)
		error = mpi_probes_find_switches(probes);
	return error ? error : mpi_probes_find_faults(probes);
}

static struct bpf_map *find_constants(const struct bpf_object *object)
{
	struct bpf_map *map;

	bpf_object__for_each_map(map, object)
	{
		const char *name = bpf_map__name(map), *config = strstr(name, ".rodata.config");

		if (config && !config[strlen(".rodata.config")])
			return map;
	}
	return NULL;
}

/* What each program is for has to be said before it is loaded. */
static int aim(struct mpi_probes *probes)
{
	struct bpf_program *program;

	bpf_object__for_each_program(program, probes->object)
	{
		int error;

		/* Others than probes say it by their section's name. */
		if (bpf_program__type(program) != BPF_PROG_TYPE_KPROBE)
			continue;
		error = bpf_program__set_expected_attach_type(
			program, (enum bpf_attach_type)UPROBE_LINK_MULTI);
		if (error)
			return error;
	}
	return 0;
}

static int load(struct mpi_probes *probes, const struct mpi_shape *shapes, size_t count)
{
	struct bpf_object_open_opts options = { .sz = sizeof(options), .object_name = "pieprofd" };
	struct mpi_machine machine;
	struct bpf_map *constants;
	struct stat status;
	int error;

	if (stat("/proc/self/ns/pid", &status))
		return -errno;
	machine = (struct mpi_machine){ status.st_dev, status.st_ino };
	(void)libbpf_set_print(no_words);
	probes->object = bpf_object__open_mem(
		mpi_program_start, (uintptr_t)mpi_program_end - (uintptr_t)mpi_program_start,
		&options);
	if (!probes->object)
		return -errno;
	constants = find_constants(probes->object);
	error = constants ? bpf_map__set_initial_value(constants, &machine, sizeof(machine))
			  : -ENOENT;
	if (!error)
		error = mpi_probes_choose_switches(probes);
	if (!error)
		error = mpi_probes_choose_faults(probes);
	if (!error)
		error = mpi_probes_choose_functions(probes);
	if (!error && probes->by_links)
		error = aim(probes);
	if (!error)
		error = bpf_object__load(probes->object);
	return error ? error : find_parts(probes, shapes, count);
}

/* "config:0" says which bit. */
static int find_return_bit(uint64_t *ret_bit)
{
	FILE *file = fopen(UPROBE_RETURN, "re");
	unsigned bit = 64;

	if (file) {
		if (fscanf(file, "config:%u", &bit) != 1)
			bit = 64;
		fclose(file);
	}
	if (bit >= 64)
		return -ENODEV;
	*ret_bit = 1ull << bit;
	return 0;
}

static void explain(int failure, const struct mpi_wanted *wanted, struct error *error)
{
	bool switches = wanted->switches >= 0;
	const char *notes = switches              ? "notes calls of MPI and context switches"
			    : wanted->faults >= 0 ? "notes calls of MPI and page faults"
						  : "notes calls of MPI";

	if (failure == -EPERM || failure == -EACCES) {
		error_set(error, EXIT_PERMISSION, "the kernel refuses the program that %s: %s",
			  notes, strerror(-failure));
		error_set_cure(error, "Run it as root, or with CAP_BPF, CAP_PERFMON and "
				      "CAP_SYS_PTRACE; before Linux 6.10, with CAP_SYS_ADMIN. If "
				      "it has these, this kernel's verifier does not take the "
				      "program: please report its version (uname -r).");
		return;
	}
	error_set(error, failure == -ENOMEM ? EXIT_INTERNAL : EXIT_PERMISSION,
		  "the kernel cannot run the program that %s: %s", notes, strerror(-failure));
	error_set_cure(error, switches ? "It needs Linux 5.17 or later, with BPF, BTF and uprobes; "
					 "without --events sched it may do."
				       : "It needs Linux 5.17 or later, with BPF and uprobes.");
}

static void unload(struct mpi_probes *probes)
{
	mpi_probes_end_switches(probes);
	mpi_probes_end_faults(probes);
	ring_buffer__free(probes->ring);
	if (probes->targets)
		munmap(probes->targets, TARGETS_BYTES);
	bpf_object__close(probes->object);
	probes->ring = NULL;
	probes->targets = NULL;
	probes->object = NULL;
}

static int load_for_events(struct mpi_probes *probes, const struct mpi_shape *shapes, size_t count)
{
	int error = find_return_bit(&probes->return_bit);

	probes->by_links = false;
	probes->uprobe_type = procfs_read_setting(UPROBE_TYPE, -1);
	if (!error && probes->uprobe_type < 0)
		error = -ENODEV;
	return error ? error : load(probes, shapes, count);
}

static int load_for_links(struct mpi_probes *probes, const struct mpi_shape *shapes, size_t count)
{
	int error;

	probes->by_links = true;
	error = load(probes, shapes, count);
	if (error)
		return error;
	return uprobe_link_possible(probes->enter_fd, UPROBE_LINK_MULTI) ? 0 : -ENOTSUP;
}

struct mpi_probes *mpi_probes_create(const struct mpi_shape *shapes, size_t count,
				     enum mpi_probes_way way, const struct mpi_wanted *wanted,
				     struct error *error)
{
	struct mpi_probes *probes = calloc(1, sizeof(*probes));
	int failure = !probes ? -ENOMEM : count > MPI_FUNCTIONS_MAX ? -E2BIG : 0;

	if (probes) {
		probes->switches = wanted->switches;
		probes->faults = wanted->faults;
		probes->functions = wanted->functions;
	}
	if (!failure && way != MPI_PROBES_EVENTS)
		failure = load_for_links(probes, shapes, count);
	if (way == MPI_PROBES_EVENTS || (way == MPI_PROBES_AUTO && failure == -ENOTSUP)) {
		if (probes)
			unload(probes);
		failure = probes ? load_for_events(probes, shapes, count) : -ENOMEM;
	}
	if (!failure)
		return probes;
	explain(failure, wanted, error);
	mpi_probes_destroy(probes);
	return NULL;
}

bool mpi_probes_need_admin(const struct mpi_probes *probes)
{
	return !probes->by_links;
}

void mpi_probes_destroy(struct mpi_probes *probes)
{
	if (!probes)
		return;
	for (unsigned slot = 0; slot < probes->count; slot++)
		mpi_probes_remove(probes, slot);
	unload(probes);
	free(probes);
}

/* ---- probes ---- */

/* A descriptor that keeps the probe alive, or a negative errno. */
static int open_event(const struct mpi_probes *probes, const struct probe *probe, uint64_t offset,
		      uint64_t cookie, uint64_t counter)
{
	struct perf_event_attr attributes = {
		.size = sizeof(attributes),
		.type = (uint32_t)probes->uprobe_type,
		.config = (probe->at_return ? probes->return_bit : 0) |
			  counter << COUNTER_OFFSET_SHIFT,
		.uprobe_path = (uintptr_t)probe->path,
		.probe_offset = offset,
	};
	DECLARE_LIBBPF_OPTS(bpf_link_create_opts, options, .perf_event.bpf_cookie = cookie);
	long event =
		syscall(SYS_perf_event_open, &attributes, probe->pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	int link;

	if (event < 0)
		return -errno;
	link = bpf_link_create(probe->program_fd, (int)event, BPF_PERF_EVENT, &options);
	/* The link holds the event. */
	close((int)event);
	return link;
}

/* Probes at all offsets by one link; counters: NULL: none. Its descriptor or a negative errno. */
static int open_link(const struct probe *probe, const uint64_t *offsets, const uint64_t *cookies,
		     const uint64_t *counters, size_t count)
{
	const struct uprobe_link link = {
		.program_fd = (uint32_t)probe->program_fd,
		.attach_type = UPROBE_LINK_MULTI,
		.path = (uintptr_t)probe->path,
		.offsets = (uintptr_t)offsets,
		.reference_counters = (uintptr_t)counters,
		.cookies = (uintptr_t)cookies,
		.count = (uint32_t)count,
		.multi_flags = probe->at_return ? UPROBE_LINK_AT_RETURN : 0,
		.pid = (uint32_t)probe->pid,
	};

	return uprobe_link_create(&link);
}

int mpi_probes_open(const struct mpi_probes *probes, const struct probe *probe,
		    const uint64_t *offsets, const uint64_t *cookies, const uint64_t *counters,
		    size_t count)
{
	return probes->by_links ? open_link(probe, offsets, cookies, counters, count)
				: open_event(probes, probe, offsets[0], cookies[0],
					     counters ? counters[0] : 0);
}

/* At the beginnings of all functions, or when they return. */
static int open_functions(const struct mpi_probes *probes, const struct probe *probe,
			  const struct mpi_place *places, size_t count, unsigned slot)
{
	uint64_t offsets[MPI_FUNCTIONS_MAX], cookies[MPI_FUNCTIONS_MAX];

	if (count > MPI_FUNCTIONS_MAX)
		return -E2BIG;
	for (size_t i = 0; i < count; i++) {
		offsets[i] = places[i].file_offset;
		cookies[i] = probe_cookie(slot, places[i].function);
	}
	return mpi_probes_open(probes, probe, offsets, cookies, NULL, count);
}

/* 0 or a negative errno: then some may be set. */
static int set_places(struct mpi_probes *probes, unsigned slot, struct probe *probe,
		      const struct mpi_place *places, size_t count)
{
	struct probed_process *process = &probes->processes[slot];

	/* Returns first: what is entered then is also seen to return. */
	for (size_t i = 0; i < (probes->by_links && count ? 2 : 2 * count); i++) {
		size_t at = probes->by_links ? 0 : i % count;
		int link;

		probe->at_return = probes->by_links ? i == 0 : i < count;
		probe->program_fd = probe->at_return ? probes->return_fd : probes->enter_fd;
		link = open_functions(probes, probe, &places[at], probes->by_links ? count : 1,
				      slot);
		if (link < 0)
			return link;
		process->links[process->count++] = link;
	}
	return 0;
}

int mpi_probes_add(struct mpi_probes *probes, pid_t pid, int fd, const struct mpi_place *places,
		   size_t count, const struct mpi_target *layout, unsigned *ret_slot)
{
	unsigned slot = probes->count;
	int error;

	if (slot >= MPI_TARGETS_MAX)
		return -EUSERS;
	probes->count++;
	error = mpi_probes_add_places(probes, slot, pid, fd, places, count, layout);
	if (error)
		mpi_probes_remove(probes, slot);
	else
		*ret_slot = slot;
	return error;
}

int mpi_probes_add_places(struct mpi_probes *probes, unsigned slot, pid_t pid, int fd,
			  const struct mpi_place *places, size_t count,
			  const struct mpi_target *layout)
{
	struct probed_process *process = &probes->processes[slot];
	char path[PROBE_PATH_BYTES];
	struct probe probe = { .pid = pid, .path = path };
	uint32_t recording = probes->targets[slot].recording;
	int *links = calloc(2 * count + 1, sizeof(links[0]));

	if (!links)
		return -ENOMEM;
	free(process->links);
	process->links = links;
	process->count = 0;
	probes->targets[slot] = *layout;
	mpi_probes_record(probes, slot, recording);
	probe_path(fd, path);
	return set_places(probes, slot, &probe, places, count);
}

void mpi_probes_remove(struct mpi_probes *probes, unsigned slot)
{
	struct probed_process *process = &probes->processes[slot];

	mpi_probes_record(probes, slot, false);
	mpi_probes_remove_switches(probes, slot);
	mpi_probes_remove_faults(probes, slot);
	for (size_t i = 0; i < process->count; i++)
		close(process->links[i]);
	mpi_probes_remove_functions(probes, slot);
	for (size_t i = 0; i < process->span_count; i++)
		close(process->spans[i].fd);
	free(process->links);
	free(process->spans);
	*process = (struct probed_process){ 0 };
}

void mpi_probes_record(struct mpi_probes *probes, unsigned slot, bool record)
{
	__atomic_store_n(&probes->targets[slot].recording, record, __ATOMIC_RELAXED);
}

int mpi_probes_set_python(struct mpi_probes *probes, unsigned slot,
			  const struct clock_config *python)
{
	uint32_t key = slot;

	return bpf_map_update_elem(probes->pythons_fd, &key, python, BPF_ANY) ? -errno : 0;
}

struct mpi_target mpi_probes_counts(const struct mpi_probes *probes, unsigned slot)
{
	return probes->targets[slot];
}

/* ---- what they report ---- */

void mpi_probes_read(struct mpi_probes *probes, const struct mpi_taker *taker, int timeout_ms)
{
	struct timespec pause = clock_timespec((uint64_t)timeout_ms * NS_PER_MS);
	int taken;

	probes->taker = taker;
	taken = ring_buffer__consume(probes->ring);
	/* The program wakes nobody: that would cost each call more than it does itself. */
	if (!taken && timeout_ms > 0) {
		(void)nanosleep(&pause, NULL);
		(void)ring_buffer__consume(probes->ring);
	}
}

void mpi_probes_read_open(struct mpi_probes *probes, const struct mpi_taker *taker)
{
	uint32_t key, next;
	void *last = NULL;
	uint64_t now_ns = clock_now_ns();

	for (unsigned i = 0;
	     i < CALLS_OPEN_MAX && !bpf_map_get_next_key(probes->calls_fd, last, &next); i++) {
		struct mpi_record call;

		key = next;
		last = &key;
		/* Without a beginning: it is being noted. */
		if (bpf_map_lookup_elem(probes->calls_fd, &key, &call) || !call.begin_ns)
			continue;
		call.end_ns = now_ns;
		call.flags |= MPI_IS_OPEN;
		taker->call(taker->context, &call);
	}
	mpi_probes_read_open_spans(probes, taker, now_ns);
	mpi_probes_read_open_switches(probes, taker, now_ns);
}
