/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an interpreter knows of the source of code that has no file of its own:
 *
 *   linecache.cache        {name: (size, None, lines, name)}: cells of notebooks, classes of
 *                          attrs, whatever a program has put there so that tracebacks show it
 *   IPython's compiler     {name: 12}: the cell is In [12]
 *   os.__file__            where the modules of the standard library lie that are frozen
 *   sys.frozen             the program was packed (PyInstaller): names of its files are
 *                          those of another machine
 *
 * For a report: it allocates, and makes many system calls. The target may change all of
 * it meanwhile: types are checked, sizes bounded; what does not fit is left out.
 */
#ifndef PIEPROFD_PYINTROSPECT_PYTHON_SOURCES_H
#define PIEPROFD_PYINTROSPECT_PYTHON_SOURCES_H

#include "pyintrospect/runtime.h"

#define PYTHON_SOURCES_MAX       512  /* texts */
#define PYTHON_SOURCES_LOOKED    4096 /* entries of linecache.cache looked at */
#define PYTHON_SOURCES_LINES     20000
#define PYTHON_SOURCES_BYTES     (4u << 20)
#define PYTHON_SOURCES_NAME_SIZE 512
#define PYTHON_SOURCES_TITLES    4096

struct python_source {
	char *name;
	char *text; /* lines end with \n */
	size_t size;
};

struct python_source_title {
	char *name;
	uint64_t number; /* In [number] */
};

struct python_sources {
	struct python_source *items;
	size_t count;
	struct python_source_title *titles;
	size_t title_count;
	char *library; /* folder of os.py; NULL: unknown */
	bool packed;
	bool cut; /* there is more than is read */
};

/* 0, also when there is nothing; -ENOMEM, or what the reader said of the target itself. */
__attribute__((warn_unused_result)) int python_sources_read(const struct python_runtime *runtime,
							    struct python_sources *ret_sources);
void python_sources_deinit(struct python_sources *sources);

#endif
