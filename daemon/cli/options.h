/* SPDX-License-Identifier: Apache-2.0 */
/* The command line, as plain data; options_parse.h reads it. */
#ifndef PIEPROFD_DAEMON_CLI_OPTIONS_H
#define PIEPROFD_DAEMON_CLI_OPTIONS_H

#include "daemon/heap/heap_threshold.h"
#include "daemon/push/push_protocol.h"
#include "daemon/report/diff/threshold.h"
#include "daemon/report/format/writer.h"
#include "daemon/report/model/access_filter.h"
#include "daemon/session/session_options.h"
#include "daemon/trace/span.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define OPTIONS_OUTPUTS_MAX      16
#define OPTIONS_PIDS_MAX         64
#define OPTIONS_THRESHOLDS_MAX   8
#define OPTIONS_PUSH_HEADERS_MAX 8

enum options_action {
	OPTIONS_RECORD,
	OPTIONS_DUMP,
	OPTIONS_HEAP,
	OPTIONS_REPORT,
	OPTIONS_TOP, /* record, shown live */
	OPTIONS_SERVE,
	OPTIONS_LIST,
	OPTIONS_DOCTOR,
	OPTIONS_MCP,
	OPTIONS_TRACE,
	OPTIONS_HELP,    /* print help on stdout and exit 0 */
	OPTIONS_VERSION, /* "pieprofd VERSION" */
};

struct options_output {
	const char *path;            /* "-": stdout */
	const struct writer *writer; /* NULL: of trace, which has its own */
};

struct fleet_label;

struct options {
	enum options_action action;
	pid_t pid; /* the first of pids; 0: none */
	pid_t pids[OPTIONS_PIDS_MAX];
	unsigned pid_count;
	const char *name;     /* --name; NULL: not given */
	const char *cgroup;   /* --cgroup, likewise */
	bool all;             /* of those that the name matches */
	bool all_python;      /* serve: every one of the machine */
	double node_overhead; /* serve: of all its CPU time; 0: not given */
	bool wait;            /* until there is one, and again when it has ended */
	bool strict;          /* fail where less could be measured than was asked for */
	bool follow;          /* children, too */
	char *const *command; /* to start, NULL-terminated; NULL: none */
	bool duration_given;
	uint64_t duration_ns; /* 0: until interrupted */
	double rate_hz;
	bool loads; /* both false: time alone */
	bool stores;
	bool waits;       /* also of threads that sleep */
	bool memory;      /* also where it comes from */
	bool allocations; /* and what is allocated, by probes */
	enum session_engine engine;
	bool redundancy_required; /* --mode redundancy: refuse when there are no breakpoints */
	double max_overhead;      /* 0.02 */
	int stop_signal;          /* 0: choose */
	bool quiet;               /* no summary on stdout, no progress */
	unsigned verbosity;
	enum {
		OPTIONS_COLOUR_AUTO,
		OPTIONS_COLOUR_ALWAYS,
		OPTIONS_COLOUR_NEVER
	} colour;
	struct options_output outputs[OPTIONS_OUTPUTS_MAX]; /* strings are borrowed from argv */
	unsigned output_count;
	struct span_list spans;          /* trace: what beside MPI */
	bool json;                       /* dump, list, doctor: for programs */
	bool for_tool;                   /* mcp: as text, a NUL, and JSON (mcp/call.h) */
	bool no_native;                  /* dump: Python frames alone */
	bool locals;                     /* dump: their variables, too */
	bool no_holders;                 /* heap: types alone */
	bool heap;                       /* top: also which containers grow */
	bool no_watch;                   /* heap: nothing is attached */
	uint64_t interval_ns;            /* heap: between two looks; 0: as seems right */
	struct heap_threshold at;        /* heap: how much memory there is to be first */
	uint64_t max_memory;             /* heap: bytes of our own; 0: as much as seems right */
	bool start_frames;               /* those by which the interpreter begins */
	bool native_lines;               /* source lines and inlined functions of native frames */
	bool no_kernel_frames;           /* nothing of where in the kernel time is spent */
	bool no_source;                  /* no text of source lines in reports */
	bool debuginfod;                 /* ask servers for debug files */
	struct access_patterns patterns; /* strings are borrowed from argv */
	bool details;                    /* the whole summary, not one screen of it */
	unsigned lines_max;              /* of the summary; 0: as fits */
	unsigned pairs_max;
	/* report: what is to be shown, together, and @LIST; heap: one look's JSON; argv's. */
	char *const *recordings;
	unsigned recording_count;
	bool of_traces;               /* report: they are traces, to be merged */
	const char *base;             /* report, heap: --diff; NULL: not asked for */
	const struct fleet_label *by; /* report: --by, likewise */
	struct options_threshold {
		const char *text;
		struct threshold threshold;
	} thresholds[OPTIONS_THRESHOLDS_MAX]; /* report: --fail-if */
	unsigned threshold_count;
	const char *source_root; /* --source-root; NULL: the working directory */
	const char *editor_url;  /* NULL: no links; likewise: */
	const char *source_url;
	char link_root[512]; /* "": not given */
	const char *listen;  /* serve: where, borrowed from argv */
	bool allow_remote;
	const char *token_file; /* NULL: none */
	const char *push;       /* where profiles are pushed to, borrowed; NULL: nowhere */
	const char *push_headers[OPTIONS_PUSH_HEADERS_MAX]; /* "NAME: VALUE" or "@FILE", likewise */
	unsigned push_header_count;
	const char *push_spool;   /* likewise; NULL: a temporary folder */
	const char *push_service; /* likewise; NULL: told from each process */
	const char *push_ca;      /* a file, likewise; NULL: the system's authorities */
	enum push_protocol push_protocol;
	uint64_t push_every_ns; /* serve: between two */
	uint64_t rotate_ns;     /* the age at which serve begins anew; 0: only when full */
	bool command_helped;    /* --help is about one command, help_command */
	enum options_action help_command;
};

#endif
