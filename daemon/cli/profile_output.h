/* SPDX-License-Identifier: Apache-2.0 */
/* A profile into all files that are asked for, and for a person. */
#ifndef PIEPROFD_DAEMON_CLI_PROFILE_OUTPUT_H
#define PIEPROFD_DAEMON_CLI_PROFILE_OUTPUT_H

#include "common/error.h"
#include "daemon/cli/hint.h"
#include "daemon/cli/options.h"
#include "daemon/report/model/profile.h"

struct push;

/* Before anything is attached: EXIT_OK, or else why one of the files cannot be written is said. */
enum exit_code profile_output_check(const struct options *options);

/* What takes a while after sampling, on a terminal; NULL: done. */
void profile_output_step(const struct options *options, const char *step);

/* "Wrote x.html (104 KB), x.json (1.2 MB)". */
struct profile_output_note {
	char text[1024]; /* "": no file was written */
};

/* Writes every file asked for; the first failure's exit code. ret_note may be NULL. */
enum exit_code profile_output_files(const struct options *options, const struct profile *profile,
				    struct profile_output_note *ret_note);

/* One more that was written at path, "-" aside. */
void profile_output_note_file(struct profile_output_note *note, const char *path);

/*
 * The files, the summary and what there is to say; hint: of children, NULL: nothing; push: it is
 * sent there, too, NULL: nowhere. Takes the profile; NULL: it could not be made.
 */
enum exit_code profile_output_reports(const struct options *options, struct profile *profile,
				      struct hint_children *hint, struct push *push);

/* --strict: a degraded profile is written, but no success. */
enum exit_code profile_output_code(const struct options *options, bool degraded,
				   enum exit_code code);

#endif
