/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/debug_file.h"

#include "symbolize/elf_image.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define DEBUG_ROOT "/usr/lib/debug"

static int open_candidate(const struct module *module, const char *path,
			  struct elf_image **ret_image)
{
	/* A FIFO planted beside the file must not block us. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct elf_image *image;
	int error;

	if (fd < 0)
		return -ENOENT;
	error = elf_image_open(fd, &image);
	close(fd);
	if (error)
		return -ENOENT;
	if (image->build_id_size != module->build_id_size ||
	    memcmp(image->build_id, module->build_id, module->build_id_size) != 0) {
		elf_image_close(image);
		return -ENOENT;
	}
	*ret_image = image;
	return 0;
}

static int open_by_build_id(const struct module *module, struct elf_image **ret_image)
{
	static const char digits[] = "0123456789abcdef";
	char hex[2 * BUILD_ID_MAX + 1];
	char path[PATH_MAX];

	for (size_t i = 0; i < module->build_id_size; i++) {
		hex[2 * i] = digits[module->build_id[i] >> 4];
		hex[2 * i + 1] = digits[module->build_id[i] & 15];
	}
	hex[2 * module->build_id_size] = '\0';
	(void)snprintf(path, sizeof(path), DEBUG_ROOT "/.build-id/%.2s/%s.debug", hex, hex + 2);
	return open_candidate(module, path, ret_image);
}

/* The file name in .gnu_debuglink, or NULL. */
static const char *debuglink_name(const struct elf_image *image)
{
	struct elf_section section;
	const char *name;

	if (!image || elf_image_section_find(image, ".gnu_debuglink", &section) != 0 ||
	    section.size == 0 || section.size > NAME_MAX)
		return NULL;
	name = (const char *)image->bytes + section.file_offset;
	/* It is a name, not a path: a hostile one leads nowhere else. */
	if (!memchr(name, '\0', section.size) || name[0] == '\0' || strchr(name, '/'))
		return NULL;
	return name;
}

static int open_by_debuglink(const struct module *module, struct elf_image **ret_image)
{
	static const struct {
		const char *before;
		const char *after;
	} places[] = { { "", "" }, { "", ".debug/" }, { DEBUG_ROOT, "" } };
	const char *name = debuglink_name(module->image);
	char path[PATH_MAX];

	if (!name || module->path[0] != '/')
		return -ENOENT;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		int length = snprintf(path, sizeof(path), "%s%.*s%s%s", places[i].before,
				      (int)(module->name - module->path), module->path,
				      places[i].after, name);

		if (length > 0 && (size_t)length < sizeof(path) &&
		    open_candidate(module, path, ret_image) == 0)
			return 0;
	}
	return -ENOENT;
}

int debug_file_open(const struct module *module, struct elf_image **ret_image)
{
	/* Shorter than what the path is made of: no build-id that means anything. */
	if (module->build_id_size < 2)
		return -ENOENT;
	if (open_by_build_id(module, ret_image) == 0)
		return 0;
	return open_by_debuglink(module, ret_image);
}
