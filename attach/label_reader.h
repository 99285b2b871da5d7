/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The labels of a process (common/process_labels.h), by what is customary, the first that is there:
 *
 *   service    OTEL_SERVICE_NAME, service.name in OTEL_RESOURCE_ATTRIBUTES, DD_SERVICE; the
 *              service of docker compose; the systemd unit
 *   version    service.version there, DD_VERSION; org.opencontainers.image.version of the image
 *   revision   vcs.ref.head.revision there, DD_GIT_COMMIT_SHA; org.opencontainers.image.revision
 *   namespace  k8s.namespace.name there, POD_NAMESPACE; the file that Kubernetes mounts
 *   pod        k8s.pod.name there, POD_NAME; in Kubernetes HOSTNAME, unless that is the node's
 *   pod_uid    in Kubernetes the control group (pod.h); k8s.pod.uid there, POD_UID
 *
 * Variables are those that the process was started with. No other variable is kept or shown. Labels
 * of images are docker's alone: containerd and CRI-O have them in databases of their own.
 *
 * Hostile input: whoever starts a process chooses its environment. A value that is not printable
 * ASCII is none, a longer one is cut.
 */
#ifndef PIEPROFD_ATTACH_LABEL_READER_H
#define PIEPROFD_ATTACH_LABEL_READER_H

#include "attach/container.h"
#include "common/process_labels.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Of the environment, so much is looked at. */
#define LABEL_ENVIRONMENT_MAX (1u << 20)

/* container NULL: it runs in none. What cannot be read is not known. */
void labels_read(pid_t pid, const struct container *container, struct process_labels *ret_labels);

/* ---- for the above, and tests; pure. All fill what is not known yet. ---- */

/* size bytes of /proc/PID/environ, with or without the last NUL. kubernetes: HOSTNAME is the pod's.
 */
void labels_parse_environment(const char *text, size_t size, bool kubernetes,
			      struct process_labels *labels);

/* The systemd unit in the text of /proc/PID/cgroup. */
void labels_parse_unit(const char *text, size_t size, struct process_labels *labels);

/* The pod's uid there. */
void labels_parse_pod(const char *text, size_t size, struct process_labels *labels);

/* size bytes of docker's config.v2.json (container_name.h). */
void labels_parse_docker(const char *text, size_t size, struct process_labels *labels);

#endif
