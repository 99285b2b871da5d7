/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/allocation_probes.h"

#include "attach/procfs.h"
#include "attach/uprobe_link.h"
#include "common/clock.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_BYTES        64
#define STACK_PAGES_FIRST 8
#define INTERVAL_FIRST    65536u
#define SAMPLES_FIRST     64u
/* Entries and returns of each file. */
#define LINKS_MAX    (2 * ALLOCATION_PLACES_MAX)
#define PAGE_BYTES   4096u
#define TARGET_BYTES ((sizeof(struct allocation_target) + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES)

/* One link that is being closed. */
struct closing {
	pthread_t thread;
	bool thread_exists;
	int fd;
};

struct allocation_probes {
	pid_t pid;
	struct bpf_object *object;
	struct allocation_target *target; /* the program's, mapped */
	int program_fd, blocks_fd;
	uint32_t attach_type;
	struct allocation_place places[ALLOCATION_PLACES_MAX];
	size_t count;
	int links[LINKS_MAX];
	size_t link_count;
	struct closing closings[LINKS_MAX];
};

/* The program as clang made it of allocation.bpf.c. */
__asm__(".section .rodata\n"
	".balign 16\n"
	"allocation_program_start: .incbin \"" ALLOCATION_PROGRAM "\"\n"
	"allocation_program_end:\n"
	".previous\n");
extern const uint8_t allocation_program_start[], allocation_program_end[];

/* What is probed to see what a probe costs: it begins as most functions do, with an instruction of
 * one byte; behind that is one that the kernel does not emulate. */
__asm__(".text\n"
	".type allocation_trial, @function\n"
	"allocation_trial: push %rbp\n"
	"mov %rsp, %rbp\n"
	"pop %rbp\n"
	"ret\n"
	".size allocation_trial, . - allocation_trial\n"
	".previous\n");
extern void allocation_trial(const void *block, size_t bytes);

static int no_words(enum libbpf_print_level level, const char *format, va_list arguments)
{
	(void)level, (void)format, (void)arguments;
	return 0;
}

/* ---- the program ---- */

static int map_entries(const struct bpf_object *object, const char *name, uint32_t entries)
{
	struct bpf_map *map = bpf_object__find_map_by_name(object, name);

	return map ? bpf_map__set_max_entries(map, entries) : -ENOENT;
}

static int find_parts(struct allocation_probes *probes)
{
	struct bpf_map *map = bpf_object__find_map_by_name(probes->object, "target_of");
	struct bpf_map *blocks = bpf_object__find_map_by_name(probes->object, "blocks");
	struct bpf_program *program =
		bpf_object__find_program_by_name(probes->object, "on_allocation");
	void *target;

	if (!map || !blocks || !program)
		return -ENOENT;
	probes->program_fd = bpf_program__fd(program);
	probes->blocks_fd = bpf_map__fd(blocks);
	target = mmap(NULL, TARGET_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);
	if (target == MAP_FAILED)
		return -errno;
	probes->target = target;
	return uprobe_link_possible(probes->program_fd, probes->attach_type) ? 0 : -ENOTSUP;
}

static void unload(struct allocation_probes *probes)
{
	if (probes->target)
		munmap(probes->target, TARGET_BYTES);
	bpf_object__close(probes->object);
	probes->target = NULL;
	probes->object = NULL;
}

static int load(struct allocation_probes *probes, int ring_fd, uint32_t attach_type)
{
	struct bpf_object_open_opts options = { .sz = sizeof(options), .object_name = "pieprofd" };
	int processors = libbpf_num_possible_cpus();
	struct bpf_program *program;
	struct bpf_map *ring;
	int error;

	(void)libbpf_set_print(no_words);
	probes->attach_type = attach_type;
	probes->object = bpf_object__open_mem(
		allocation_program_start,
		(uintptr_t)allocation_program_end - (uintptr_t)allocation_program_start, &options);
	if (!probes->object)
		return -errno;
	program = bpf_object__find_program_by_name(probes->object, "on_allocation");
	ring = bpf_object__find_map_by_name(probes->object, "ring");
	if (processors <= 0 || !program || !ring)
		return processors < 0 ? processors : -ENOENT;
	error = bpf_map__reuse_fd(ring, ring_fd);
	if (!error)
		error = map_entries(probes->object, "scratches", (uint32_t)processors);
	if (!error)
		error = map_entries(probes->object, "processors", (uint32_t)processors);
	if (!error)
		error = bpf_program__set_expected_attach_type(program,
							      (enum bpf_attach_type)attach_type);
	if (!error)
		error = bpf_object__load(probes->object);
	return error ? error : find_parts(probes);
}

static int load_any(struct allocation_probes *probes, int ring_fd)
{
	int error = load(probes, ring_fd, UPROBE_LINK_SESSION);

	if (!error || error == -EPERM)
		return error;
	unload(probes);
	return load(probes, ring_fd, UPROBE_LINK_MULTI);
}

