/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts of /proc/PID: the first byte chooses which one the others are.
 */
#include "attach/cgroup.h"
#include "attach/cgroup_mount.h"
#include "attach/children.h"
#include "attach/container.h"
#include "attach/container_name.h"
#include "attach/credentials.h"
#include "attach/label_reader.h"
#include "attach/procfs.h"
#include "attach/stop.h"
#include "attach/thread_schedule.h"
#include "tests/fuzz/fuzz.h"

#include <ctype.h>

static void parse_mappings(const struct fuzz_input *input)
{
	uint8_t *text = fuzz_copy(input);
	struct mapping_list list = { 0 };
	uint32_t generation;

	fuzz_must(procfs_parse_mappings((const char *)text, input->left, &list) == 0);
	for (size_t i = 0; i < list.count; i++) {
		const struct mapping *mapping = &list.mappings[i];

		fuzz_must(mapping->start < mapping->end);
		fuzz_must(!i || mapping->start >= mapping[-1].end);
		fuzz_must(mapping_find(&list, mapping->start) == mapping);
		fuzz_must(mapping_find(&list, mapping->end - 1) == mapping);
		fuzz_read_string(mapping->path);
	}
	(void)mapping_find(&list, UINT64_MAX);
	generation = list.generation;
	fuzz_must(procfs_parse_mappings((const char *)text, input->left, &list) == 0);
	fuzz_must(list.generation == generation);
	mapping_list_deinit(&list);
	free(text);
}

static void parse_container(const struct fuzz_input *input)
{
	uint8_t *text = fuzz_copy(input);
	struct container container;

	if (container_parse((const char *)text, input->left, &container) == 0) {
		fuzz_read_string(container.runtime);
		fuzz_must(memchr(container.id, '\0', sizeof(container.id)));
	}
	free(text);
}

static void check_name(const char name[CONTAINER_NAME_BYTES])
{
	const char *end = memchr(name, '\0', CONTAINER_NAME_BYTES);

	fuzz_must(end);
	for (const char *at = name; at < end; at++)
		fuzz_must(isalnum((unsigned char)*at) || (at > name && strchr("_.-", *at)));
}

static void parse_docker(const struct fuzz_input *input)
{
	uint8_t *text = fuzz_copy(input);
	char name[CONTAINER_NAME_BYTES], path[64];

	if (container_parse_docker((const char *)text, input->left, name) == 0) {
		fuzz_must(name[0]);
		check_name(name);
	}
	if (container_parse_docker_root((const char *)text, input->left, path, sizeof(path)) == 0)
		fuzz_must(path[0] == '/' && memchr(path, '\0', sizeof(path)));
	free(text);
}

/* Each label ends within its room, and is printable. */
static void check_label(const char *label, size_t size)
{
	fuzz_must(strnlen(label, size) < size);
	for (; *label; label++)
		fuzz_must(*label >= ' ' && *label <= '~');
}

static void parse_labels(const struct fuzz_input *input)
{
	uint8_t *text = fuzz_copy(input);
	struct process_labels labels = { .service = "" };

	labels_parse_unit((const char *)text, input->left, &labels);
	labels_parse_pod((const char *)text, input->left, &labels);
	labels_parse_environment((const char *)text, input->left, true, &labels);
	labels_parse_docker((const char *)text, input->left, &labels);
	check_label(labels.service, sizeof(labels.service));
	check_label(labels.version, sizeof(labels.version));
	check_label(labels.revision, sizeof(labels.revision));
	check_label(labels.namespace, sizeof(labels.namespace));
	check_label(labels.pod, sizeof(labels.pod));
	check_label(labels.pod_uid, sizeof(labels.pod_uid));
	free(text);
}

static void parse_monitor(const struct fuzz_input *input)
{
	uint8_t *text = fuzz_copy(input);
	struct container container;
	char **words;

	fuzz_must(procfs_parse_command((const char *)text, input->left, &words) == 0);
	if (container_parse_monitor((const char *const *)words, &container) == 0) {
		fuzz_must(container_is_id(container.id, strlen(container.id)));
		check_name(container.name);
	}
	free(words);
	free(text);
}

/* Behind the first NUL, or the end, the cgroup that is asked about. */
static void match_cgroup(const struct fuzz_input *input)
{
	struct fuzz_input text = *input;
	const uint8_t *end = input->left ? memchr(input->at, '\0', input->left) : NULL;
	struct fuzz_input wanted = { end ? end + 1 : NULL,
				     end ? (size_t)(input->at + input->left - end - 1) : 0 };
	char *asked = fuzz_text(&wanted);
	uint8_t *copy;
	bool first;

	if (end)
		text.left = (size_t)(end - input->at);
	copy = fuzz_copy(&text);
	first = cgroup_matches((const char *)copy, text.left, asked);
	fuzz_must(cgroup_matches((const char *)copy, text.left, asked) == first);
	fuzz_must(!cgroup_matches((const char *)copy, 0, asked));
	free(copy);
	free(asked);
}

