/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The exact answer that sampling only estimates: runs a program, steps every
 * instruction between two marks of its own (SIGUSR1, SIGUSR2), and says of
 * each memory access until a mark between them (a second SIGUSR1) by the native calls of one
 * extension whether a later call touches the same memory again, and finds it unchanged.
 *
 *     oracle EXTENSION.so COMMAND...
 *
 * It shares the decoder of instructions with the daemon and nothing else. The
 * definition is the one that reports state:
 *
 *   - a native call begins where the interpreter enters the extension and
 *     ends where it returns; what it calls in the interpreter is no access of it;
 *   - of each access one aligned word counts, the largest of 8, 4, 2, 1 bytes
 *     that fits in it; V1 is what that holds when the call ends;
 *   - the next load (of a load), or store (of a store), by a later call that
 *     touches the word decides: the bytes that both touch are the same or not;
 *   - an access weighs as much as native instructions lead to it from the one
 *     before: a clock's samples are as many as time is spent, so that is what
 *     sampled shares are to be compared with;
 *   - stack, thread-local storage and what indirect branches read do not count;
 *     a read-modify-write is a store.
 *
 * Output is JSON: the counts of both kinds, and of each pair of functions (by
 * where they begin in the extension). Single-stepping is for tests alone: the
 * target dies with its tracer.
 */
#include "attach/access.h"
#include "attach/user_registers.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define PENDING_MAX   (1u << 20)
#define PAIRS_MAX     256
#define STACK_BELOW   128
#define STACK_MAX     (8ull << 20)
#define STEPS_MAX     50000000ull
#define KIND_LOAD     0
#define KIND_STORE    1
#define KIND_COUNT    2
#define MODULE_RANGES 8

/* Accesses of one call to one word: they share their fate. */
struct pending {
	uint64_t address; /* 0: free */
	uint32_t length;
	uint32_t call;
	uint64_t function; /* where its call entered the extension */
	uint64_t count, weight;
	uint64_t value; /* once its call has ended */
	bool ended;
};

struct pair {
	int kind;
	uint64_t first, second;
	uint64_t count, redundant;
	uint64_t weight, redundant_weight;
};

struct oracle {
	pid_t pid;
	const char *extension;
	uint64_t base, code_start, code_end; /* of the extension */
	uint64_t excluded[MODULE_RANGES][2]; /* interpreter and loader */
	size_t excluded_count;
	/* The call that is under way. */
	bool in_call;
	bool closing; /* no access begins anything any more: it ends what others began */
	uint64_t call_sp, function;
	uint32_t call;
	uint64_t steps;
	uint64_t since[KIND_COUNT]; /* instructions of the call since its last access */
	/* By hash of the aligned 8 bytes that hold the word; at most one a word, length, and kind.
	 */
	struct pending *pending[KIND_COUNT];
	uint64_t *touched; /* indices of this call, kind in the lowest bit */
	size_t touched_count;
	uint64_t sampled[KIND_COUNT];
	struct pair pairs[PAIRS_MAX];
	size_t pair_count;
};

