/* SPDX-License-Identifier: Apache-2.0 */
/*
 * By which native frames an interpreter, or a thread of its, begins:
 *
 *   _start, __libc_start_main, Py_BytesMain, Py_RunMain, ?, ?, PyEval_EvalCode | <module>
 *   clone3, start_thread, ?, ?, ?                                              | Thread._bootstrap
 *
 * They are the same everywhere, and in stripped interpreters mostly without a name, so
 * that reports leave them out where nothing but these lies outside of the outermost
 * Python frame. A program that has an interpreter in it keeps its own.
 */
#ifndef PIEPROFD_DAEMON_REPORT_MODEL_START_FRAME_H
#define PIEPROFD_DAEMON_REPORT_MODEL_START_FRAME_H

#include "daemon/report/model/profile.h"

/* Of the interpreter's own file, of libc, or without a name; not one that a mark says more of. */
bool start_frame_is(enum frame_kind kind, uint32_t flags, const char *function, const char *file);

/* How many of a stack's frames, outermost first, can be left out. */
size_t start_frames_count(const struct profile_frame *frames, size_t count);

#endif
