/* SPDX-License-Identifier: Apache-2.0 */
/* Figures in words. */
#ifndef PIEPROFD_DAEMON_REPORT_ENCODE_FIGURE_H
#define PIEPROFD_DAEMON_REPORT_ENCODE_FIGURE_H

#include <stdint.h>

/* Shares of fewer samples than these are in whole percents: more would look like knowledge. */
#define FIGURE_SAMPLES_MIN 100

/* A figure with its unit, such as "31.0 us" or "91.6%", for one printf. */
struct figure {
	char text[24];
};

struct figure figure_ns(uint64_t ns);     /* "850 ns", "31.0 us", "2.40 ms", "3.10 s" */
struct figure figure_share(double share); /* 0.916 is "91.6%" */
struct figure figure_part(uint64_t part, uint64_t whole); /* "-" when whole is 0 */
/* Likewise, of time that was sampled so often. */
struct figure figure_sampled(uint64_t part, uint64_t whole, uint64_t samples);

struct figure figure_bytes(
	uint64_t bytes); /* "850 bytes", "104 KB", "1.2 MB": thousands; GB from 10 on */

const char *figure_plural(uint64_t count); /* "" of 1, otherwise "s" */

#endif
