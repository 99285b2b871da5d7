/* SPDX-License-Identifier: Apache-2.0 */
/* Paths of files for readers elsewhere: below a folder, and as URIs (RFC 3986). Pure. */
#ifndef PIEPROFD_DAEMON_REPORT_ENCODE_FILE_URI_H
#define PIEPROFD_DAEMON_REPORT_ENCODE_FILE_URI_H

/*
 * The part of the path that is below the folder, whose slashes at the end do not count; the path
 * itself where it is elsewhere, or there is no folder (NULL, "").
 */
const char *path_below(const char *path, const char *folder);

/*
 * "file:///home/a%20b.py" of an absolute path, "a%20b.py" of one that is not. The caller frees;
 * NULL: no memory.
 */
char *file_uri(const char *path);

#endif
