/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/trap_cost.h"

#include "attach/mpi_probes_parts.h"
#include "attach/procfs.h"
#include "common/clock.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* Medians of so many batches of hits: an odd number. */
#define BATCHES 25
#define HITS    10
/* On the virtual machine that it was written on. */
#define USUAL_EMULATED 750
#define USUAL_STEPPED  11000
#define USUAL_PROGRAM  250
/* What is beyond is no trap's. */
#define LEAST_NS 100
#define MOST_NS  100000

/* A jump to what follows, and an instruction that the kernel does not do itself. */
void trap_cost_emulated(void);
void trap_cost_stepped(void);
/* Branches by the bits of an arbitrary number, as an evaluation loop has them: what the processor
 * knew of them is lost by a trap, and is learnt again behind it. */
void trap_cost_branches(uint32_t number);

__asm__(".pushsection .text\n"
	".globl trap_cost_emulated, trap_cost_stepped, trap_cost_branches\n"
	".hidden trap_cost_emulated, trap_cost_stepped, trap_cost_branches\n"
	".type trap_cost_emulated, @function\n"
	"trap_cost_emulated:\n"
	"	.byte 0xeb, 0x00\n"
	"	ret\n"
	".size trap_cost_emulated, . - trap_cost_emulated\n"
	".type trap_cost_stepped, @function\n"
	"trap_cost_stepped:\n"
	"	mov %rax, %rax\n"
	"	ret\n"
	".size trap_cost_stepped, . - trap_cost_stepped\n"
	".type trap_cost_branches, @function\n"
	"trap_cost_branches:\n"
	"	.rept 1000\n"
	"	test %edi, %edi\n"
	"	js 1f\n"
	"	.skip 20, 0x90\n"
	"1:	ror $1, %edi\n"
	"	.endr\n"
	"	ret\n"
	".size trap_cost_branches, . - trap_cost_branches\n"
	".popsection\n");

typedef void instruction(void);

static instruction *const instructions[] = { trap_cost_emulated, trap_cost_stepped };

#define INSTRUCTIONS (sizeof(instructions) / sizeof(instructions[0]))

static int compare(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

static uint64_t batch_ns(instruction *run)
{
	uint64_t began_ns = clock_thread_cpu_ns();

	for (uint32_t i = 0; i < HITS; i++) {
		trap_cost_branches(0x9e3779b9u * (i + 1));
		run();
	}
	return (clock_thread_cpu_ns() - began_ns) / HITS;
}

/* Of one instruction, with what is around it. */
static uint64_t median_ns(instruction *run)
{
	uint64_t times[BATCHES];

	for (unsigned i = 0; i < BATCHES; i++)
		times[i] = batch_ns(run);
	qsort(times, BATCHES, sizeof(times[0]), compare);
	return times[BATCHES / 2];
}

/* Where they lie in our own file. 0 or a negative errno. */
static int find_places(struct function_place places[static INSTRUCTIONS])
{
	struct mapping_list mappings = { 0 };
	int error = procfs_read_mappings(getpid(), &mappings);

	for (size_t i = 0; i < INSTRUCTIONS && !error; i++) {
		uint64_t address = (uintptr_t)instructions[i];
		const struct mapping *mapping = mapping_find(&mappings, address);

		if (!mapping) {
			error = -ENOENT;
			continue;
		}
		places[i] = (struct function_place){
			.file_offset = address - mapping->start + mapping->file_offset,
			.kind = FUNCTION_PROBE_ENTER,
		};
	}
	mapping_list_deinit(&mappings);
	return error;
}

static uint64_t program_ns(const struct function_counts *counts)
{
	return counts->timed ? counts->timed_ns / counts->timed : USUAL_PROGRAM;
}

/* false: nobody would believe it. */
static bool difference(uint64_t probed_ns, uint64_t alone_ns, uint64_t *ret_ns)
{
	uint64_t ns = probed_ns > alone_ns ? probed_ns - alone_ns : 0;

	if (ns < LEAST_NS || ns > MOST_NS)
		return false;
	*ret_ns = ns;
	return true;
}

/* In the next place of a process, which nothing is recorded of. */
static int measure(struct mpi_probes *probes, int fd, struct trap_cost *cost)
{
	const struct mpi_target nobody = { 0 };
	const struct function_counts none = { 0 };
	struct function_place places[INSTRUCTIONS];
	uint64_t alone[INSTRUCTIONS], probed[INSTRUCTIONS], program;
	uint32_t slot = probes->count;
	struct function_counts counts;
	int error = find_places(places);

	if (error)
		return error;
	probes->targets[slot] = nobody;
	for (size_t i = 0; i < INSTRUCTIONS; i++)
		alone[i] = median_ns(instructions[i]);
	error = function_probes_set(probes, slot, getpid(), fd, places, INSTRUCTIONS, 0);
	if (error)
		return error;
	for (size_t i = 0; i < INSTRUCTIONS; i++)
		probed[i] = median_ns(instructions[i]);
	function_probes_remove(probes, slot);
	(void)function_probes_are_out(probes, slot, true);
	counts = function_probes_counts(probes, slot);
	if (bpf_map_update_elem(probes->function_counters_fd, &slot, &none, BPF_ANY))
		return -errno;
	if (counts.traps != INSTRUCTIONS * BATCHES * HITS)
		return -ENODATA;
	/* Here it has next to nothing to do, and there it is timed by itself. */
	program = program_ns(&counts);
	if (!difference(probed[0], alone[0] + program, &cost->emulated_ns) ||
	    !difference(probed[1], alone[1] + program, &cost->stepped_ns))
		return -ERANGE;
	return 0;
}

struct trap_cost trap_cost_measure(struct mpi_probes *probes)
{
	const struct trap_cost usual = { USUAL_EMULATED, USUAL_STEPPED, false };
	struct trap_cost cost = usual;
	int fd;

	if (!probes->functions || probes->count >= MPI_TARGETS_MAX)
		return usual;
	fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return usual;
	cost.measured = measure(probes, fd, &cost) == 0;
	close(fd);
	return cost.measured ? cost : usual;
}

uint64_t trap_cost_of(const struct trap_cost *cost, const struct function_counts *counts)
{
	return (counts->traps - counts->stepped) * cost->emulated_ns +
	       counts->stepped * cost->stepped_ns + counts->traps * program_ns(counts);
}
