/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/function_probes.h"

#include "attach/mpi_probes_parts.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Between two looks, threads may come and go: so many are read in all. */
#define STACKS_READ_MAX (2 * FUNCTION_THREADS_MAX)

/* In the interpreter's handlers, and in an evaluation loop that runs one call. */
static const char *const programs[] = { "on_function", "on_loop" };
#define PROGRAMS (sizeof(programs) / sizeof(programs[0]))

int mpi_probes_choose_functions(struct mpi_probes *probes)
{
	static const char *const maps[] = { "function_stacks", "function_codes" };
	int error = 0;

	for (size_t i = 0; i < PROGRAMS && !error; i++) {
		struct bpf_program *program =
			bpf_object__find_program_by_name(probes->object, programs[i]);

		error = program ? bpf_program__set_autoload(program, probes->functions) : -ENOENT;
	}

	/* Some megabytes that would be of no use. */
	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]) && !error && !probes->functions;
	     i++) {
		struct bpf_map *map = bpf_object__find_map_by_name(probes->object, maps[i]);

		error = map ? bpf_map__set_max_entries(map, 1) : -ENOENT;
	}
	return error;
}

int mpi_probes_find_functions(struct mpi_probes *probes)
{
	int *const fds[PROGRAMS] = { &probes->function_fd, &probes->function_loop_fd };

	if (!probes->functions)
		return 0;
	for (size_t i = 0; i < PROGRAMS; i++) {
		struct bpf_program *program =
			bpf_object__find_program_by_name(probes->object, programs[i]);

		if (!program)
			return -ENOENT;
		*fds[i] = bpf_program__fd(program);
	}
	probes->function_stacks_fd =
		bpf_object__find_map_fd_by_name(probes->object, "function_stacks");
	probes->function_codes_fd =
		bpf_object__find_map_fd_by_name(probes->object, "function_codes");
	probes->function_configs_fd =
		bpf_object__find_map_fd_by_name(probes->object, "function_configs");
	probes->function_counters_fd =
		bpf_object__find_map_fd_by_name(probes->object, "function_counters");
	if (probes->function_stacks_fd < 0 || probes->function_codes_fd < 0 ||
	    probes->function_configs_fd < 0 || probes->function_counters_fd < 0)
		return -ENOENT;
	return 0;
}

int function_probes_configure(struct mpi_probes *probes, unsigned slot,
			      const struct function_config *config)
{
	uint32_t key = slot;

	if (!probes->functions)
		return -ENOTSUP;
	return bpf_map_update_elem(probes->function_configs_fd, &key, config, BPF_ANY) ? -errno : 0;
}

int function_probes_set(struct mpi_probes *probes, unsigned slot, pid_t pid, int fd,
			const struct function_place *places, size_t count, unsigned span)
{
	struct probed_process *process = &probes->processes[slot];
	uint64_t offsets[FUNCTION_PLACES_MAX], cookies[FUNCTION_PLACES_MAX];
	char path[PROBE_PATH_BYTES];
	bool loop = count && (places[0].kind == FUNCTION_PROBE_CALL ||
			      places[0].kind == FUNCTION_PROBE_RETURN);
	const struct probe probe = {
		.pid = pid,
		.path = path,
		.program_fd = loop ? probes->function_loop_fd : probes->function_fd,
	};
	size_t at_once = probes->by_links ? count : 1;

	if (!probes->functions)
		return -ENOTSUP;
	if (count > FUNCTION_PLACES_MAX)
		return -E2BIG;
	probe_path(fd, path);
	for (size_t i = 0; i < count; i++) {
		offsets[i] = places[i].file_offset;
		cookies[i] = probe_cookie(slot, span) |
			     FUNCTION_COOKIE(places[i].kind, places[i].number) |
			     FUNCTION_COOKIE_FROM_ABOVE(places[i].above) |
			     (places[i].stepped ? FUNCTION_COOKIE_STEPPED : 0);
	}
	for (size_t i = 0; i < count; i += at_once) {
		int link = mpi_probes_open(probes, &probe, &offsets[i], &cookies[i], NULL, at_once);

		if (link < 0) {
			function_probes_remove(probes, slot);
			return link;
		}
		process->functions[process->function_count++] = link;
	}
	return 0;
}

void function_probes_remove(struct mpi_probes *probes, unsigned slot)
{
	struct probed_process *process = &probes->processes[slot];

	/* Where there is no other process that would be kept waiting. */
	link_closer_close(&process->closer, process->functions, process->function_count,
			  probes->count <= 1);
	process->function_count = 0;
}

bool function_probes_are_out(struct mpi_probes *probes, unsigned slot, bool wait)
{
	return link_closer_is_done(&probes->processes[slot].closer, wait);
}

void mpi_probes_remove_functions(struct mpi_probes *probes, unsigned slot)
{
	function_probes_remove(probes, slot);
	(void)function_probes_are_out(probes, slot, true);
}

int function_probes_decide(struct mpi_probes *probes, const struct function_code_record *code,
			   enum function_verdict verdict)
{
	const struct function_code_key key = { code->code, code->slot };
	const struct function_code known = { .identity = code->identity, .verdict = verdict };

	return bpf_map_update_elem(probes->function_codes_fd, &key, &known, BPF_ANY) ? -errno : 0;
}

struct function_counts function_probes_counts(const struct mpi_probes *probes, unsigned slot)
{
	uint32_t key = slot;
	struct function_counts counts;

	if (!probes->functions || bpf_map_lookup_elem(probes->function_counters_fd, &key, &counts))
		return (struct function_counts){ 0 };
	return counts;
}

static void give_open(const struct function_stack *stack, const struct mpi_taker *taker,
		      uint64_t now_ns)
{
	for (uint32_t i = 0; i < stack->count && i < FUNCTION_DEPTH_MAX; i++) {
		const struct function_call *call = &stack->calls[i];
		/* Where nothing came after it, it may have been left by an exception: nobody
		 * knows. */
		const struct function_record record = {
			.kind = MPI_RECORD_FUNCTION,
			.slot = stack->slot,
			.span = stack->span,
			.tid = stack->tid,
			.flags = FUNCTION_IS_OPEN | (uint32_t)call->flags,
			.begin_ns = call->begin_ns,
			.end_ns = now_ns,
			.code = call->code,
			.identity = call->identity,
			.depth = call->depth,
		};

		if (call->verdict != FUNCTION_UNWANTED)
			taker->function(taker->context, &record);
	}
}

void function_probes_read_open(const struct mpi_probes *probes, unsigned slot, uint32_t epoch,
			       const struct mpi_taker *taker, uint64_t now_ns)
{
	struct function_stack *stack = probes->functions ? malloc(sizeof(*stack)) : NULL;
	uint32_t key, next;
	void *last = NULL;

	for (unsigned i = 0; stack && i < STACKS_READ_MAX &&
			     !bpf_map_get_next_key(probes->function_stacks_fd, last, &next);
	     i++) {
		key = next;
		last = &key;
		if (!bpf_map_lookup_elem(probes->function_stacks_fd, &key, stack) &&
		    stack->slot == slot && stack->epoch == epoch)
			give_open(stack, taker, now_ns);
	}
	free(stack);
}