static void explain(int failure, struct error *error)
{
	if (failure == -EPERM || failure == -EACCES) {
		error_set(error, EXIT_PERMISSION,
			  "the kernel refuses the program that notes allocations: %s",
			  strerror(-failure));
		error_set_cure(error,
			       "Run it as root, or with CAP_BPF, CAP_PERFMON and CAP_SYS_PTRACE; "
			       "without --allocations the rest is to be had.");
		return;
	}
	error_set(error, failure == -ENOMEM ? EXIT_INTERNAL : EXIT_PERMISSION,
		  "the kernel cannot run the program that notes allocations: %s",
		  strerror(-failure));
	error_set_cure(error, "It needs Linux 6.10 or later, with BPF, BTF and uprobes; without "
			      "--allocations the rest is to be had.");
}

struct allocation_probes *allocation_probes_create(pid_t pid, const struct clock_config *config,
						   int ring_fd,
						   const struct allocation_place *places,
						   size_t count, struct error *error)
{
	struct allocation_probes *probes = calloc(1, sizeof(*probes));
	struct stat status = { 0 };
	int failure = !probes                              ? -ENOMEM
		      : count > ALLOCATION_PLACES_MAX      ? -E2BIG
		      : stat("/proc/self/ns/pid", &status) ? -errno
							   : load_any(probes, ring_fd);

	if (!failure) {
		probes->pid = pid;
		probes->count = count;
		memcpy(probes->places, places, count * sizeof(places[0]));
		*probes->target = (struct allocation_target){
			.config = *config,
			.stack_pages = STACK_PAGES_FIRST,
			.namespace_inode = (uint32_t)status.st_ino,
			.at_entry_alone = probes->attach_type == UPROBE_LINK_SESSION,
		};
		allocation_probes_set_interval(probes, INTERVAL_FIRST, 0, SAMPLES_FIRST);
		return probes;
	}
	allocation_probes_destroy(probes);
	explain(failure, error);
	return NULL;
}

void allocation_probes_destroy(struct allocation_probes *probes)
{
	if (!probes)
		return;
	allocation_probes_close(probes);
	unload(probes);
	free(probes);
}

void allocation_probes_set_interval(struct allocation_probes *probes, uint64_t bytes,
				    uint64_t object_bytes, uint32_t samples_most)
{
	const uint64_t whole = 1ull << ALLOCATION_SCALE_BITS;

	if (!bytes)
		bytes = 1;
	if (bytes > whole)
		bytes = whole;
	__atomic_store_n(&probes->target->interval_bytes, bytes, __ATOMIC_RELAXED);
	__atomic_store_n(&probes->target->object_bytes, object_bytes, __ATOMIC_RELAXED);
	__atomic_store_n(&probes->target->scale, whole / bytes, __ATOMIC_RELAXED);
	__atomic_store_n(&probes->target->samples_most, samples_most, __ATOMIC_RELAXED);
}

/* ---- what a hit costs ---- */

#define TRIAL_CALLS  400u
#define TRIAL_ROUNDS 8u
#define PUSH_BYTES   1

static uint64_t time_trial(void)
{
	uint64_t began_ns = clock_now_ns();

	for (unsigned i = 0; i < TRIAL_CALLS; i++)
		allocation_trial(&began_ns, 1);
	return clock_now_ns() - began_ns;
}

/* The quickest round of some: the others were disturbed. */
static uint64_t quickest_trial(void)
{
	uint64_t quickest_ns = UINT64_MAX;

	for (unsigned i = 0; i < TRIAL_ROUNDS; i++) {
		uint64_t ns = time_trial();

		if (ns < quickest_ns)
			quickest_ns = ns;
	}
	return quickest_ns / TRIAL_CALLS;
}

/* Where the function lies in our own file. */
static int find_trial(uint64_t *ret_offset)
{
	uint64_t address = (uintptr_t)allocation_trial;
	struct mapping_list mappings = { 0 };
	const struct mapping *mapping;
	int error = procfs_read_mappings(getpid(), &mappings);

	if (error)
		return error;
	mapping = mapping_find(&mappings, address);
	if (mapping)
		*ret_offset = address - mapping->start + mapping->file_offset;
	mapping_list_deinit(&mappings);
	return mapping ? 0 : -ENOENT;
}

