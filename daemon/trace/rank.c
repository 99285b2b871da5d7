/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/trace/rank.h"

#include "attach/procfs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ENVIRONMENT_MAX (1u << 20)

/* The first one that is there counts. srun sets its own also around another launcher. */
static const struct {
	const char *rank, *size;
} variables[] = {
	{ "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE" },
	{ "PMIX_RANK", NULL },
	{ "PMI_RANK", "PMI_SIZE" },
	{ "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE" },
	{ "SLURM_PROCID", "SLURM_NTASKS" },
};
#define VARIABLES (sizeof(variables) / sizeof(variables[0]))

/* The value, or NULL; text ends with a NUL. */
static const char *find_value(const char *text, size_t size, const char *name)
{
	size_t length = strlen(name);

	for (const char *at = text; at < text + size; at += strlen(at) + 1)
		if (!strncmp(at, name, length) && at[length] == '=')
			return at + length + 1;
	return NULL;
}

/* Whole, without a sign; -1: it is none. */
static int32_t read_number(const char *text)
{
	size_t digits = text ? strspn(text, "0123456789") : 0;

	if (!digits || digits > 7 || text[digits] || atol(text) > RANK_MAX)
		return -1;
	return (int32_t)atol(text);
}

int rank_parse(const char *text, size_t size, struct rank *ret_rank)
{
	char *copy = malloc(size + 1);
	int error = copy ? -ENODATA : -ENOMEM;

	if (copy) {
		memcpy(copy, text, size);
		copy[size] = '\0';
	}
	for (size_t i = 0; i < VARIABLES && error == -ENODATA; i++) {
		int32_t number = read_number(find_value(copy, size, variables[i].rank));
		int32_t jobs = variables[i].size
				       ? read_number(find_value(copy, size, variables[i].size))
				       : 0;

		if (number < 0)
			continue;
		*ret_rank = (struct rank){ number, jobs > 0 ? jobs : 0 };
		error = 0;
	}
	free(copy);
	return error;
}

int rank_read(pid_t pid, struct rank *ret_rank)
{
	char path[PROCFS_PATH_SIZE], *text = malloc(ENVIRONMENT_MAX);
	size_t size = 0;
	int error = 0, fd;

	if (!text)
		return -ENOMEM;
	procfs_living_path(path, pid, "environ");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		error = -errno;
	while (!error && size < ENVIRONMENT_MAX) {
		ssize_t got = read(fd, text + size, ENVIRONMENT_MAX - size);

		if (got < 0 && errno != EINTR)
			error = -errno;
		if (got == 0)
			break;
		size += got > 0 ? (size_t)got : 0;
	}
	if (fd >= 0)
		close(fd);
	if (!error)
		error = rank_parse(text, size, ret_rank);
	free(text);
	return error;
}
