/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The container of a process, with the name that a person gave to it, which no cgroup
 * has:
 *
 *   podman, CRI-O   in the command line of conmon, the parent of the container's first
 *                   process: of any user, wherever images are stored, without any right
 *   docker          in containers/ID/config.v2.json of its data, which root alone may read
 *
 * Hostile input: whoever may start a process may call it conmon. Names are letters,
 * digits and "_.-", as both runtimes ask for; what is no such name is none.
 */
#ifndef PIEPROFD_ATTACH_CONTAINER_NAME_H
#define PIEPROFD_ATTACH_CONTAINER_NAME_H

#include "attach/container.h"

/* With its name, if it has one. 0, -ENOENT: in none that can be told, or another negative errno. */
__attribute__((warn_unused_result)) int container_read(pid_t pid, struct container *ret_container);

/*
 * Of a container that has runtime and id. 0 and the name in it, -ENOENT: none that can be found,
 * or another negative errno.
 */
__attribute__((warn_unused_result)) int container_read_name(pid_t pid, struct container *container);

/*
 * The container of a process whose cgroup tells none (podman run --cgroups=disabled), by its
 * monitor. 0 or -ENOENT.
 */
__attribute__((warn_unused_result)) int container_read_monitor(pid_t pid,
							       struct container *ret_container);

/*
 * What docker says of a container: config.v2.json, of some megabytes at most, unchecked.
 * The caller frees. 0, -ENOENT or another negative errno.
 */
__attribute__((warn_unused_result)) int container_read_docker(const struct container *container,
							      char **ret_text, size_t *ret_size);

/* ---- for the above, and tests; pure ---- */

/*
 * Words of a command line, NULL-terminated: is it conmon's? Fills id, and name where it has one.
 * 0 or -ENOENT.
 */
__attribute__((warn_unused_result)) int container_parse_monitor(const char *const *words,
								struct container *ret_container);

/* Docker's file, size bytes of JSON. 0, -ENOENT: there is no name, -EPROTO: no such file. */
__attribute__((warn_unused_result)) int container_parse_docker(const char *text, size_t size,
							       char name[CONTAINER_NAME_BYTES]);

/* Where docker keeps its data, by its daemon.json; 0 or -ENOENT: it does not say. */
__attribute__((warn_unused_result)) int container_parse_docker_root(const char *text, size_t size,
								    char *path, size_t path_size);

#endif
