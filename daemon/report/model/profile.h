/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The finished profile: what every writer reads. Names are resolved, figures
 * computed, everything sorted; a writer only formats. The types alone: it is made
 * from the calling context tree (profile_build.h), from other profiles
 * (profile_merge.h) and from a recording (recording.h).
 */
#ifndef PIEPROFD_DAEMON_REPORT_MODEL_PROFILE_H
#define PIEPROFD_DAEMON_REPORT_MODEL_PROFILE_H

#include "common/process_labels.h"
#include "daemon/capture/loss.h"
#include "daemon/cct/frame_kind.h"
#include "daemon/report/model/category.h"
#include "daemon/report/model/line_evidence.h"
#include "daemon/sample/allocation_figures.h"
#include "daemon/sample/profile_times.h"
#include "daemon/sample/resident_figures.h"
#include "daemon/sample/stop_times.h"
#include "pyintrospect/runtime.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/types.h>

struct access_patterns;
struct argument_log;
struct finding;
struct line_info;
struct source_memory;

struct profile_frame {
	enum frame_kind kind;
	uint32_t flags;       /* enum frame_flag */
	const char *function; /* never NULL; "?" when unknown */
	const char *file; /* Python: source file; native: the library's path, "?" when unknown */
	int line;         /* 0: none, or unknown */
	const char *native_file;   /* native: source file; NULL: unknown */
	bool inlined;              /* native: has no stack frame of its own */
	const char *opcode;        /* Python; NULL: unknown */
	const char *source;        /* Python: text of the line, NULL when it cannot be read */
	uint64_t address;          /* native: ELF virtual address in the library */
	uint64_t function_address; /* native: where its function starts, likewise; 0: unknown */
	const char *build_id; /* native, in the tree: of the library, hexadecimal; NULL: none */
};

/* In the kernel: all of its own time is TIME_SYSTEM. */
static inline bool profile_frame_is_kernel(const struct profile_frame *frame)
{
	return frame->kind == FRAME_NATIVE && !strcmp(frame->file, FRAME_KERNEL_FILE);
}

struct profile_line {
	const char *file;
	int line;
	const char *function;
	const char *source; /* NULL: unreadable */
	int indent;         /* bytes of white space that source lacks at its start; -1: unknown */
	uint64_t self_ns[TIME_CLASS_COUNT]; /* the line is the innermost Python frame */
	struct side_time side;              /* likewise */
	uint64_t total_ns; /* the line is anywhere on the stack, counted once a sample */
	/* Its own time and that of library wrappers charged to it (line_stats.h); as all that
	 * follows. */
	uint64_t charged_ns;
	struct access_counts accesses[PAIR_KIND_COUNT]; /* earlier access here */
	uint64_t avoidable_ns;                          /* at most charged_ns */
	uint64_t avoidable_low_ns, avoidable_high_ns;   /* 95% interval */
	uint64_t call_ns; /* typical duration of the native calls made from here; 0: unknown */
	struct line_evidence evidence;
	enum category category;
	const char *reasons[8];
	size_t reason_count;
	/* Of the expression that the arguments speak of; NULL: of none. */
	const char *finding;    /* a sentence */
	uint64_t finding_ns;    /* time of the samples that it is founded on */
	const char *expression; /* its text */
	const char *example;    /* what the change looks like (argument_example.h); NULL: none */
	/* Bytes of the line, from 0, white space at its start included; -1: unknown, as before
	 * Python 3.11. line_mark.h has where that is in source. */
	int column, end_column;
	int end_line; /* 0: unknown */
};

struct profile_function {
	const char *file;
	const char *function;
	int line; /* the first one that was seen of it */
	uint64_t self_ns[TIME_CLASS_COUNT];
	struct side_time side;
	uint64_t total_ns; /* once a sample, also in recursion */
	struct access_counts accesses[PAIR_KIND_COUNT];
	uint64_t avoidable_ns; /* the sum of its lines' */
};

struct profile_pair {
	enum pair_kind kind;
	uint64_t watched;   /* all watches that began at the first path */
	uint64_t sampled;   /* of them, those that ended in the second */
	uint64_t redundant; /* exact */
	uint64_t approximate;
	double share;                 /* redundant / sampled */
	double share_low, share_high; /* 95% interval (Wilson) */
	uint64_t avoidable_ns;
	uint64_t support[CATEGORY_SUPPORTED_COUNT]; /* redundant accesses that speak for each
						       category */
	enum category category;
	const char *advice;
	const struct profile_frame *first; /* outermost first */
	size_t first_count;
	const struct profile_frame *second;
	size_t second_count;
	const struct profile_line
		*line; /* of the first path's innermost Python frame; NULL: none */
};

