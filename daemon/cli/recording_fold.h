/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recordings folded into one profile, one after the other: memory is that of the fold
 * (profile_merge.h has its bounds) and of one recording, however many there are, and the time is
 * that of reading them.
 *
 * Up to RECORDING_FOLD_APART processes have a frame each; of more, those of a service, or of a
 * program, are one (profile_merge_set_fleet()).
 */
#ifndef PIEPROFD_DAEMON_CLI_RECORDING_FOLD_H
#define PIEPROFD_DAEMON_CLI_RECORDING_FOLD_H

#include "common/error.h"
#include "daemon/report/diff/spread.h"
#include "daemon/report/merge/profile_merge.h"
#include "daemon/report/model/arena.h"
#include "daemon/report/recording/recording.h"

#define RECORDING_FOLD_APART 64

struct recording_fold {
	struct profile *profile;
	struct recording *recording; /* NULL: of several */
	struct profile_merge *merge;
	struct arena arena; /* of several: for marks on the sources */
	/* Of the parts. */
	struct profile_facts facts;
	bool one_process;
	uint64_t duration_ns;
	struct spread *spread; /* between the parts; NULL: of one, or not asked for */
};

/* Says on stderr what goes wrong and, unless it is quiet or there are too many, which recordings
 * are unfinished. with_spread: between them (spread.h). */
enum exit_code recording_fold_open(struct recording_fold *fold, const char *const *paths,
				   size_t count, bool with_spread, bool quiet);
/* Also of one that failed to open. */
void recording_fold_close(struct recording_fold *fold);

/* NULL, and it is said why on stderr. */
struct recording *recording_fold_read(const char *path, enum exit_code *ret_code);

/* 0 or -ENOMEM: notes which sources are other ones by now. */
__attribute__((warn_unused_result)) int recording_fold_mark_sources(struct recording_fold *fold);

#endif
