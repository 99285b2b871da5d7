/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sources of the target's code, by the names that code objects have for them: files, and
 * what its interpreter knows of code without one (pyintrospect/python_sources.h).
 *
 *   /tmp/ipykernel_7/2.py     a cell: its text is in the target's memory, its title "In [12]"
 *   <ipython-input-12-3f0a>   likewise
 *   <frozen runpy>            runpy.py in the folder of the standard library
 *   app.py, in PyInstaller    a file of another machine, whatever lies here under that name
 *
 * Any thread may ask.
 */
#ifndef PIEPROFD_DAEMON_CAPTURE_TARGET_SOURCES_H
#define PIEPROFD_DAEMON_CAPTURE_TARGET_SOURCES_H

#include "attach/target_files.h"
#include "pyintrospect/runtime.h"

struct target_sources;

/* files is borrowed. NULL: no memory; all functions take that for a target without sources. */
struct target_sources *target_sources_create(struct target_files *files);
void target_sources_destroy(struct target_sources *sources);

/* Reads what the interpreter knows now; what was known stays when the target has ended. */
void target_sources_read(struct target_sources *sources, const struct python_runtime *runtime);

/* A file, as target_files_open_source() opens it. name may be a title. */
int target_sources_open(void *sources, const char *name);

/* Malloc'ed, with a NUL behind *ret_size bytes; NULL: not in memory. name may be a title. */
char *target_sources_text(void *sources, const char *name, size_t *ret_size);

/* What to call code of such a file; name itself where nothing is known. Lives as long as sources.
 */
const char *target_sources_title(void *sources, const char *name);

/* Whether there was more than is read. */
bool target_sources_cut(struct target_sources *sources);

#endif