/*
 * The calling context tree as a reader sees it: nodes that a reader could not
 * tell apart (place.h) are one, and every node has a sample in it or below, or
 * else time waiting.
 *
 * Nodes are in preorder, siblings by kind, function, file, line and address:
 * a parent goes before its children, and a node's subtree ends before the next
 * node that is not deeper than itself. The times of all nodes add up to the
 * profile's time_ns; samples in the kernel that came to light together count as
 * one. Time without any stack is in a node of an unknown frame.
 *
 * A native frame is a function, so its address is the function's start where
 * that is known, and its line, when asked for, is the function's first.
 */
#define PROFILE_NODE_NONE UINT32_MAX

struct profile_node {
	uint32_t parent;                    /* index; PROFILE_NODE_NONE: outermost */
	uint32_t frame;                     /* index into frames */
	uint32_t depth;                     /* 0: outermost */
	uint32_t flags;                     /* enum frame_flag, those that hold for every sample */
	uint64_t samples[TIME_CLASS_COUNT]; /* that ended here */
	uint64_t time_ns[TIME_CLASS_COUNT];
	struct side_time side; /* of what ended here */
};

/*
 * A tree that is larger loses those of its nodes with least time, which is
 * folded into their parents: more nodes, or more frames when every stack is
 * written out by itself.
 */
#define PROFILE_NODES_MAX        (1u << 18)
#define PROFILE_STACK_FRAMES_MAX (1u << 25)

struct profile_tree {
	const struct profile_frame *frames; /* in order of first use */
	size_t frame_count;
	const struct profile_node *nodes;
	size_t node_count;
	size_t nodes_folded;
};

/* A line of a source file, with the white space at its start. */
struct profile_text {
	int line;
	const char *text;
};

/* A source file whose lines are shown, as it was when it was read. */
struct profile_source {
	const char *file;
	const char *sha256; /* hexadecimal; "": the file is longer than what is read of it */
	uint64_t size;
	uint64_t modified_unix_ns;
	bool newer_than_process;          /* what runs may be an older text */
	const struct profile_text *texts; /* by line: functions with lines of the profile */
	size_t text_count;
	/* Set by profile_sources_compare() alone: now there is another text in the file. */
	bool differs_now;
};

/* How a process came to its end, if it did. */
enum process_end {
	PROCESS_RUNNING,
	PROCESS_EXITED,   /* status: its exit code */
	PROCESS_KILLED,   /* status: the signal */
	PROCESS_REPLACED, /* it called exec: another program now */
};

/* What a process runs in, as attach/container.h tells it; all "": in none. */
struct profile_container {
	char runtime[16];
	char id[65];
	char name[128]; /* "": not known */
};

struct profile_target {
	pid_t pid;
	pid_t parent;
	uint64_t start_time; /* of the process, in clock ticks after boot */
	enum process_end end;
	int end_status;
	char comm[16];
	struct python_version python;
	const char *const *command; /* NULL-terminated */
	struct profile_container container;
	struct process_labels labels;
	/* The machine. */
	char host[65];       /* "": unknown */
	uint32_t processors; /* 0: unknown */
};

/* One of several processes in a profile. */
struct profile_process {
	pid_t pid; /* 0: all those for which there was no room */
	pid_t parent;
	enum process_end end;
	int end_status;
	const char *command; /* its words with spaces between them, cut */
	struct profile_container container;
	struct process_labels labels;
	uint64_t started_unix_ns; /* when sampling began */
	uint64_t samples;
	uint64_t time_ns[TIME_CLASS_COUNT];
};

