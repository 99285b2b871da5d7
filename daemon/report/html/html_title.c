/* SPDX-License-Identifier: Apache-2.0 */
/* Of what program a page is, and when and where it ran. */
#include "daemon/report/html/html_sections.h"

#include "daemon/report/format/text_layout.h"
#include "daemon/report/model/container_text.h"
#include "daemon/report/model/profile_facts.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

static const char *last_component(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static bool is_python(const char *word)
{
	return !strncmp(last_component(word), "python", 6) ||
	       !strncmp(last_component(word), "pypy", 4);
}

const char *html_program(const char *const *command)
{
	if (!command || !command[0] || !command[0][0])
		return NULL;
	if (!is_python(command[0]))
		return last_component(command[0]);
	for (size_t i = 1; command[i]; i++) {
		const char *word = command[i];

		if (word[0] != '-')
			return *word ? last_component(word) : NULL;
		/* The last of a bundle of letters has a value: "-um http.server". */
		switch (word[strlen(word) - 1]) {
		case 'm':
			return command[i + 1];
		case 'c':
			return NULL;
		case 'X':
		case 'W':
			if (command[i + 1])
				i++;
			break;
		default:
			break;
		}
	}
	return NULL;
}

static void put_duration(FILE *file, uint64_t ns)
{
	uint64_t seconds = (ns + 500000000) / 1000000000;

	if (!seconds)
		fprintf(file, "%.1f s", (double)ns / 1e9);
	else if (seconds < 120)
		fprintf(file, "%" PRIu64 " s", seconds);
	else if (seconds < 7200)
		fprintf(file, "%" PRIu64 " min", (seconds + 30) / 60);
	else
		fprintf(file, "%" PRIu64 " h", (seconds + 1800) / 3600);
}

void html_moment(FILE *file, uint64_t unix_ns)
{
	time_t seconds = (time_t)(unix_ns / 1000000000);
	char text[32];
	struct tm parts;

	if (unix_ns && localtime_r(&seconds, &parts) &&
	    strftime(text, sizeof(text), "%e %b %H:%M", &parts))
		fprintf(file, ", %s", text + strspn(text, " "));
}

int html_title(FILE *file, const struct profile *profile)
{
	const struct profile_facts *facts = &profile->facts;
	const struct profile_target *target = &facts->target;
	const char *program = html_program(target->command);
	char name[sizeof(target->comm) + 1];

	snprintf(name, sizeof(name), "%.*s", (int)sizeof(target->comm), target->comm);
	if (html_text(file, program ? program : name) < 0)
		return -ENOMEM;
	if (profile->process_count > 1)
		fprintf(file, " and %zu more", profile->process_count - 1);
	if (html_text(file, container_suffix(&target->container).text) < 0)
		return -ENOMEM;
	fputs(", ", file);
	put_duration(file, facts->duration_ns);
	if (target->host[0]) {
		fputs(" on ", file);
		if (html_text(file, target->host) < 0)
			return -ENOMEM;
	}
	html_moment(file, facts->started_unix_ns);
	return 0;
}

int html_command(FILE *file, const struct profile *profile)
{
	const struct profile_facts *facts = &profile->facts;
	const struct profile_target *target = &facts->target;

	fputs("<p class=\"command\"><code>", file);
	for (size_t i = 0; target->command && target->command[i]; i++) {
		if (i)
			fputc(' ', file);
		if (html_text(file, target->command[i]) < 0)
			return -ENOMEM;
	}
	fprintf(file, "</code></p>\n<p>pid %d &middot; ", (int)target->pid);
	if (target->container.id[0]) {
		fputs("In container ", file);
		if (html_text(file, container_words(&target->container).text) < 0)
			return -ENOMEM;
		fputs(" &middot; ", file);
	}
	if (target->python.major)
		fprintf(file, "Python %d.%d.%d%s", target->python.major, target->python.minor,
			target->python.micro, python_version_build(&target->python));
	else
		fputs("A Python that could not be read: native frames alone", file);
	fprintf(file, " &middot; %s &middot; %" PRIu64 " sample%s%s &middot; %s of CPU time%s",
		figure_ns(facts->duration_ns).text, facts->samples, facts->samples == 1 ? "" : "s",
		profile_roughness(facts), figure_ns(time_sum(profile->time_ns)).text,
		facts->target_exited ? " &middot; the target exited meanwhile" : "");
	fputs(" &middot; pieprofd ", file);
	if (html_text(file, facts->version) < 0)
		return -ENOMEM;
	fputs("</p>\n", file);
	return 0;
}