/* A block that is made; one that is given back costs about the same. */
uint64_t allocation_probes_hit_ns(struct allocation_probes *probes, bool stepped)
{
	const uint64_t cookie = ALLOCATION_COOKIE(ALLOCATION_MAKE, 0, 1, ALLOCATION_NONE, 0, 0);
	uint64_t offset, bare_ns, probed_ns;
	const struct allocation_counts counts = probes->target->counts;
	struct uprobe_link link = {
		.program_fd = (uint32_t)probes->program_fd,
		.attach_type = probes->attach_type,
		.path = (uintptr_t) "/proc/self/exe",
		.offsets = (uintptr_t)&offset,
		.cookies = (uintptr_t)&cookie,
		.count = 1,
		.pid = (uint32_t)getpid(),
	};
	int fd = find_trial(&offset);

	if (fd)
		return 0;
	offset += stepped ? PUSH_BYTES : 0;
	bare_ns = quickest_trial();
	/* So that none is a sample. */
	allocation_probes_set_interval(probes, UINT64_MAX, 0, 0);
	fd = uprobe_link_create(&link);
	if (fd < 0)
		return 0;
	__atomic_store_n(&probes->target->recording, 1, __ATOMIC_RELAXED);
	probed_ns = quickest_trial();
	__atomic_store_n(&probes->target->recording, 0, __ATOMIC_RELAXED);
	close(fd);
	probes->target->counts = counts;
	return probed_ns > bare_ns ? probed_ns - bare_ns : 0;
}

void allocation_probes_set_stack(struct allocation_probes *probes, unsigned pages)
{
	__atomic_store_n(&probes->target->stack_pages, pages, __ATOMIC_RELAXED);
}

/* ---- windows ---- */

/* All places of one file; a descriptor, or a negative errno. */
static int open_file(const struct allocation_probes *probes, int fd, bool at_return)
{
	uint64_t offsets[ALLOCATION_PLACES_MAX], cookies[ALLOCATION_PLACES_MAX];
	char path[PATH_BYTES];
	struct uprobe_link link = {
		.program_fd = (uint32_t)probes->program_fd,
		.attach_type = probes->attach_type,
		.path = (uintptr_t)path,
		.offsets = (uintptr_t)offsets,
		.cookies = (uintptr_t)cookies,
		.multi_flags = at_return ? UPROBE_LINK_AT_RETURN : 0,
		.pid = (uint32_t)probes->pid,
	};

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	for (size_t i = 0; i < probes->count; i++) {
		const struct allocation_place *place = &probes->places[i];

		if (place->fd != fd ||
		    (at_return && ALLOCATION_OPERATION(place->cookie) == ALLOCATION_RELEASE))
			continue;
		offsets[link.count] = place->file_offset;
		cookies[link.count++] = place->cookie | (at_return ? ALLOCATION_AT_RETURN : 0);
	}
	return link.count ? uprobe_link_create(&link) : -ENOENT;
}

static bool is_first_of_file(const struct allocation_probes *probes, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (probes->places[i].fd == probes->places[index].fd)
			return false;
	return true;
}

int allocation_probes_open(struct allocation_probes *probes)
{
	bool returns = probes->attach_type != UPROBE_LINK_SESSION;

	probes->target->window++;
	__atomic_store_n(&probes->target->samples, 0, __ATOMIC_RELAXED);
	for (size_t i = 0; i < probes->count; i++) {
		for (int at_return = returns; at_return >= 0 && is_first_of_file(probes, i);
		     at_return--) {
			int link = open_file(probes, probes->places[i].fd, at_return);

			if (link < 0) {
				allocation_probes_close(probes);
				return link;
			}
			probes->links[probes->link_count++] = link;
		}
	}
	/* What was met while only some were there does not count. */
	__atomic_store_n(&probes->target->recording, 1, __ATOMIC_RELAXED);
	return 0;
}

static void *close_link(void *context)
{
	const struct closing *closing = context;

	close(closing->fd);
	return NULL;
}

/*
 * The kernel takes a link's probes out at once, and then waits for some 30 ms until nobody is in
 * them. One behind the other, the probes of the next link would be hit meanwhile.
 */
void allocation_probes_close(struct allocation_probes *probes)
{
	size_t count = probes->link_count;

	if (probes->target)
		__atomic_store_n(&probes->target->recording, 0, __ATOMIC_RELAXED);
	probes->link_count = 0;
	for (size_t i = 0; i < count; i++) {
		struct closing *closing = &probes->closings[i];

		closing->fd = probes->links[i];
		closing->thread_exists = i + 1 < count && !pthread_create(&closing->thread, NULL,
									  close_link, closing);
		if (!closing->thread_exists)
			close(closing->fd);
	}
	for (size_t i = 0; i < count; i++)
		if (probes->closings[i].thread_exists)
			pthread_join(probes->closings[i].thread, NULL);
}

/* One that goes while its successor is asked for lets the kernel begin anew: so there is a limit.
 */
void allocation_probes_blocks(const struct allocation_probes *probes,
			      void (*take)(void *context, uint64_t address, uint32_t number),
			      void *context)
{
	uint64_t address, next;
	bool first = true;

	for (unsigned i = 0; i < 2 * ALLOCATION_BLOCKS_MAX; i++) {
		struct allocation_block block;

		if (bpf_map_get_next_key(probes->blocks_fd, first ? NULL : &address, &next))
			return;
		first = false;
		address = next;
		if (!bpf_map_lookup_elem(probes->blocks_fd, &address, &block))
			take(context, address, block.number);
	}
}

struct allocation_counts allocation_probes_counts(const struct allocation_probes *probes)
{
	return probes->target->counts;
}
