/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/uprobe_link.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

int uprobe_link_create(const struct uprobe_link *link)
{
	long fd = syscall(SYS_bpf, BPF_LINK_CREATE, link, sizeof(*link));

	return fd < 0 ? -errno : (int)fd;
}

/* From 6.6 to 6.9, some see calls of the process's first thread alone. */
static bool links_see_all_threads(void)
{
	struct utsname system;
	unsigned major, minor;

	return !uname(&system) && sscanf(system.release, "%u.%u", &major, &minor) == 2 &&
	       (major > 6 || (major == 6 && minor >= 10));
}

/* To one in a folder it says so. */
bool uprobe_link_possible(int program_fd, uint32_t attach_type)
{
	const uint64_t offset = 0;
	const struct uprobe_link link = {
		.program_fd = (uint32_t)program_fd,
		.attach_type = attach_type,
		.path = (uintptr_t) "/",
		.offsets = (uintptr_t)&offset,
		.count = 1,
	};

	return links_see_all_threads() && uprobe_link_create(&link) == -EBADF;
}