static void parse_command(const struct fuzz_input *input)
{
	uint8_t *text = fuzz_copy(input);
	size_t count = 0, bytes = 0;
	char **words;

	fuzz_must(procfs_parse_command((const char *)text, input->left, &words) == 0);
	for (; words[count]; count++)
		bytes += strlen(words[count]) + 1;
	fuzz_must(count <= PROCFS_COMMAND_WORDS_MAX && bytes <= input->left + 1);
	fuzz_must(count == PROCFS_COMMAND_WORDS_MAX || bytes >= input->left);
	free(words);
	free(text);
}

static void parse_schedule(const struct fuzz_input *input)
{
	struct thread_schedule schedule;
	int fd = fuzz_file(input->at, input->left);

	if (thread_schedule_read(fd, &schedule) == 0)
		fuzz_must(schedule.turns);
	close(fd);
}

static void parse_children(const struct fuzz_input *input)
{
	uint8_t *text = fuzz_copy(input);
	struct pid_list children = { 0 };
	FILE *file = input->left ? fmemopen(text, input->left, "r") : NULL;

	if (file) {
		fuzz_must(children_take(file, &children) == 0);
		fclose(file);
	}
	for (size_t i = 0; i < children.count; i++)
		fuzz_must(children.items[i] > 0);
	pid_list_deinit(&children);
	free(text);
}

/* The root is what is before the first ':'. */
static void find_in_root(char *text)
{
	char *path = strchr(text, ':');
	const char *found;

	if (!path)
		return;
	*path++ = '\0';
	found = procfs_path_in_root(path, text);
	fuzz_must(found >= path && found <= path + strlen(path));
}

static void read_setting(const struct fuzz_input *input)
{
	int fd = fuzz_file(input->at, input->left);
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	(void)procfs_read_setting(path, 7);
	close(fd);
}

/* The folder that is asked about, then lines of mountinfo. */
static void take_mounts(char *text)
{
	static struct cgroup_mount mount;
	static char path[CGROUP_PATH_SIZE];
	char *next = text, *folder = strsep(&next, "\n"), *line;

	mount = (struct cgroup_mount){ 0 };
	while ((line = strsep(&next, "\n")))
		cgroup_mount_take(&mount, line, folder);
	if (cgroup_mount_path(&mount, folder, path))
		fuzz_must(path[0] == '/' && memchr(path, '\0', sizeof(path)));
}

static void decode_stop(struct fuzz_input *input)
{
	int signal = -1;

	fuzz_must((unsigned)stop_decode((int)fuzz_number(input, 4), &signal) < STOP_COUNT);
	fuzz_must(signal >= 0 && signal < 256);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = { data, size };
	uint64_t choice = fuzz_number(&input, 1);
	char *text = fuzz_text(&input);
	struct process_status status;
	struct process_times times;
	struct process_sleep sleep_state;

	struct process_credentials credentials;

	switch (choice % 17) {
	case 0:
		parse_mappings(&input);
		break;
	case 1:
		procfs_parse_status(text, &status);
		fuzz_must(memchr(status.name, '\0', sizeof(status.name)));
		break;
	case 2:
		(void)!procfs_parse_times(text, &times);
		break;
	case 3:
		(void)!procfs_parse_sleep(text, &sleep_state);
		break;
	case 4:
		parse_schedule(&input);
		break;
	case 5:
		parse_container(&input);
		break;
	case 6:
		match_cgroup(&input);
		break;
	case 7:
		parse_command(&input);
		break;
	case 8:
		if (procfs_parse_credentials(text, &credentials) == 0) {
			fuzz_must(credentials.group_count <= PROCFS_GROUPS_MAX);
			fuzz_must(process_credentials_may_become(&credentials, &credentials));
		}
		break;
	case 9:
		parse_children(&input);
		break;
	case 10:
		find_in_root(text);
		break;
	case 11:
		decode_stop(&input);
		break;
	case 12:
		read_setting(&input);
		break;
	case 13:
		parse_docker(&input);
		break;
	case 14:
		parse_monitor(&input);
		break;
	case 15:
		take_mounts(text);
		break;
	case 16:
		parse_labels(&input);
		break;
	}
	free(text);
	return 0;
}
