/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/debug_file.h"

#include "symbolize/debug_download.h"
#include "symbolize/elf_image.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define DEBUG_ROOT         "/usr/lib/debug"
#define BUILD_ID_PATH_ROOM 256
#define BUILD_ID_PATH_MAX  64             /* bytes of a build-id that is looked for by path */
#define CHECKED_BYTES_MAX  (512ull << 20) /* of a file whose checksum is computed: 0.5 s */

/* The name and the checksum in .gnu_debuglink: copies, the file may change under a check. */
struct debuglink {
	char name[NAME_MAX + 1];
	uint32_t checksum;
};

static bool belongs_to(const struct elf_image *image, const struct module *module,
		       const struct debuglink *link)
{
	if (module->build_id_size)
		return image->build_id_size == module->build_id_size &&
		       memcmp(image->build_id, module->build_id, module->build_id_size) == 0;
	return link && image->size <= CHECKED_BYTES_MAX &&
	       crc32_z(crc32_z(0, NULL, 0), image->bytes, image->size) == link->checksum;
}

/* Takes over fd, which may be an error of whoever opened it. link NULL: the build-id decides. */
static int take_candidate(const struct module *module, int fd, const struct debuglink *link,
			  struct elf_image **ret_image)
{
	struct elf_image *image;
	int error;

	if (fd < 0)
		return -ENOENT;
	error = elf_image_open(fd, &image);
	close(fd);
	if (error)
		return -ENOENT;
	if (!belongs_to(image, module, link)) {
		elf_image_close(image);
		return -ENOENT;
	}
	*ret_image = image;
	return 0;
}

static bool build_id_path(const uint8_t *build_id, size_t size, char path[BUILD_ID_PATH_ROOM])
{
	static const char digits[] = "0123456789abcdef";
	char hex[2 * BUILD_ID_PATH_MAX + 1];

	/* Shorter than what the path is made of: no build-id that means anything. */
	if (size < 2 || size > BUILD_ID_PATH_MAX)
		return false;
	for (size_t i = 0; i < size; i++) {
		hex[2 * i] = digits[build_id[i] >> 4];
		hex[2 * i + 1] = digits[build_id[i] & 15];
	}
	hex[2 * size] = '\0';
	(void)snprintf(path, BUILD_ID_PATH_ROOM, DEBUG_ROOT "/.build-id/%.2s/%s.debug", hex,
		       hex + 2);
	return true;
}

static int open_file(const struct debug_search *search, int root, const char *path)
{
	return file_opener_open(search ? &search->opener : NULL, root, path, ROOT_LINK_FOLLOW);
}

static int find_by_build_id(const struct module *module, const struct debug_search *search,
			    int root, struct elf_image **ret_image)
{
	char path[BUILD_ID_PATH_ROOM];

	if (!build_id_path(module->build_id, module->build_id_size, path))
		return -ENOENT;
	return take_candidate(module, open_file(search, root, path), NULL, ret_image);
}

static bool read_debuglink(const struct elf_image *image, struct debuglink *ret_link)
{
	struct debuglink link = { .checksum = 0 };
	struct elf_section section;
	const uint8_t *bytes;
	size_t length;

	if (!image || elf_image_section_find(image, ".gnu_debuglink", &section) != 0 ||
	    section.type == SHT_NOBITS || section.size == 0)
		return false;
	bytes = image->bytes + section.file_offset;
	memcpy(link.name, bytes, section.size < NAME_MAX ? section.size : NAME_MAX);
	length = strlen(link.name);
	/* It is a name, not a path: a hostile one leads nowhere else. */
	if (length == 0 || memchr(link.name, '/', length))
		return false;
	/* The checksum is at the next multiple of 4 behind the name's NUL. */
	length = (length + sizeof(link.checksum)) & ~(sizeof(link.checksum) - 1);
	if (section.size < sizeof(link.checksum) || length > section.size - sizeof(link.checksum))
		return false;
	memcpy(&link.checksum, bytes + length, sizeof(link.checksum));
	*ret_link = link;
	return true;
}

static int find_by_debuglink(const struct module *module, const struct debug_search *search,
			     int root, struct elf_image **ret_image)
{
	static const struct {
		const char *before;
		const char *after;
	} places[] = { { "", "" }, { "", ".debug/" }, { DEBUG_ROOT, "" } };
	struct debuglink link;
	char path[PATH_MAX];

	if (module->path[0] != '/' || !read_debuglink(module->image, &link))
		return -ENOENT;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		int length = snprintf(path, sizeof(path), "%s%.*s%s%s", places[i].before,
				      (int)(module->name - module->path), module->path,
				      places[i].after, link.name);

		if (length > 0 && (size_t)length < sizeof(path) &&
		    take_candidate(module, open_file(search, root, path), &link, ret_image) == 0)
			return 0;
	}
	return -ENOENT;
}

/*
 * Whether it leads to the same files as our own. Another namespace has mounts of its own, by other
 * numbers, even of the same folder. Linux 5.8; an older kernel does not tell.
 */
static bool is_own_root(int root)
{
	const unsigned wanted = STATX_INO | STATX_MNT_ID;
	struct statx own, other;

	return !statx(root, "", AT_EMPTY_PATH, wanted, &other) &&
	       !statx(AT_FDCWD, "/", 0, wanted, &own) && (own.stx_mask & wanted) == wanted &&
	       (other.stx_mask & wanted) == wanted && own.stx_ino == other.stx_ino &&
	       own.stx_mnt_id == other.stx_mnt_id;
}

int debug_file_find(const struct module *module, const struct debug_search *search,
		    struct elf_image **ret_image)
{
	const int roots[] = { search ? search->root : ROOT_OWN, ROOT_OWN };
	bool other = search && search->root != ROOT_OWN && !is_own_root(search->root);

	for (size_t i = other ? 0 : 1; i < 2; i++)
		if (find_by_build_id(module, search, roots[i], ret_image) == 0 ||
		    find_by_debuglink(module, search, roots[i], ret_image) == 0)
			return 0;
	if (!search || !search->download || module->build_id_size < 2)
		return -ENOENT;
	return take_candidate(module, debug_download(module->build_id, module->build_id_size), NULL,
			      ret_image);
}

int debug_file_open_shared(const char *path, const uint8_t *build_id, size_t build_id_size,
			   const struct debug_search *search, unsigned int attempt)
{
	char by_build_id[BUILD_ID_PATH_ROOM];
	unsigned int seen = 0;

	for (unsigned int place = 0; place < 4; place++) {
		int root = place < 2 && search ? search->root : ROOT_OWN;
		int fd;

		if (place < 2 && root == ROOT_OWN)
			continue;
		if (place % 2 == 0 && !build_id_path(build_id, build_id_size, by_build_id))
			continue;
		fd = open_file(search, root, place % 2 == 0 ? by_build_id : path);
		if (fd < 0)
			continue;
		if (seen++ == attempt)
			return fd;
		close(fd);
	}
	if (search && search->download && seen == attempt) {
		int fd = debug_download(build_id, build_id_size);

		return fd < 0 ? -ENOENT : fd;
	}
	return -ENOENT;
}
