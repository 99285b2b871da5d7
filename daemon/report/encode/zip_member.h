/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One file out of a zip archive, such as a zipapp, as Python's zipimport finds it:
 *
 *   anything | local header, data | ... | central directory | its end, a comment
 *
 * The archive is hostile input. Plain archives only: no encryption, no zip64, no parts;
 * stored or deflated.
 */
#ifndef PIEPROFD_DAEMON_REPORT_ENCODE_ZIP_MEMBER_H
#define PIEPROFD_DAEMON_REPORT_ENCODE_ZIP_MEMBER_H

#include <stddef.h>

/* Of the central directory; archives with a larger one are refused. */
#define ZIP_DIRECTORY_MAX (16u << 20)

/*
 * fd is a regular file. *ret_text is the caller's to free, with a NUL behind *ret_size bytes. 0,
 * -ENOENT (no archive, or no such file in it), -E2BIG (larger than limit), -EBADMSG, -ENOTSUP,
 * -ENOMEM, or what reading said.
 */
__attribute__((warn_unused_result)) int zip_member_read(int fd, const char *name, size_t limit,
							char **ret_text, size_t *ret_size);

#endif
