/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The uid of the pod that a process runs in, told by the control group that the kubelet made for
 * it:
 *
 *   cgroupfs   /kubepods/burstable/podUID/ID
 *   systemd    /kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podUID.slice/...
 *              "_" for "-" in the uid; in front of "kubepods" what --cgroup-root says
 *   containerd with the one's paths and the other's driver:
 * kubepods-burstable-podUID.slice:cri-containerd:ID from a control group namespace of one's own:
 * /../../podUID/ID
 *
 * A uid is 8-4-4-4-12 hexadecimal digits, or 32 where the kubelet made it of a file (static pods).
 *
 * Hostile input: whoever may make a cgroup names it. Of nested ones the outermost counts, which the
 * node's kubelet made: within its own a container may make others.
 */
#ifndef PIEPROFD_ATTACH_POD_H
#define PIEPROFD_ATTACH_POD_H

#include <stddef.h>

#define POD_UID_BYTES 37

/* From a path of /proc/PID/cgroup, size bytes. 0, or -ENOENT: none. Pure. */
__attribute__((warn_unused_result)) int pod_parse_path(const char *path, size_t size,
						       char ret_uid[POD_UID_BYTES]);

/* From the whole text, which need not end in NUL: the first of its paths that tells one. Pure. */
__attribute__((warn_unused_result)) int pod_parse(const char *text, size_t size,
						  char ret_uid[POD_UID_BYTES]);

#endif
