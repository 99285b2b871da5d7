/* SPDX-License-Identifier: Apache-2.0 */
/* A profile into all files that are asked for, and for a person. */
#ifndef PIEPROFD_DAEMON_CLI_PROFILE_OUTPUT_H
#define PIEPROFD_DAEMON_CLI_PROFILE_OUTPUT_H

#include "common/error.h"
#include "daemon/cli/hint.h"
#include "daemon/cli/options.h"
#include "daemon/report/model/profile.h"

/* What takes a while after sampling, on a terminal; NULL: done. */
void profile_output_step(const struct options *options, const char *step);

/* Writes every file asked for; the first failure's exit code. */
enum exit_code profile_output_files(const struct options *options, const struct profile *profile);

/*
 * The files, the summary and what there is to say; hint: of children, NULL: nothing. Takes the
 * profile; NULL: it could not be made.
 */
enum exit_code profile_output_reports(const struct options *options, struct profile *profile,
				      struct hint_children *hint);

/* --strict: a degraded profile is written, but no success. */
enum exit_code profile_output_code(const struct options *options, bool degraded,
				   enum exit_code code);

#endif
