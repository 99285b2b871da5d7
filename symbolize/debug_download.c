/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declarations as in elfutils/debuginfod.h, stable since elfutils 0.178: the
 * header is in a package of its own that nothing else here needs.
 */
#include "symbolize/debug_download.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct debuginfod_client;

struct download_client {
	struct debuginfod_client *(*begin)(void);
	void (*end)(struct debuginfod_client *client);
	int (*find_debuginfo)(struct debuginfod_client *client, const unsigned char *build_id,
			      int build_id_size, char **ret_path);
};

static int load_debuginfod(struct download_client *ret_client)
{
	/* NODELETE: what it uses for HTTP does not like to be unloaded. */
	void *library = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	void *begin, *end, *find;

	if (!library)
		return -ENOSYS;
	begin = dlsym(library, "debuginfod_begin");
	end = dlsym(library, "debuginfod_end");
	find = dlsym(library, "debuginfod_find_debuginfo");
	dlclose(library);
	if (!begin || !end || !find)
		return -ENOSYS;
	/* POSIX lets a pointer to data carry a function; ISO C has no cast for it. */
	memcpy(&ret_client->begin, &begin, sizeof(begin));
	memcpy(&ret_client->end, &end, sizeof(end));
	memcpy(&ret_client->find_debuginfo, &find, sizeof(find));
	return 0;
}

bool debug_download_possible(void)
{
	struct download_client client;

	return load_debuginfod(&client) == 0;
}

int debug_download(const uint8_t *build_id, size_t build_id_size)
{
	struct debuginfod_client *session;
	struct download_client client;
	int fd;

	/* A size of 0 would mean that build_id is text. */
	if (build_id_size == 0 || build_id_size > INT_MAX || load_debuginfod(&client) != 0)
		return -ENOSYS;
	session = client.begin();
	if (!session)
		return -ENOMEM;
	fd = client.find_debuginfo(session, build_id, (int)build_id_size, NULL);
	client.end(session);
	return fd;
}
