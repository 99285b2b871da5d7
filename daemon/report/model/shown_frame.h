/* SPDX-License-Identifier: Apache-2.0 */
/* A frame as reports show it, from the frame and the place that it was found to be. */
#ifndef PIEPROFD_DAEMON_REPORT_MODEL_SHOWN_FRAME_H
#define PIEPROFD_DAEMON_REPORT_MODEL_SHOWN_FRAME_H

#include "daemon/report/model/place.h"
#include "daemon/report/model/profile.h"
#include "daemon/report/model/source.h"

/* Its strings are the place's and the cache's. Addresses become those of the ELF file. */
struct profile_frame shown_frame(const struct frame *frame, const struct place *place,
				 struct source_cache *sources);

#endif
