/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The filters are classic BPF, made from tables of rules. They look at numbers
 * of calls and at flags in registers; where a path leads cannot be told there.
 */
#include "daemon/cli/confinement.h"

#include "attach/credentials.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Absent from older headers. */
#define CAPABILITY_PERFMON            38
#define CAPABILITY_BPF                39
#define CAPABILITY_CHECKPOINT_RESTORE 40

#define BIT(capability) (1ull << (capability))
#define FILE_CAPABILITIES                                                                          \
	(BIT(CAP_CHOWN) | BIT(CAP_DAC_OVERRIDE) | BIT(CAP_DAC_READ_SEARCH) | BIT(CAP_FOWNER))

static int read_capabilities(uint64_t *ret_held)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { 0 };
	int error = syscall(SYS_capget, &header, data) ? -errno : 0;

	*ret_held = data[0].permitted | (uint64_t)data[1].permitted << 32;
	return error;
}

/* Every supported kernel has the call: ENOSYS comes from a filter. */
static int forbid_to_gain(void)
{
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ? -errno : 0;
}

static uint64_t needed_capabilities(unsigned needs, uint64_t held)
{
	uint64_t needed = 0;

	if (needs & CONFINEMENT_WRITES_FILES)
		needed |= FILE_CAPABILITIES;
	if (needs & CONFINEMENT_SIGNALS)
		needed |= BIT(CAP_KILL);
	/* The kernel asks for no less, CAP_PERFMON notwithstanding (6.18). */
	if (needs & CONFINEMENT_PROBES)
		needed |= BIT(CAP_SYS_ADMIN);
	if (!(needs & CONFINEMENT_READS_TARGETS))
		return needed;
	if (!(held & BIT(CAP_SYS_PTRACE)))
		return UINT64_MAX;
	needed |= BIT(CAP_SYS_PTRACE) | BIT(CAP_SYS_NICE) | BIT(CAP_IPC_LOCK) |
		  BIT(CAPABILITY_PERFMON) | BIT(CAPABILITY_BPF) |
		  BIT(CAPABILITY_CHECKPOINT_RESTORE);
	/* CAP_SYS_ADMIN stands in for the two above where one is missing. */
	if (~held & (BIT(CAPABILITY_PERFMON) | BIT(CAPABILITY_CHECKPOINT_RESTORE)))
		needed |= BIT(CAP_SYS_ADMIN);
	/* The lesser one will do for reading. */
	return needed |
	       BIT(held & BIT(CAP_DAC_READ_SEARCH) ? CAP_DAC_READ_SEARCH : CAP_DAC_OVERRIDE);
}

