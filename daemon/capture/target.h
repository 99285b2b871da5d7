/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The target as the daemon knows it: its memory, map, modules, interpreter.
 * Opening one reads only; nothing is attached yet.
 */
#ifndef PIEPROFD_DAEMON_CAPTURE_TARGET_H
#define PIEPROFD_DAEMON_CAPTURE_TARGET_H

#include "attach/clock_sample.h"
#include "attach/mapped_file.h"
#include "attach/process_memory.h"
#include "attach/target_files.h"
#include "common/error.h"
#include "common/mapping.h"
#include "pyintrospect/runtime.h"
#include "symbolize/perf_map.h"
#include "symbolize/struct_layout.h"
#include "symbolize/symbol.h"
#include "symbolize/unwinder.h"
#include "symbolize/unwinder_live.h"

#include <pthread.h>

struct target_sources;

struct target {
	pid_t pid;
	struct process_memory memory;
	struct copied_memory copied; /* shows the sample in hand to the sampling thread */
	struct memory_reader reader; /* of that, and of the live process */
	struct memory_reader
		code; /* of instruction bytes, from the modules' files: no system call */
	struct mapped_files mapped;
	struct mapping_opener opener;
	struct mapping_list mappings;
	struct module_table *modules;
	struct unwinder *unwinder;
	struct unwinder_live *live_unwinder; /* rationed, see capture.c */
	uint64_t live_unwound_ns;            /* when it was last used */
	struct symbolizer *symbolizer;
	struct target_files files;      /* outlive the process */
	struct debug_search search;     /* where debug files are looked for */
	struct target_sources *sources; /* of code without a file */
	struct perf_map *perf_map;      /* names of generated code */
	int perf_map_file;              /* -1: there is none yet; guarded by perf_map_lock */
	pthread_mutex_t perf_map_lock;  /* names are read while another thread refreshes */
	struct struct_layout *layout;
	struct debug_info interpreter_info;
	struct python_runtime *runtime;   /* NULL: refused, there are native frames alone */
	struct error python_refusal;      /* why */
	const struct module *interpreter; /* holds the evaluation loop */
	struct address_ranges eval; /* the evaluation loop, .cold part and handlers included */
	/*
	 * Interpreters that call from one instruction to the next (3.14+, when
	 * built so) run in these functions, each of which lies inside of a frame of
	 * the evaluation loop proper. None in other builds.
	 */
	struct address_ranges eval_handlers;
	struct address_ranges greenlet; /* the extension of that name; none: not loaded */
	remote_addr type_type;          /* &PyType_Type */
	uint32_t object_head;           /* python_runtime_object_head() */
	uint32_t *module_kinds;         /* by module index, see target_module_kind() */
	size_t module_kind_count;
};

/* What a module is to the redundancy detector. */
enum module_kind {
	MODULE_LIBRARY,     /* a native library: what Python code calls */
	MODULE_INTERPRETER, /* the python program or libpython */
	MODULE_LOADER,      /* ld.so, vdso */
	MODULE_LIBC,        /* libc, libpthread: belongs to whoever called it */
};

/*
 * download: ask the network for debug files. impersonator: who opens the files that
 * the target names, borrowed. layouts: what is kept for other targets with the same
 * files, borrowed; NULL: nothing. 0, or -1 with *error filled. target is the caller's
 * storage; deinit it in either case.
 */
__attribute__((warn_unused_result)) int target_init(struct target *target, pid_t pid, bool download,
						    struct impersonator *impersonator,
						    struct layout_cache *layouts,
						    struct error *error);
void target_deinit(struct target *target);

/*
 * Re-reads the map and takes over what changed: 0.3 to 12 ms, never while a
 * thread is stopped. 0 or a negative errno.
 */
int target_refresh(struct target *target);

/* What of it was not taken in, as it is more than we hold; the same thing may count many times. */
uint64_t target_left_out(const struct target *target);

/*
 * Reads what a JIT compiler has written of its functions' names since the last
 * call, and what the interpreter knows of code without a file. Before names are asked for, never
 * while a thread is stopped: a first reading may take a second. Works when the process has ended,
 * too.
 */
void target_read_names(struct target *target);

enum module_kind target_module_kind(const struct target *target, const struct module *module);

#endif
