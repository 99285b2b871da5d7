/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recordings: a profile in a compressed file of our own, from which every
 * other format can be made later, on another machine, without the target.
 *
 *    0  8 bytes  89 'P' 'I' 'E' 'P' 'R' 'O' 0a
 *    8  u32      version
 *   12  u32      CRC-32 of bytes 16 to 39
 *   16  u64      bytes of the payload, which goes up to the end of the file
 *   24  u64      bytes of the profile (profile_codec.h)
 *   32  u32      CRC-32 of the payload
 *   36  u32      0
 *   40           payload: the profile, compressed by zstd
 *
 * Little-endian. One file holds one profile and is always replaced as a whole
 * (output_file.h): while a session goes on, its recording is written anew now and
 * then, so that what is there when the daemon is killed is the last one.
 */
#ifndef PIEPROFD_DAEMON_REPORT_RECORDING_RECORDING_H
#define PIEPROFD_DAEMON_REPORT_RECORDING_RECORDING_H

#include "common/error.h"
#include "daemon/report/format/writer.h"
#include "daemon/report/model/arena.h"
#include "daemon/report/model/profile.h"

#include <stdio.h>

#define RECORDING_VERSION 1

extern const struct writer writer_recording;

/* bytes: what profile_encode() made. 0, -ENOMEM or -EIO. */
__attribute__((warn_unused_result)) int recording_put(const uint8_t *bytes, size_t size,
						      FILE *file);

struct recording {
	struct profile profile; /* in the arena */
	struct arena arena;
};

/* NULL with *error filled. */
struct recording *recording_open(const char *path, struct error *error);
void recording_close(struct recording *recording);

#endif
