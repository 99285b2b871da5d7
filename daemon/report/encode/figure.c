/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/encode/figure.h"

#include "common/clock.h"

#include <stdio.h>

struct figure figure_ns(uint64_t ns)
{
	static const struct {
		uint64_t ns;
		const char *unit;
	} units[] = { { NS_PER_SECOND, "s" }, { NS_PER_MS, "ms" }, { NS_PER_US, "us" } };
	struct figure figure;

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		double value = (double)ns / (double)units[i].ns;

		if (ns < units[i].ns)
			continue;
		snprintf(figure.text, sizeof(figure.text), "%.*f %s",
			 value < 9.995   ? 2
			 : value < 99.95 ? 1
					 : 0,
			 value, units[i].unit);
		return figure;
	}
	snprintf(figure.text, sizeof(figure.text), "%u ns", (unsigned)ns);
	return figure;
}

struct figure figure_share(double share)
{
	struct figure figure;

	snprintf(figure.text, sizeof(figure.text), "%.1f%%", share * 100);
	return figure;
}

struct figure figure_part(uint64_t part, uint64_t whole)
{
	struct figure figure = { .text = "-" };

	return whole ? figure_share((double)part / (double)whole) : figure;
}

struct figure figure_sampled(uint64_t part, uint64_t whole, uint64_t samples)
{
	struct figure figure;

	if (!whole || samples >= FIGURE_SAMPLES_MIN)
		return figure_part(part, whole);
	snprintf(figure.text, sizeof(figure.text), "%.0f%%", 100 * (double)part / (double)whole);
	return figure;
}

struct figure figure_bytes(uint64_t bytes)
{
	struct figure figure;

	if (bytes < 1000)
		snprintf(figure.text, sizeof(figure.text), "%u byte%s", (unsigned)bytes,
			 figure_plural(bytes));
	else if (bytes < 999500)
		snprintf(figure.text, sizeof(figure.text), "%.0f KB", (double)bytes / 1e3);
	else if (bytes < 10000000000)
		snprintf(figure.text, sizeof(figure.text), "%.1f MB", (double)bytes / 1e6);
	else
		snprintf(figure.text, sizeof(figure.text), "%.1f GB", (double)bytes / 1e9);
	return figure;
}

const char *figure_plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}
