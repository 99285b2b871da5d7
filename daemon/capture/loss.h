/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everything that was seen and could not be used, by reason. Failure is data:
 * each reason has a counter, and every report shows those that are not zero.
 */
#ifndef PIEPROFD_DAEMON_CAPTURE_LOSS_H
#define PIEPROFD_DAEMON_CAPTURE_LOSS_H

#include <stdint.h>

/* X(enumerator, name in JSON, words in the text report) */
#define LOSSES(X)                                                                                  \
	X(LOSS_NO_PYTHON_THREAD, "no_python_thread", "samples of threads without Python state")    \
	X(LOSS_PYTHON_TRUNCATED, "python_truncated", "Python stacks truncated")                    \
	X(LOSS_PYTHON_INVALID, "python_invalid", "Python stacks that failed a check")              \
	X(LOSS_PYTHON_UNREADABLE, "python_unreadable", "Python stacks that could not be read")     \
	X(LOSS_PYTHON_MOVED, "python_moved",                                                       \
	  "samples charged to a caller: the functions inside ended while they were read")          \
	X(LOSS_PYTHON_TORN, "python_torn", "samples whose Python stack changed too fast to read")  \
	X(LOSS_NATIVE_TRUNCATED, "native_truncated", "native stacks that end early")               \
	X(LOSS_MERGE_FAILED, "merge_failed", "stacks whose Python and native parts do not match")  \
	X(LOSS_TREE_FULL, "tree_full", "samples dropped because the tree reached its limit")       \
	X(LOSS_TARGET_LIMIT, "target_limit",                                                       \
	  "mappings, files, names, code objects, threads or variables of the target beyond what "  \
	  "is held")                                                                               \
	X(LOSS_STOP_ABANDONED, "stop_abandoned",                                                   \
	  "stops cut short: the thread would have waited too long for us")                         \
	X(LOSS_STRAY_TRAP, "stray_trap",                                                           \
	  "debug exceptions of which the processor did not say what for; kept from the target")    \
	X(LOSS_STOP_SIGNAL_BLOCKED, "stop_signal_blocked",                                         \
	  "threads read without stops, in which redundancy is not watched: they block the stop "   \
	  "signal")                                                                                \
	X(LOSS_STOP_SIGNAL_PENDING, "stop_signal_pending",                                         \
	  "stop signals left pending in threads that came to block them while sampled")            \
	X(LOSS_THREAD_EVENTS, "thread_events", "threads not sampled: perf events refused")         \
	X(LOSS_RING_FULL, "ring_full",                                                             \
	  "samples lost: they came faster than they were taken, or the daemon was held up")        \
	X(LOSS_THREAD_MEMORY, "thread_memory",                                                     \
	  "threads not sampled, or not always: no more memory may be locked for their events "     \
	  "(ulimit -l, or sysctl kernel.perf_event_mlock_kb); those that run come first")          \
	X(LOSS_THREAD_FILES, "thread_files",                                                       \
	  "threads not sampled, or not always: too many open files (ulimit -n); those that run "   \
	  "come first")                                                                            \
	X(LOSS_SYSTEM_UNPLACED, "system_unplaced",                                                 \
	  "samples in the kernel charged to the last known line: its return was not seen")         \
	X(LOSS_KERNEL_UNNAMED, "kernel_unnamed",                                                   \
	  "samples in the kernel whose functions there have no names")                             \
	X(LOSS_NO_BREAKPOINT, "no_breakpoint", "memory samples dropped: no free breakpoint")       \
	X(LOSS_MEMORY_EVENTS, "memory_events",                                                     \
	  "threads without memory samples: the PMU was refused")                                   \
	X(LOSS_SKID, "skid", "memory samples dropped: stopped in another function than sampled")   \
	X(LOSS_NO_ACCESS, "no_access", "memory samples dropped: no access to watch found ahead")   \
	X(LOSS_NO_BOUNDARY, "no_boundary",                                                         \
	  "memory samples dropped: interpreter not found on the stack")                            \
	X(LOSS_FILTER_INTERPRETER, "filter_interpreter",                                           \
	  "filtered: the interpreter's own accesses")                                              \
	X(LOSS_FILTER_OBJECT_HEAD, "filter_object_head",                                           \
	  "filtered: reference counts and object types")                                           \
	X(LOSS_FILTER_STACK, "filter_stack", "filtered: the thread's own stack")                   \
	X(LOSS_FILTER_LOADER, "filter_loader", "filtered: the dynamic linker")                     \
	X(LOSS_FILTER_COLLECTOR, "filter_collector", "filtered: the garbage collector")            \
	X(LOSS_FILTER_ALLOCATOR, "filter_allocator", "filtered: the memory allocator's own")       \
	X(LOSS_FILTER_TLS, "filter_tls", "filtered: thread-local variables")                       \
	X(LOSS_FILTER_USER, "filter_user", "filtered: by --include and --exclude")                 \
	X(LOSS_BOUNDARY_MISSED, "boundary_missed", "native calls whose return was not seen")       \
	X(LOSS_WATCH_EVICTED, "watch_evicted", "watches given up for a newer sample")              \
	X(LOSS_EVENT_LATE, "event_late",                                                           \
	  "watches given up: stopped only after another signal's handler began")                   \
	X(LOSS_WATCH_BUDGET, "watch_budget", "watches given up: too many traps by others")         \
	X(LOSS_WATCH_TURNS, "watch_turns",                                                         \
	  "watches given up: too many turns of their thread on a processor")                       \
	X(LOSS_WATCH_CANCELLED, "watch_cancelled",                                                 \
	  "watches given up: their thread ended, or sampling paused or ended")                     \
	X(LOSS_TRAP_UNDECODED, "trap_undecoded",                                                   \
	  "traps whose instruction could not be identified")                                       \
	X(LOSS_PROCESS_UNSEEN, "process_unseen",                                                   \
	  "child processes that ended before they could be profiled")                              \
	X(LOSS_PROCESS_NOT_PYTHON, "process_not_python",                                           \
	  "child processes not profiled: they run no CPython that can be read")                    \
	X(LOSS_PROCESS_REFUSED, "process_refused",                                                 \
	  "child processes not profiled: not permitted, or too many at a time")                    \
	X(LOSS_FILE_LOST, "file_lost",                                                             \
	  "files of the target that were cut short while they were read: names may be missing")    \
	X(LOSS_OVERHEAD_LIMIT, "overhead_limit",                                                   \
	  "memory samples skipped to stay under the overhead limit")                               \
	X(LOSS_SOURCE_DENIED, "source_denied",                                                     \
	  "source files not read: the target itself may not read them")                            \
	X(LOSS_SOURCE_REFUSED, "source_refused",                                                   \
	  "source files not read: pieprofd may not act as the target's user, which takes root, "   \
	  "or "                                                                                    \
	  "CAP_SETUID and CAP_SETGID")                                                             \
	X(LOSS_SOURCE_UNANSWERED, "source_unanswered",                                             \
	  "source files not read: their file system did not answer in time")

enum loss {
#define X(enumerator, name, words) enumerator,
	LOSSES(X)
#undef X
	LOSS_COUNT
};

struct losses {
	uint64_t counts[LOSS_COUNT];
};

const char *loss_name(enum loss loss);
const char *loss_words(enum loss loss);

#endif
