/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions whose outcome is another one whatever they are given: they draw a number, look at the
 * clock, read a file or what comes in. By their last names, as programs import them in many ways.
 */
#ifndef PIEPROFD_DAEMON_DETECT_OUTSIDE_NAMES_H
#define PIEPROFD_DAEMON_DETECT_OUTSIDE_NAMES_H

#include <stdbool.h>

/* Longer names are none of these. */
#define OUTSIDE_NAME_SIZE 24

bool outside_name_asks(const char *name);

#endif
