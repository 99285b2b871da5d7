/* SPDX-License-Identifier: Apache-2.0 */
#include "common/file_identity.h"

#include "common/clock.h"

#include <linux/magic.h>
#include <sys/statfs.h>
#include <time.h>

static int64_t nanoseconds(const struct timespec *time)
{
	return (int64_t)time->tv_sec * (int64_t)NS_PER_SECOND + time->tv_nsec;
}

struct file_identity file_identity_at(const struct stat *status, int64_t now_unix_ns,
				      uint64_t file_system)
{
	struct file_identity identity = {
		.device = status->st_dev,
		.inode = status->st_ino,
		.size = (uint64_t)status->st_size,
		.modified_ns = nanoseconds(&status->st_mtim),
		.changed_ns = nanoseconds(&status->st_ctim),
	};

	/* One that will be changed in the future was changed by another clock. */
	identity.known = S_ISREG(status->st_mode) && file_system != FUSE_SUPER_MAGIC &&
			 identity.changed_ns < now_unix_ns - FILE_SETTLED_NS;
	return identity;
}

struct file_identity file_identity_of(int fd, const struct stat *status)
{
	struct timespec now;
	struct statfs system;

	if (fstatfs(fd, &system) || clock_gettime(CLOCK_REALTIME, &now))
		return (struct file_identity){ .known = false };
	return file_identity_at(status, nanoseconds(&now), (uint64_t)system.f_type);
}

bool file_identity_same(const struct file_identity *a, const struct file_identity *b)
{
	return a->known && b->known && a->device == b->device && a->inode == b->inode &&
	       a->size == b->size && a->modified_ns == b->modified_ns &&
	       a->changed_ns == b->changed_ns;
}
