/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * For programs that run in the kernel: which PyThreadState the thread has that they run in, and how
 * memory of its process is read. All that is read is the target's: hostile, so that every link is
 * followed so many times at most.
 */
#ifndef PIEPROFD_ATTACH_BPF_PYTHON_THREAD_H
#define PIEPROFD_ATTACH_BPF_PYTHON_THREAD_H

#include "attach/bpf/clock_record.h"

#include <linux/bpf.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#define THREADS_MAX      16384
#define NAMESPACES_MAX   32
#define SEARCH_STEPS_MAX 512
#define SEARCH_AGAIN_NS  100000000ull
/* Calls of the evaluation loop from C that are looked at. */
#define CFRAMES_MAX 64

/* Of the kernel's structures, the members that are asked for: found by name when loading. */
#define KERNEL_LAYOUT __attribute__((preserve_access_index))

struct ns_common {
	unsigned int inum;
} KERNEL_LAYOUT;

struct pid_namespace {
	struct ns_common ns;
} KERNEL_LAYOUT;

struct upid {
	int nr;
	struct pid_namespace *ns;
} KERNEL_LAYOUT;

struct pid {
	unsigned int level;
	struct upid numbers[1];
} KERNEL_LAYOUT;

struct thread_struct {
	unsigned long fsbase;
} KERNEL_LAYOUT;

struct task_struct {
	unsigned int __state;
	int pid;
	int tgid;
	struct task_struct *group_leader;
	struct pid *thread_pid;
	__u64 start_time;
	struct thread_struct thread;
} KERNEL_LAYOUT;

struct known_thread {
	__u64 state;       /* 0: has none */
	__u64 searched_ns; /* for it */
};

/* By thread, as the daemon's namespace or the machine numbers it. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, THREADS_MAX);
	__type(key, __u32);
	__type(value, struct known_thread);
} threads SEC(".maps");

static __always_inline __u64 user_word(__u64 address)
{
	__u64 word = 0;

	/* Zero where there is none. */
	(void)bpf_probe_read_user(&word, sizeof(word), (void *)address);
	return word;
}

/* ---- whose thread it is ---- */

/* A task's number in the namespace with that inode, and in its own. 0: it has none there. */
static __always_inline __u32 number_of(struct pid *pid, __u32 namespace_inode, __u32 *ret_inner)
{
	__u32 level = BPF_CORE_READ(pid, level), number = 0;
	const __u8 *numbers = (const __u8 *)pid + bpf_core_field_offset(struct pid, numbers);

	*ret_inner = 0;
	for (__u32 i = 0; i < NAMESPACES_MAX && i <= level; i++) {
		struct upid *at = (struct upid *)(numbers + i * bpf_core_type_size(struct upid));
		int nr = BPF_CORE_READ(at, nr);

		if (BPF_CORE_READ(at, ns, ns.inum) == namespace_inode)
			number = (__u32)nr;
		if (i == level)
			*ret_inner = (__u32)nr;
	}
	return number;
}

/* As its own namespace numbers it. */
static __always_inline __u32 inner_number(struct task_struct *task)
{
	struct pid *pid = BPF_CORE_READ(task, thread_pid);
	__u32 level = BPF_CORE_READ(pid, level);
	const __u8 *numbers = (const __u8 *)pid + bpf_core_field_offset(struct pid, numbers);
	struct upid *at;

	if (level >= NAMESPACES_MAX)
		return 0;
	at = (struct upid *)(numbers + level * bpf_core_type_size(struct upid));
	return (__u32)BPF_CORE_READ(at, nr);
}

/* ---- its PyThreadState ---- */

struct search {
	__u64 interpreter;
	__u64 thread;
	__u64 sought; /* native id or pthread */
	__u64 found;
	/* Of the interpreter, as struct clock_config has them. */
	__u32 interpreter_next, interpreter_threads, thread_next;
	__u32 identity;
};

static __always_inline __u32 identity_offset(const struct clock_config *config)
{
	return config->thread_native_id != CLOCK_ABSENT ? config->thread_native_id
							: config->thread_pthread;
}

/* By which a PyThreadState says that it is that thread's. */
static __always_inline __u64 identity_of(const struct clock_config *config,
					 struct task_struct *task, __u32 inner_tid)
{
	return config->thread_native_id != CLOCK_ABSENT ? inner_tid
							: BPF_CORE_READ(task, thread.fsbase);
}

/* Threads in front are the newest. */
static long search_step(__u32 index, struct search *search)
{
	if (!search->thread) {
		search->interpreter = user_word(search->interpreter + search->interpreter_next);
		if (!search->interpreter)
			return 1;
		search->thread = user_word(search->interpreter + search->interpreter_threads);
		return 0;
	}
	if (user_word(search->thread + search->identity) == search->sought) {
		search->found = search->thread;
		return 1;
	}
	search->thread = user_word(search->thread + search->thread_next);
	return 0;
}

static __always_inline __u64 find_state(const struct clock_config *config, __u32 tid, __u64 sought,
					__u64 now_ns)
{
	struct known_thread *known = bpf_map_lookup_elem(&threads, &tid), found = { 0 };
	struct search search = {
		.sought = sought,
		.interpreter_next = config->interpreter_next,
		.interpreter_threads = config->interpreter_threads,
		.thread_next = config->thread_next,
		.identity = identity_offset(config),
	};

	/* Left over from a thread of the same number, perhaps: it is asked who it is. */
	if (known && known->state && user_word(known->state + search.identity) == sought)
		return known->state;
	if (known && !known->state && now_ns - known->searched_ns < SEARCH_AGAIN_NS)
		return 0;
	search.interpreter = user_word(config->interpreters);
	/* Not left to the first step: 6.1's verifier plays one step alone, from what is known
	 * before it, and takes code out that is not run then: with no thread to begin with, all
	 * that looks at one. */
	if (search.interpreter)
		search.thread = user_word(search.interpreter + search.interpreter_threads);
	bpf_loop(SEARCH_STEPS_MAX, search_step, &search, 0);
	found.state = search.found;
	found.searched_ns = now_ns;
	bpf_map_update_elem(&threads, &tid, &found, BPF_ANY);
	return search.found;
}

/* The innermost frame of a thread; 0: it runs no Python. */
static __always_inline __u64 innermost_frame(const struct clock_config *config, __u64 state)
{
	if (config->thread_cframe == CLOCK_ABSENT)
		return user_word(state + config->thread_frame);
	return user_word(user_word(state + config->thread_cframe) + config->cframe_current);
}

#endif
