/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ELF files made by the real tools (gcc, objcopy, strip, xz, dwz) in a folder
 * of their own, for tests that need a file that no machine is sure to have.
 */
#ifndef PIEPROFD_TESTS_UNIT_BUILT_FILES_H
#define PIEPROFD_TESTS_UNIT_BUILT_FILES_H

#include "symbolize/elf_image.h"
#include "symbolize/module.h"
#include "tests/must.h"

#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUILT_UNUSED __attribute__((unused))

#define built_must must

struct built_files {
	char folder[64]; /* absolute */
	char path[PATH_MAX];
};

/* Makes a folder; free with built_files_remove(). */
BUILT_UNUSED static struct built_files *built_files_create(void)
{
	struct built_files *files = calloc(1, sizeof(*files));

	built_must(files);
	strcpy(files->folder, "/tmp/symbolize_builtXXXXXX");
	built_must(mkdtemp(files->folder));
	return files;
}

/* Runs a shell script in the folder; true when it ends with 0. */
BUILT_UNUSED static bool built_files_run(const struct built_files *files, const char *script)
{
	size_t room = strlen(script) + 128;
	char *command = malloc(room);
	int status;

	built_must(command);
	snprintf(command, room, "cd '%s' && set -e\n%s\n", files->folder, script);
	status = system(command);
	free(command);
	return status == 0;
}

/* The absolute path of a file in the folder; good until the next call. */
BUILT_UNUSED static const char *built_files_path(struct built_files *files, const char *name)
{
	snprintf(files->path, sizeof(files->path), "%s/%s", files->folder, name);
	return files->path;
}

BUILT_UNUSED static void built_files_write(struct built_files *files, const char *name,
					   const char *text)
{
	FILE *file = fopen(built_files_path(files, name), "we");

	built_must(file);
	built_must(fputs(text, file) >= 0);
	built_must(fclose(file) == 0);
}

BUILT_UNUSED static void built_files_remove(struct built_files *files)
{
	built_must(built_files_run(files, "rm -rf \"$PWD\""));
	free(files);
}

/* Whether a tool is installed; the test that needs it says that it is skipped. */
BUILT_UNUSED static bool built_have(const char *tool)
{
	char command[128];

	snprintf(command, sizeof(command), "command -v %s >/dev/null 2>&1", tool);
	if (system(command) == 0)
		return true;
	printf("skipped: %s is not installed\n", tool);
	return false;
}

/* A module without a process, at bias 0. Free with built_module_close(). */
struct built_module {
	struct module module;
	char path[PATH_MAX];
};

BUILT_UNUSED static struct built_module *built_module_open(const char *path)
{
	struct built_module *built = calloc(1, sizeof(*built));
	struct module *module;
	int fd;

	built_must(built && realpath(path, built->path));
	fd = open(built->path, O_RDONLY | O_CLOEXEC);
	built_must(fd >= 0);
	module = &built->module;
	built_must(elf_image_open(fd, &module->image) == 0);
	close(fd);
	module->path = built->path;
	module->name = strrchr(built->path, '/') + 1;
	module->build_id_size = module->image->build_id_size;
	memcpy(module->build_id, module->image->build_id, module->build_id_size);
	return built;
}

BUILT_UNUSED static void built_module_close(struct built_module *built)
{
	elf_image_close(built->module.image);
	free(built);
}

/* Address of a function by nm, 0: nm does not know it. */
BUILT_UNUSED static uint64_t built_address(const char *path, const char *function)
{
	char command[PATH_MAX + 64], line[1024], name[512];
	unsigned long address, found = 0;
	FILE *output;

	snprintf(command, sizeof(command), "nm '%s' 2>/dev/null", path);
	output = popen(command, "re");
	built_must(output);
	while (fgets(line, sizeof(line), output))
		if (sscanf(line, "%lx %*c %511s", &address, name) == 2 &&
		    strcmp(name, function) == 0)
			found = address;
	pclose(output);
	return found;
}

#endif
