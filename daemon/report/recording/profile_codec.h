/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A profile as bytes and back: all that a writer reads, by the tables of
 * profile_fields.h.
 *
 *   strings  u64 size, then that many bytes: strings, each with its NUL; the
 *            file's other parts name them by number
 *   table    u32 name, u32 columns, u64 rows, then the columns
 *   column   u32 name, u16 kind, u16 width in bytes, then rows * width bytes
 *   table ...
 *
 * Numbers are little-endian. A string is a u32, UINT32_MAX is NULL. An array is
 * a u64, its length: its items lie in the table of the field's name, those of
 * the first row first.
 *
 * Bytes are hostile input: everything is checked before use, the memory taken
 * is a small multiple of their size, and what is accepted is a profile that
 * every writer can format.
 */
#ifndef PIEPROFD_DAEMON_REPORT_RECORDING_PROFILE_CODEC_H
#define PIEPROFD_DAEMON_REPORT_RECORDING_PROFILE_CODEC_H

#include "daemon/report/model/arena.h"
#include "daemon/report/model/profile.h"

#include <stdint.h>

#define PROFILE_BYTES_MAX ((size_t)512 << 20)

/* The caller frees. 0, -ENOMEM, or -EFBIG: over a limit above or in profile_fields.c. */
__attribute__((warn_unused_result)) int profile_encode(const struct profile *profile,
						       uint8_t **ret_bytes, size_t *ret_size);

/*
 * The profile's arrays and strings lie in the arena. 0, -ENOMEM, or -EBADMSG:
 * not what profile_encode() makes.
 */
__attribute__((warn_unused_result)) int profile_decode(const uint8_t *bytes, size_t size,
						       struct arena *arena,
						       struct profile *ret_profile);

#endif
