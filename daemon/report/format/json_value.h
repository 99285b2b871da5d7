/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON values of what reports hold. Values are built first and checked once:
 * every function returns NULL when memory ran out, and takes NULL for a failed
 * part.
 */
#ifndef PIEPROFD_DAEMON_REPORT_FORMAT_JSON_VALUE_H
#define PIEPROFD_DAEMON_REPORT_FORMAT_JSON_VALUE_H

#include "daemon/report/model/profile.h"

#include <jansson.h>
#include <stdio.h>

json_t *json_count(uint64_t value);
json_t *json_figure(double value);
/* Bytes that are not UTF-8 become U+FFFD: JSON has no way to say them. */
json_t *json_text(const char *text);
json_t *json_text_or_null(const char *text);

/* Takes over value; destroys object and returns NULL when either is missing. */
json_t *json_with(json_t *object, const char *key, json_t *value);
json_t *json_appended(json_t *array, json_t *value);

/* An object, or null: in none. */
json_t *json_container(const struct profile_container *container);
/* An object of those that are known. */
json_t *json_labels(const struct process_labels *labels);
/* What was profiled: pid, version, command. */
json_t *json_target(const struct profile_target *target);
json_t *json_frames(const struct profile_frame *frames, size_t count);

/* Writes a value, which is taken over. 0, -ENOMEM or -EIO. */
int json_put(FILE *file, json_t *value);

#endif
