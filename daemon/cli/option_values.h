/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a word of the command line means as an option's value. Each kind of value
 * has a function, which option_table.h names in the rows of the options that take it.
 */
#ifndef PIEPROFD_DAEMON_CLI_OPTION_VALUES_H
#define PIEPROFD_DAEMON_CLI_OPTION_VALUES_H

#include "daemon/cli/options.h"

#include <stdio.h>

enum option_mode {
	OPTION_MODE_ALL,
	OPTION_MODE_TIME,
	OPTION_MODE_REDUNDANCY,
};

/* The options as read so far, and what is settled when all are read. */
struct option_parser {
	struct options options;
	FILE *errors;
	enum option_mode mode;
	const struct writer *format; /* --format; NULL: by extension */
	bool loads_asked, stores_asked;
};

/* An option on the command line. */
struct option_use {
	const char *name; /* without its dashes */
	const char *text; /* its value, borrowed from argv; NULL: it takes none */
	void *to;         /* what the row in the table has it change; NULL: the function knows */
};

/* 0, or -1 when it was refused. */
typedef int option_parse(struct option_parser *parser, const struct option_use *use);

/* One line on errors, which ends with where to read more. -1. */
__attribute__((format(printf, 2, 3))) int options_refuse(const struct option_parser *parser,
							 const char *format, ...);

/* Seconds, or with a unit: "90", "0.5s", "10m", "1h", "2d". */
bool option_seconds(const char *text, double *ret_seconds);

/* A whole number, without a sign, within these limits. */
bool option_whole(const char *text, long minimum, long maximum, long *ret_value);

option_parse option_flag; /* to: a bool, becomes true */
option_parse option_more; /* to: an unsigned, is counted up */
option_parse option_fail_if;
option_parse option_text; /* to: a const char *, borrows the value */
option_parse option_rows; /* to: an unsigned */
option_parse option_size; /* to: a uint64_t, bytes */
option_parse option_at;   /* "80%" or bytes */
option_parse option_help, option_version;
option_parse option_pid, option_name, option_cgroup;
option_parse option_duration, option_interval, option_rate, option_rotate, option_max_overhead,
	option_stop_signal;
option_parse option_by, option_node_overhead, option_output, option_format, option_editor,
	option_source_url, option_mode, option_engine, option_colour;
option_parse option_include, option_exclude;
option_parse option_probe, option_events, option_counters, option_functions, option_depth,
	option_least;
option_parse option_push, option_push_every, option_push_header, option_push_protocol;

#endif