/* Not because of a limit. */
static bool refuses_events(void)
{
	struct perf_event_attr attributes = {
		.size = sizeof(attributes),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	long fd = syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return errno == EACCES || errno == EPERM;
	close((int)fd);
	return false;
}

/*
 * Where perf_event_paranoid is above 2, as it is there by default, Debian's kernels ask for
 * CAP_SYS_ADMIN, CAP_PERFMON notwithstanding (6.1, 6.12). No setting tells whose kernel it is.
 */
static bool events_need_admin(uint64_t kept, uint64_t held)
{
	bool refused;

	if (!(held & ~kept & BIT(CAP_SYS_ADMIN)) || credentials_set_capabilities(kept, held))
		return false;
	refused = refuses_events();
	return !credentials_set_capabilities(kept | BIT(CAP_SYS_ADMIN), held) && refused &&
	       !refuses_events();
}

int confinement_give_up(unsigned needs)
{
	uint64_t held, kept;
	int error = read_capabilities(&held);
	int gain_error = forbid_to_gain();

	kept = held & needed_capabilities(needs, held);
	if (!error && needs & CONFINEMENT_EVENTS && events_need_admin(kept, held))
		kept |= BIT(CAP_SYS_ADMIN);
	if (!error && kept != held)
		error = credentials_set_capabilities(kept, kept);
	return error ? error : gain_error;
}

/* With the capabilities that are effective now. */
static bool may(const char *path, int mode)
{
	return !faccessat(AT_FDCWD, path, mode, AT_EACCESS) || errno == ENOENT;
}

static bool may_replace(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
	bool result = folder && may(folder, W_OK | X_OK) && may(path, W_OK);

	free(folder);
	return result;
}

static bool files_are_ours(const struct confinement_files *files)
{
	/* What is written is to be given to who called sudo. */
	bool result = !getenv("SUDO_UID");

	for (size_t i = 0; i < files->read_count && result; i++)
		result = may(files->read[i], R_OK);
	for (size_t i = 0; i < files->written_count && result; i++)
		result = may_replace(files->written[i]);
	return result;
}

int confinement_give_up_for_files(const struct confinement_files *files)
{
	uint64_t held, kept = 0;
	int error = read_capabilities(&held);
	int gain_error = forbid_to_gain();

	/* Whether the files are ours is seen without any. */
	if (!error && held)
		error = credentials_set_capabilities(0, held);
	if (!error && held) {
		if (!files_are_ours(files))
			kept = held & FILE_CAPABILITIES;
		error = credentials_set_capabilities(kept, kept);
	}
	return error ? error : gain_error;
}

/* gcc's macros, and clang's way to say so. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif

bool confinement_has_failed(int result)
{
	return result && result != -ENOTSUP;
}

void confinement_explain(int failure, struct error *error)
{
	error_set(error, EXIT_INTERNAL, "privileges could not be given up: %s", strerror(-failure));
	error_set_cure(error, "What filters system calls here (a container's seccomp profile, "
			      "SystemCallFilter= of a unit) must allow capget(2), capset(2), "
			      "prctl(2) and seccomp(2).");
}

#ifdef SANITIZED

int confinement_filter_files(void)
{
	return -ENOTSUP;
}

int confinement_filter_http(bool reads_target)
{
	(void)reads_target;
	return -ENOTSUP;
}

int confinement_filter_sender(void)
{
	return -ENOTSUP;
}

int confinement_filter_keeper(void)
{
	return -ENOTSUP;
}

#else

/* Allowed when argument & mask == value; without a mask, whatever the arguments are. */
struct rule {
	int call;
	uint8_t argument;
	uint32_t mask;
	uint32_t value;
	int error; /* not allowed, but refused with another error than EPERM */
};

#define ANY(name)                                                                                  \
	{                                                                                          \
		.call = SYS_##name                                                                 \
	}
/* Values of flags and numbers that the kernel takes as 32 bits. */
#define ONLY(name, number, bits, wanted)                                                           \
	{                                                                                          \
		.call = SYS_##name, .argument = (number), .mask = (bits),                          \
		.value = (uint32_t)(wanted)                                                        \
	}
#define OWN_PROCESS UINT32_MAX /* instead of a value that is known now */

/* Memory, time, signals to itself, what it has open. */
static const struct rule common_rules[] = {
	ANY(read),
	ANY(write),
	ANY(readv),
	ANY(writev),
	ANY(pread64),
	ANY(preadv),
	ANY(lseek),
	ANY(close),
	ANY(fstat),
	ANY(fstatfs),
	ANY(newfstatat),
	ANY(stat),
	ANY(lstat),
	ANY(statx),
	ANY(access),
	ANY(faccessat),
	ANY(faccessat2),
	ANY(readlink),
	ANY(readlinkat),
	ANY(getcwd),
	ANY(fcntl),
	ANY(dup),
	ANY(poll),
	ANY(ppoll),
	ANY(munmap),
	ANY(mremap),
	ANY(brk),
	ANY(madvise),
	ANY(futex),
	ANY(rt_sigaction),
	ANY(rt_sigprocmask),
	ANY(rt_sigreturn),
	ANY(rt_sigtimedwait),
	ANY(sigaltstack),
	ANY(restart_syscall),
	ANY(exit),
	ANY(exit_group),
	ANY(getpid),
	ANY(getppid),
	ANY(gettid),
	ANY(getuid),
	ANY(geteuid),
	ANY(getgid),
	ANY(getegid),
	ANY(clock_gettime),
	ANY(clock_getres),
	ANY(gettimeofday),
	ANY(time),
	ANY(nanosleep),
	ANY(clock_nanosleep),
	ANY(getrandom),
	ANY(uname),
	ANY(sysinfo),
	ANY(getrlimit),
	ANY(sched_yield),
	ANY(sched_getaffinity),
	ANY(set_robust_list),
	ANY(rseq),
	/* Its limits may be read: no new ones are given. */
	{ .call = SYS_prlimit64, .argument = 2, .mask = UINT32_MAX, .value = 0 },
	ONLY(ioctl, 1, UINT32_MAX, TIOCGWINSZ),
	ONLY(ioctl, 1, UINT32_MAX, TCGETS),
	ONLY(mmap, 2, PROT_EXEC, 0),
	ONLY(mprotect, 2, PROT_EXEC, 0),
	ONLY(tgkill, 0, UINT32_MAX, OWN_PROCESS),
	{ .call = SYS_clone3, .error = ENOSYS },
};

static const struct rule file_rules[] = {
	ANY(open),   ANY(openat),    ANY(pwrite64),  ANY(pwritev), ANY(ftruncate), ANY(fallocate),
	ANY(fsync),  ANY(fdatasync), ANY(fchmod),    ANY(fchown),  ANY(link),      ANY(linkat),
	ANY(rename), ANY(renameat),  ANY(renameat2), ANY(unlink),  ANY(unlinkat),  ANY(umask),
};

#define OPEN_WRITES (O_ACCMODE | O_CREAT | O_TRUNC | __O_TMPFILE)

static const struct rule http_rules[] = {
	ONLY(open, 1, OPEN_WRITES & ~O_DIRECTORY, O_RDONLY),
	ONLY(openat, 2, OPEN_WRITES & ~O_DIRECTORY, O_RDONLY),
	ANY(getdents64),
	ANY(accept),
	ANY(accept4),
	ANY(recvfrom),
	ANY(recvmsg),
	ANY(sendto),
	ANY(sendmsg),
	ANY(sendfile),
	ANY(shutdown),
	ANY(getsockname),
	ANY(getpeername),
	ANY(getsockopt),
	ANY(setsockopt),
	ANY(select),
	ANY(pselect6),
	ANY(epoll_create1),
	ANY(epoll_ctl),
	ANY(epoll_wait),
	ANY(epoll_pwait),
	ANY(eventfd2),
	ANY(pipe2),
	ANY(memfd_create), /* what is handed to the process that sends */
};

/* A thread, its name, and sockets that do not wait. */
static const struct rule thread_rules[] = {
	ONLY(clone, 0, CLONE_THREAD | CLONE_VM, CLONE_THREAD | CLONE_VM),
	ONLY(prctl, 0, UINT32_MAX, PR_SET_NAME),
	{ .call = SYS_ioctl, .argument = 1, .mask = UINT32_MAX, .value = FIONBIO },
};

/* Names of hosts are asked for over sockets of all of these kinds. */
static const struct rule sender_rules[] = {
	ONLY(socket, 0, UINT32_MAX, AF_INET),
	ONLY(socket, 0, UINT32_MAX, AF_INET6),
	ONLY(socket, 0, UINT32_MAX, AF_UNIX),
	ONLY(socket, 0, UINT32_MAX, AF_NETLINK),
	ANY(socketpair),
	ANY(connect),
	ANY(bind),
	ANY(sendmmsg),
	ANY(recvfrom),
	ANY(recvmsg),
	ANY(sendto),
	ANY(sendmsg),
	ANY(shutdown),
	ANY(getsockname),
	ANY(getpeername),
	ANY(getsockopt),
	ANY(setsockopt),
	ANY(getdents64),
	ANY(rmdir),
	ANY(pipe2),
	ANY(eventfd2),
};

/* Processes of its own, which give up what is left to give up. */
static const struct rule keeper_rules[] = {
	ONLY(clone, 0, CLONE_THREAD | CLONE_VM, 0),
	ANY(wait4),
	ANY(capget),
	ANY(capset),
	ANY(seccomp),
	ONLY(prctl, 0, UINT32_MAX, PR_SET_NO_NEW_PRIVS),
};

static const struct rule memory_rules[] = { ANY(process_vm_readv) };

struct rules {
	const struct rule *items;
	size_t count;
};

#define RULES(table)                                                                               \
	{                                                                                          \
		(table), sizeof(table) / sizeof((table)[0])                                        \
	}
#define INSTRUCTIONS_OF_RULE_MAX 6
#define PROGRAM_MAX              1024

struct program {
	struct sock_filter items[PROGRAM_MAX];
	unsigned short count;
};

static void filter_add(struct program *program, uint16_t code, uint32_t value, uint8_t if_true,
		       uint8_t if_false)
{
	program->items[program->count++] = (struct sock_filter){ code, if_true, if_false, value };
}

static void filter_load(struct program *program, size_t offset)
{
	filter_add(program, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

/* The number of the call is loaded, before and after. */
static void add_rule(struct program *program, const struct rule *rule)
{
	uint32_t outcome =
		rule->error ? SECCOMP_RET_ERRNO | (uint32_t)rule->error : SECCOMP_RET_ALLOW;
	uint32_t value = rule->value == OWN_PROCESS ? (uint32_t)getpid() : rule->value;

	filter_add(program, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)rule->call, 0, rule->mask ? 5 : 1);
	if (rule->mask) {
		/* The lower half: x86-64 has it first. */
		filter_load(program, offsetof(struct seccomp_data, args) +
					     rule->argument * sizeof(uint64_t));
		filter_add(program, BPF_ALU | BPF_AND | BPF_K, rule->mask, 0, 0);
		filter_add(program, BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
	}
	filter_add(program, BPF_RET | BPF_K, outcome, 0, 0);
	if (rule->mask)
		filter_load(program, offsetof(struct seccomp_data, nr));
}

static int filter_install(const struct rules *tables, size_t table_count)
{
	struct program program = { .count = 0 };
	struct sock_fprog filter = { .filter = program.items };

	filter_load(&program, offsetof(struct seccomp_data, arch));
	filter_add(&program, BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0);
	filter_add(&program, BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM, 0, 0);
	filter_load(&program, offsetof(struct seccomp_data, nr));
	/* Numbers of the x32 ABI are higher than any in the tables. */
	for (size_t i = 0; i < table_count; i++)
		for (size_t k = 0; k < tables[i].count; k++) {
			if (program.count > PROGRAM_MAX - INSTRUCTIONS_OF_RULE_MAX - 1)
				return -E2BIG;
			add_rule(&program, &tables[i].items[k]);
		}
	filter_add(&program, BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM, 0, 0);
	filter.len = program.count;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter))
		return errno == EINVAL ? -ENOTSUP : -errno;
	return 0;
}

int confinement_filter_files(void)
{
	const struct rules tables[] = { RULES(common_rules), RULES(file_rules) };

	return filter_install(tables, 2);
}

int confinement_filter_sender(void)
{
	const struct rules tables[] = { RULES(common_rules), RULES(file_rules), RULES(sender_rules),
					RULES(thread_rules) };

	return filter_install(tables, 4);
}

int confinement_filter_keeper(void)
{
	const struct rules tables[] = { RULES(common_rules), RULES(file_rules), RULES(sender_rules),
					RULES(thread_rules), RULES(keeper_rules) };

	return filter_install(tables, 5);
}

int confinement_filter_http(bool reads_target)
{
	const struct rules tables[] = { RULES(common_rules), RULES(http_rules), RULES(thread_rules),
					RULES(memory_rules) };

	return filter_install(tables, reads_target ? 4 : 3);
}

#endif
