/* SPDX-License-Identifier: Apache-2.0 */
/* A function for each command of the program; what goes wrong is said on stderr. */
#ifndef PIEPROFD_DAEMON_CLI_COMMANDS_H
#define PIEPROFD_DAEMON_CLI_COMMANDS_H

#include "common/error.h"
#include "daemon/cli/options.h"

/* debuginfod: DEBUGINFOD_URLS was set when the program began. */
enum exit_code doctor_command(const struct options *options, bool debuginfod);
enum exit_code dump_command(const struct options *options);
/* A client of the Model Context Protocol, which has the commands as tools. */
enum exit_code mcp_command(const struct options *options);
/* One look at the memory of a process: where it is, and who holds it. */
enum exit_code heap_command(struct options *options);
enum exit_code list_command(const struct options *options);
/* An exit code: with a command, the command's own. */
int record_command(struct options *options);
/* A recording in another format, or what changed between two. */
enum exit_code report_command(const struct options *options);
/*
 * One process, profiled for as long as it lives, for whoever asks over HTTP. The
 * caller's thread looks after the sampler, slow connections, signals and systemd;
 * others answer (serve/server.h).
 */
enum exit_code serve_command(struct options *options);
/*
 * MPI calls of processes as events, by breakpoints in their MPI library. An exit code: with a
 * command, the command's own.
 */
int trace_command(struct options *options);
/* One process, shown live until it is left; then the summary. */
enum exit_code top_command(struct options *options);

#endif
