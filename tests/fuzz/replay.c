/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In place of libFuzzer where there is no clang: hands each file named, or each
 * file of a folder named, to a fuzz target.
 */
#include "tests/fuzz/fuzz.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <sys/stat.h>

static unsigned files;

static void replay_file(const char *path, off_t size)
{
	uint8_t *bytes = malloc(size ? (size_t)size : 1);
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	fuzz_must(bytes && fd >= 0 && read(fd, bytes, (size_t)size) == size);
	close(fd);
	(void)LLVMFuzzerTestOneInput(bytes, (size_t)size);
	free(bytes);
	files++;
}

static void replay(const char *path)
{
	struct stat status;
	struct dirent *entry;
	DIR *folder;

	if (stat(path, &status) != 0) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		exit(1);
	}
	if (S_ISREG(status.st_mode)) {
		/* To be seen when it is the last thing that is. */
		fprintf(stderr, "%s\n", path);
		replay_file(path, status.st_size);
	}
	folder = S_ISDIR(status.st_mode) ? opendir(path) : NULL;
	while (folder && (entry = readdir(folder))) {
		char inner[PATH_MAX];

		if (entry->d_name[0] == '.')
			continue;
		snprintf(inner, sizeof(inner), "%s/%s", path, entry->d_name);
		replay(inner);
	}
	if (folder)
		closedir(folder);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		replay(argv[i]);
	fprintf(stderr, "%u files replayed\n", files);
	return 0;
}
