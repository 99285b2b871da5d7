/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What those who run a process call it, beside its ids: by which the profiles of a fleet are
 * sorted. Each "": not known. Printable ASCII, however hostile the source was.
 */
#ifndef PIEPROFD_COMMON_PROCESS_LABELS_H
#define PIEPROFD_COMMON_PROCESS_LABELS_H

struct process_labels {
	char service[64];
	char version[64];   /* of the service */
	char revision[64];  /* of its source: a commit */
	char namespace[64]; /* Kubernetes' */
	char pod[128];
	char pod_uid[40]; /* the pod's, as Kubernetes numbers it */
};

#endif