/* What the session knows and the tree does not. */
struct profile_facts {
	struct profile_target target;
	const char *version;        /* of pieprofd */
	const char *sampler;        /* "clock", "unstopped" */
	const char *sampler_limits; /* what it cannot see, in words; NULL: see the manual */
	/* Threads that waited for each other in a circle at the end, a line of words each; NULL:
	 * none was seen. */
	const char *deadlock;
	uint64_t period_ns;
	uint64_t wanted_period_ns;        /* as asked for: at most that; 0: not known */
	uint64_t started_unix_ns;         /* when sampling began, since 1970 UTC; 0: unknown */
	uint64_t process_started_unix_ns; /* at the latest; 0: unknown */
	uint64_t duration_ns;
	uint64_t samples;
	struct losses losses;
	struct stop_times stops;            /* all of them, and by what stopped the thread: */
	struct stop_times sample_stops;     /* a sample is due, and perhaps an access looked for */
	struct stop_times breakpoint_stops; /* an access is followed */
	const struct stop_histograms *stop_histograms; /* behind these; NULL: none */
	uint64_t lost_ns;   /* to stops, waking up from them, and events beside them */
	uint64_t cpu_ns;    /* that the target used meanwhile, by its own clock */
	uint64_t queued_ns; /* that its threads were ready to run and had no CPU (queued_time.h) */
	/* Meanwhile (cpu_supply.h): its control group was throttled; the machine's processors. */
	uint64_t throttled_ns, machine_idle_ns, machine_ns;
	/* Looks at the arguments of running threads (pipeline_peek.c): all, that could be used, and
	 * of those, where the thread waited. */
	uint64_t peeks, peeks_seen, peeks_waited;
	double overhead; /* lost_ns over the target's CPU time */
	double overhead_limit;
	bool target_exited;
	bool unfinished;        /* sampling went on when this was made */
	bool other_root;        /* paths are those of another root or mount namespace than ours */
	bool waits;             /* threads that sleep were looked at: side times have waiting */
	bool memory;            /* page faults were sampled: side times have fresh memory */
	bool copies;            /* side times have what was copied */
	bool allocations;       /* and what was allocated while there were probes */
	bool malloc_unseen;     /* but not by malloc() */
	uint64_t small_objects; /* enum allocator_view, of the interpreter's own; the worst */
	struct allocation_counts_sum allocation_counts; /* with allocations */
	bool gil_known;                                 /* who holds the GIL could be told */
	bool native_unknown;      /* of some process: TIME_PYTHON is all of its time in user code */
	bool queued_known;        /* queued_ns is */
	bool kernel_time_refused; /* of some thread: then its time in the kernel is missing */
	bool all_pairs;           /* also those that are never redundant: for merging */
	const struct access_patterns *patterns; /* whose accesses count; NULL: all */
	struct line_info *line_info; /* source lines of native frames; NULL: not asked for */
	const struct argument_log *arguments; /* borrowed while it is built; NULL: none */
	const struct profile_thread *threads; /* by their time; those without are not there */
	size_t thread_count;
	struct resident_figures resident; /* with memory */
	/*
	 * By thread: index into threads. By node: to profile_build() its id in the
	 * cct, in a finished profile its index in the tree. The slices of the first
	 * are those of the second, or an even part of them.
	 */
	struct profile_timeline thread_timeline, node_timeline;
	/*
	 * What each thread did where: indices as above; in a finished profile by thread, then node.
	 * A node may have more time than its stacks: of whatever else is not known which thread it
	 * was (all of it, in older recordings). By stack: its time
	 * over the run.
	 */
	const struct profile_stack *stacks;
	size_t stack_count;
	struct profile_timeline stack_timeline;
	bool start_frames; /* to profile_build(): with those of the interpreter's start */
	/* Reads source lines as the target sees them; may be NULL. Returns an fd or -errno. */
	int (*open_source)(void *context, const char *path);
	void *open_source_context;
	const struct source_memory *source_memory; /* NULL: every name is a file's */
};

/* Pairs and the frames of their paths that are written out; all count for their lines. */
#define PROFILE_PAIRS_MAX       4096
#define PROFILE_PAIR_FRAMES_MAX (1u << 20)

struct profile {
	struct profile_facts facts;
	const struct profile_line *lines; /* by total_ns, then file, then line */
	size_t line_count;
	const struct profile_function *functions; /* likewise */
	size_t function_count;
	const struct profile_pair
		*pairs; /* redundant at least once; by avoidable_ns, then redundant, then paths */
	size_t pair_count;
	size_t pairs_omitted; /* further ones, behind those by rank: over the limits above */
	struct profile_tree tree;
	const struct profile_source *sources; /* by file */
	size_t source_count;
	/* Of several (profile_merge.h), by their time; none in a profile of one process. */
	const struct profile_process *processes;
	size_t process_count;
	uint64_t time_ns[TIME_CLASS_COUNT]; /* of the whole run */
	struct side_time side;              /* likewise; of all threads */
	uint64_t gil_ns;                    /* of all threads, see facts.gil_known */
	struct access_counts accesses[PAIR_KIND_COUNT];
	/* Made of all that, once (findings_make()); NULL: not made. */
	const struct finding *findings;
	size_t finding_count;
};

/* A free-threaded build that ran without: nothing is said of it. */
static inline bool profile_has_no_gil(const struct profile_facts *facts)
{
	return facts->target.python.free_threaded && !facts->gil_known;
}

/* Whoever made it. NULL: nothing. */
void profile_destroy(struct profile *profile);

#endif
