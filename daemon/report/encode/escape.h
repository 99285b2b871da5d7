/* SPDX-License-Identifier: Apache-2.0 */
/* Strings of the target on their way into files, whole where printable.h cuts them to a width. */
#ifndef PIEPROFD_DAEMON_REPORT_ENCODE_ESCAPE_H
#define PIEPROFD_DAEMON_REPORT_ENCODE_ESCAPE_H

#include <stddef.h>
#include <stdio.h>

/*
 * The text as printable.h shows it, and each byte `also` ('\0': none), which
 * must be ASCII, as \xNN. The caller frees; NULL: no memory.
 */
char *escape_printable(const char *text, char also);

/* The same into a file; "?" stands for what there is no memory for. */
void escape_put(FILE *file, const char *text);

/* A JSON string in quotation marks, ASCII; bytes that are not UTF-8 become U+FFFD. */
void escape_json(FILE *file, const char *text);

#define LIBRARY_NAME_BYTES 256

/* The last component of a path. */
const char *path_last(const char *path);

/*
 * A library's last component, without the tag of the interpreter that it is
 * built for: "_umath.so" of "/x/_umath.cpython-311-x86_64-linux-gnu.so".
 * Returns part of the path or the buffer.
 */
const char *library_name(const char *path, char *buffer, size_t size);

#endif