static void fail(const char *what)
{
	fprintf(stderr, "oracle: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t read_word(const struct oracle *oracle, uint64_t address, uint32_t length)
{
	uint64_t value = 0;
	struct iovec local = { .iov_base = &value, .iov_len = length };
	struct iovec remote = { .iov_base = (void *)(uintptr_t)address, .iov_len = length };

	if (process_vm_readv(oracle->pid, &local, 1, &remote, 1, 0) != (ssize_t)length)
		fail("read");
	return value;
}

/* The extension's code, and what belongs to the interpreter and the loader. */
static void read_map(struct oracle *oracle)
{
	char path[64], line[4352], executable[4096];
	ssize_t length;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/exe", oracle->pid);
	length = readlink(path, executable, sizeof(executable) - 1);
	if (length < 0)
		fail(path);
	executable[length] = 0;
	snprintf(path, sizeof(path), "/proc/%d/maps", oracle->pid);
	file = fopen(path, "r");
	if (!file)
		fail(path);
	oracle->base = oracle->code_start = oracle->code_end = 0;
	oracle->excluded_count = 0;
	while (fgets(line, sizeof(line), file)) {
		unsigned long long start, end, offset;
		char flags[5], *name = strchr(line, '/');

		if (!name || sscanf(line, "%llx-%llx %4s %llx", &start, &end, flags, &offset) != 4)
			continue;
		name[strcspn(name, "\n")] = 0;
		if (strcmp(strrchr(name, '/') + 1, oracle->extension) == 0) {
			if (offset == 0 && !oracle->base)
				oracle->base = start;
			if (flags[2] == 'x') {
				oracle->code_start = start;
				oracle->code_end = end;
			}
		} else if (flags[2] == 'x' && oracle->excluded_count < MODULE_RANGES &&
			   (strcmp(name, executable) == 0 || strstr(name, "/libpython") ||
			    strstr(name, "/ld-linux"))) {
			oracle->excluded[oracle->excluded_count][0] = start;
			oracle->excluded[oracle->excluded_count++][1] = end;
		}
	}
	fclose(file);
	if (!oracle->code_start) {
		fprintf(stderr, "oracle: %s is not there at the mark\n", oracle->extension);
		exit(1);
	}
}

static bool counts(const struct oracle *oracle, uint64_t ip)
{
	for (size_t i = 0; i < oracle->excluded_count; i++)
		if (ip >= oracle->excluded[i][0] && ip < oracle->excluded[i][1])
			return false;
	return true;
}

static struct pair *pair_of(struct oracle *oracle, int kind, uint64_t first, uint64_t second)
{
	for (size_t i = 0; i < oracle->pair_count; i++) {
		struct pair *pair = &oracle->pairs[i];

		if (pair->kind == kind && pair->first == first && pair->second == second)
			return pair;
	}
	if (oracle->pair_count == PAIRS_MAX) {
		fprintf(stderr, "oracle: too many pairs\n");
		exit(1);
	}
	oracle->pairs[oracle->pair_count] =
		(struct pair){ .kind = kind, .first = first, .second = second };
	return &oracle->pairs[oracle->pair_count++];
}

/* A chain of slots for all words within the same aligned 8 bytes. */
static size_t slot_of(uint64_t address)
{
	return (address >> 3) * 0x9e3779b97f4a7c15ull >> 44;
}

/* Later accesses decide over every word of earlier calls that they touch. */
static void decide(struct oracle *oracle, int kind, uint64_t start, uint64_t end)
{
	for (uint64_t group = start & ~7ull; group < end; group += 8) {
		size_t slot = slot_of(group);

		for (; oracle->pending[kind][slot].address; slot = (slot + 1) % PENDING_MAX) {
			struct pending *pending = &oracle->pending[kind][slot];
			uint64_t low = pending->address, high = low + pending->length;
			unsigned shift;
			uint64_t mask, now;
			struct pair *pair;

			if (!pending->count || !pending->ended || low >= end || high <= start)
				continue;
			low = low > start ? low : start;
			high = high < end ? high : end;
			shift = (unsigned)(low - pending->address) * 8;
			mask = high - low == 8 ? UINT64_MAX : (1ull << (high - low) * 8) - 1;
			now = read_word(oracle, low, (uint32_t)(high - low));
			pair = pair_of(oracle, kind, pending->function, oracle->function);
			pair->count += pending->count;
			pair->weight += pending->weight;
			if ((pending->value >> shift & mask) == now) {
				pair->redundant += pending->count;
				pair->redundant_weight += pending->weight;
			}
			pending->count = 0;
		}
	}
}

/* The word of an access that is watched, as the definition has it. */
static uint64_t word_of(uint64_t address, uint32_t size, uint32_t *ret_length)
{
	for (uint32_t length = 8; length > 1; length /= 2) {
		uint64_t start = (address + length - 1) / length * length;

		if (start + length <= address + size) {
			*ret_length = length;
			return start;
		}
	}
	*ret_length = 1;
	return address;
}

static void remember(struct oracle *oracle, int kind, uint64_t address, uint32_t size)
{
	uint32_t length;
	uint64_t word = word_of(address, size, &length);
	size_t slot = slot_of(word & ~7ull);
	struct pending *pending;

	for (size_t probed = 0;; slot = (slot + 1) % PENDING_MAX) {
		pending = &oracle->pending[kind][slot];
		if (!pending->address || (pending->address == word && pending->length == length &&
					  (!pending->count || pending->call == oracle->call)))
			break;
		if (++probed == PENDING_MAX) {
			fprintf(stderr, "oracle: too many words\n");
			exit(1);
		}
	}
	if (!pending->count) {
		*pending = (struct pending){
			.address = word,
			.length = length,
			.call = oracle->call,
			.function = oracle->function,
		};
		if (oracle->touched_count < PENDING_MAX)
			oracle->touched[oracle->touched_count++] = slot << 1 | (unsigned)kind;
	}
	pending->count++;
	pending->weight += oracle->since[kind];
	oracle->since[kind] = 0;
	oracle->sampled[kind]++;
}

static void end_call(struct oracle *oracle)
{
	for (size_t i = 0; i < oracle->touched_count; i++) {
		struct pending *pending =
			&oracle->pending[oracle->touched[i] & 1][oracle->touched[i] >> 1];

		pending->value = read_word(oracle, pending->address, pending->length);
		pending->ended = true;
	}
	oracle->touched_count = 0;
	oracle->in_call = false;
}

/* What the instruction is about to do; its accesses are looked at once it has run. */
static bool decode(const struct oracle *oracle, const struct registers *registers,
		   struct instruction *ret)
{
	uint8_t bytes[INSTRUCTION_BYTES_MAX];
	struct iovec local = { .iov_base = bytes, .iov_len = sizeof(bytes) };
	struct iovec remote = { .iov_base = (void *)(uintptr_t)registers->rip,
				.iov_len = sizeof(bytes) };
	ssize_t size = process_vm_readv(oracle->pid, &local, 1, &remote, 1, 0);

	return size > 0 && instruction_decode(registers, bytes, (size_t)size, ret) == 0;
}

static void take_accesses(struct oracle *oracle, const struct registers *before,
			  const struct instruction *instruction)
{
	uint64_t stack = before->general[REGISTER_RSP] - STACK_BELOW;

	for (size_t i = 0; i < instruction->access_count; i++) {
		const struct access *access = &instruction->accesses[i];
		int kind = access->kinds & ACCESS_STORE ? KIND_STORE : KIND_LOAD;

		if (!access->address_known || access->stack || access->thread_local_storage ||
		    access->indirect_branch || access->address - stack < STACK_MAX)
			continue;
		decide(oracle, kind, access->address, access->address + access->size);
		if (!oracle->closing)
			remember(oracle, kind, access->address, access->size);
	}
}

/* One instruction; true as long as no mark was met. */
static bool step(struct oracle *oracle)
{
	struct user_regs_struct user;
	struct instruction instruction;
	struct registers registers;
	bool decoded = false;
	int status = 0;

	if (ptrace(PTRACE_GETREGS, oracle->pid, NULL, &user))
		fail("registers");
	if (oracle->in_call && user.rsp > oracle->call_sp)
		end_call(oracle);
	if (!oracle->in_call && user.rip >= oracle->code_start && user.rip < oracle->code_end) {
		oracle->in_call = true;
		oracle->call++;
		oracle->call_sp = user.rsp;
		oracle->function = user.rip - oracle->base;
		oracle->since[KIND_LOAD] = oracle->since[KIND_STORE] = 0;
	}
	if (oracle->in_call && counts(oracle, user.rip)) {
		oracle->since[KIND_LOAD]++;
		oracle->since[KIND_STORE]++;
		registers = registers_from_user(&user);
		decoded = decode(oracle, &registers, &instruction);
	}
	if (ptrace(PTRACE_SINGLESTEP, oracle->pid, NULL, NULL) ||
	    waitpid(oracle->pid, &status, 0) != oracle->pid)
		fail("step");
	if (!WIFSTOPPED(status)) {
		fprintf(stderr, "oracle: the target ended between its marks\n");
		exit(1);
	}
	if (WSTOPSIG(status) == SIGUSR2)
		return false;
	if (WSTOPSIG(status) == SIGUSR1)
		oracle->closing = true;
	if (decoded && WSTOPSIG(status) == SIGTRAP)
		take_accesses(oracle, &registers, &instruction);
	if (++oracle->steps > STEPS_MAX) {
		fprintf(stderr, "oracle: the marks are too far apart\n");
		exit(1);
	}
	return true;
}

static void run_to_mark(const struct oracle *oracle, int mark)
{
	int status, signal_number = 0;

	for (;;) {
		if (ptrace(PTRACE_CONT, oracle->pid, NULL, (void *)(long)signal_number) ||
		    waitpid(oracle->pid, &status, 0) != oracle->pid)
			fail("continue");
		if (!WIFSTOPPED(status)) {
			fprintf(stderr, "oracle: the target ended before its mark\n");
			exit(1);
		}
		if (WSTOPSIG(status) == mark)
			return;
		signal_number = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
	}
}

/* Both on one processor: each step is a switch from one to the other and back. */
static void stay_on_one_processor(void)
{
	cpu_set_t set;
	int processor = sched_getcpu();

	CPU_ZERO(&set);
	CPU_SET(processor < 0 ? 0 : (unsigned)processor, &set);
	(void)sched_setaffinity(0, sizeof(set), &set);
}

static void start(struct oracle *oracle, char **command)
{
	int status;

	stay_on_one_processor();
	oracle->pid = fork();
	if (oracle->pid < 0)
		fail("fork");
	if (oracle->pid == 0) {
		/* Our own output is the result alone. */
		dup2(STDERR_FILENO, STDOUT_FILENO);
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execvp(command[0], command);
		_exit(127);
	}
	if (waitpid(oracle->pid, &status, 0) != oracle->pid || !WIFSTOPPED(status))
		fail(command[0]);
	if (ptrace(PTRACE_SETOPTIONS, oracle->pid, NULL, PTRACE_O_EXITKILL))
		fail("options");
}

static void print_result(const struct oracle *oracle)
{
	static const char *const names[] = { "load", "store" };

	printf("{\"steps\": %llu, \"calls\": %u", (unsigned long long)oracle->steps, oracle->call);
	printf(", \"loads\": %llu, \"stores\": %llu, \"pairs\": [",
	       (unsigned long long)oracle->sampled[KIND_LOAD],
	       (unsigned long long)oracle->sampled[KIND_STORE]);
	for (size_t i = 0; i < oracle->pair_count; i++) {
		const struct pair *pair = &oracle->pairs[i];

		printf("%s{\"kind\": \"%s\", \"first\": %llu, \"second\": %llu, "
		       "\"count\": %llu, \"redundant\": %llu, "
		       "\"weight\": %llu, \"redundant_weight\": %llu}",
		       i ? ", " : "", names[pair->kind], (unsigned long long)pair->first,
		       (unsigned long long)pair->second, (unsigned long long)pair->count,
		       (unsigned long long)pair->redundant, (unsigned long long)pair->weight,
		       (unsigned long long)pair->redundant_weight);
	}
	printf("]}\n");
}

int main(int argc, char **argv)
{
	static struct oracle oracle;

	if (argc < 3) {
		fprintf(stderr, "usage: oracle EXTENSION.so COMMAND...\n");
		return 2;
	}
	oracle.extension = argv[1];
	for (int kind = 0; kind < KIND_COUNT; kind++)
		oracle.pending[kind] = calloc(PENDING_MAX, sizeof(**oracle.pending));
	oracle.touched = calloc(PENDING_MAX, sizeof(*oracle.touched));
	if (!oracle.pending[0] || !oracle.pending[1] || !oracle.touched)
		fail("memory");
	start(&oracle, argv + 2);
	run_to_mark(&oracle, SIGUSR1);
	read_map(&oracle);
	while (step(&oracle))
		;
	kill(oracle.pid, SIGKILL);
	waitpid(oracle.pid, NULL, 0);
	print_result(&oracle);
	return 0;
}
