/* SPDX-License-Identifier: Apache-2.0 */
/* The first lines of the text report: what was profiled, for how long, at what cost. */
#include "daemon/report/format/text_layout.h"

#include "daemon/report/model/container_text.h"
#include "daemon/report/model/profile_facts.h"

#include <inttypes.h>
#include <string.h>

/* brief: the interpreter and what it runs without their folders. */
static void read_command(const struct profile_target *target, bool brief, char *words, size_t size)
{
	size_t used = 0;

	for (size_t i = 0; target->command && target->command[i] && used < size; i++) {
		const char *word = target->command[i], *name = strrchr(word, '/');

		used += (size_t)snprintf(words + used, size - used, "%s%s", i ? " " : "",
					 brief && i < 2 && name && name[1] ? name + 1 : word);
	}
	if (used == 0)
		snprintf(words, size, "%.*s", (int)sizeof(target->comm), target->comm);
}

/* "pieprofd 0.1.0, pid 1234, Python 3.11.2" */
static unsigned put_name(const struct text_layout *layout, const struct profile *profile)
{
	const struct profile_target *target = &profile->facts.target;
	int used = fprintf(layout->file, "pieprofd %s, pid %d, ", profile->facts.version,
			   (int)target->pid);

	if (profile->process_count > 1)
		used += fprintf(layout->file, "and %zu more, ", profile->process_count - 1);
	if (target->python.major)
		used += fprintf(layout->file, "Python %d.%d.%d%s", target->python.major,
				target->python.minor, target->python.micro,
				python_version_build(&target->python));
	else
		used += fprintf(layout->file,
				"a Python that could not be read: native frames alone");
	return used > 0 ? (unsigned)used : 0;
}

static void put_container(const struct text_layout *layout, const struct profile *profile)
{
	struct container_text container = container_words(&profile->facts.target.container);

	if (!container.text[0])
		return;
	fputs("  in container ", layout->file);
	text_last_cell(layout, container.text, layout->columns - 15);
}

/* "slowed to 22 Hz to stay under 2%", "" where it was not. */
static void read_slowing(const struct profile *profile, char *words, size_t size)
{
	double slowed_hz = profile_slowed_hz(profile);

	words[0] = '\0';
	if (slowed_hz > 0)
		snprintf(words, size, "slowed to %.*f Hz to stay under %.3g%%",
			 slowed_hz < 9.95 ? 1 : 0, slowed_hz, 100 * profile->facts.overhead_limit);
}

void text_target(const struct text_layout *layout, const struct profile *profile, bool brief)
{
	const struct profile_facts *facts = &profile->facts;
	char command[512], slowing[128], words[320];
	unsigned used = put_name(layout, profile);

	read_command(&facts->target, brief, command, sizeof(command));
	if (brief && used + 20 < layout->columns) {
		fputs(": ", layout->file);
		text_last_cell(layout, command, layout->columns - used - 2);
	} else {
		fputc('\n', layout->file);
	}
	if (!brief) {
		put_container(layout, profile);
		fputs("  ", layout->file);
		text_last_cell(layout, command, layout->columns - 2);
	}
	read_slowing(profile, slowing, sizeof(slowing));
	snprintf(words, sizeof(words), "%s, %" PRIu64 " sample%s%s, overhead %s%s%s%s%s",
		 figure_ns(facts->duration_ns).text, facts->samples, figure_plural(facts->samples),
		 profile_roughness(facts), figure_share(facts->overhead).text,
		 brief ? "" : " of the target's CPU time", !brief && slowing[0] ? "; " : "",
		 brief ? "" : slowing, facts->target_exited ? "; the target exited meanwhile" : "");
	text_wrapped(layout, "  ", words);
}

void text_target_end(const struct text_layout *layout, const struct profile *profile)
{
	char slowing[128], words[256];

	put_container(layout, profile);
	read_slowing(profile, slowing, sizeof(slowing));
	snprintf(words, sizeof(words), "%s%s%s", slowing,
		 slowing[0] && profile->facts.kernel_time_refused ? "; " : "",
		 profile->facts.kernel_time_refused ? "system time not measured" : "");
	if (words[0])
		text_wrapped(layout, "  ", words);
}
