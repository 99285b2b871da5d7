/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/memory_event.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_BYTES_MAX 256
#define DEVICES_MAX    64
/* Intel since Skylake: MEM_INST_RETIRED, whose umasks are loads and stores. */
#define ALL_STORES "event=0xd0,umask=0x82"
#define ALL_LOADS  "event=0xd0,umask=0x81"

struct device {
	const char *devices;
	char name[32];
};

/* The text of a small file of the device, without its newline. False: there is none. */
static bool read_file(const struct device *device, const char *folder, const char *name,
		      char text[FILE_BYTES_MAX])
{
	char path[512];
	ssize_t size;
	int fd;

	if (snprintf(path, sizeof(path), "%s/%s/%s%s%s", device->devices, device->name, folder,
		     *folder ? "/" : "", name) >= (int)sizeof(path))
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	size = read(fd, text, FILE_BYTES_MAX - 1);
	close(fd);
	if (size <= 0)
		return false;
	text[size] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return true;
}

static bool parse_number(const char *text, char **ret_end, uint64_t *ret_value)
{
	errno = 0;
	if (*text < '0' || *text > '9')
		return false;
	*ret_value = strtoull(text, ret_end, 0);
	return errno == 0;
}

/*
 * Puts value where a format such as "config1:0-15" or "config:0-7,32-35" says,
 * its low bits first. False: no such format, or the value does not fit.
 */
static bool place_value(const char *format, uint64_t value, uint64_t config[3])
{
	char *end;
	unsigned word = 0;

	if (strncmp(format, "config", 6) != 0)
		return false;
	format += 6;
	if (*format == '1' || *format == '2')
		word = (unsigned)(*format++ - '0');
	if (*format != ':')
		return false;
	do {
		uint64_t first, last, mask;

		if (!parse_number(format + 1, &end, &first))
			return false;
		last = first;
		if (*end == '-' && !parse_number(end + 1, &end, &last))
			return false;
		if (last > 63 || first > last)
			return false;
		mask = last - first == 63 ? UINT64_MAX : (1ull << (last - first + 1)) - 1;
		config[word] = (config[word] & ~(mask << first)) | (value & mask) << first;
		value = last - first == 63 ? 0 : value >> (last - first + 1);
		format = end;
	} while (*format == ',');
	return *format == '\0' && value == 0;
}

/* Terms as "event=0xcd,umask=0x1,ldlat=3". False when one of them is not understood. */
static bool parse_terms(const struct device *device, const char *terms, uint64_t config[3])
{
	char format[FILE_BYTES_MAX], name[32];

	while (*terms) {
		size_t length = strcspn(terms, "=,");
		uint64_t value = 1;

		if (length == 0 || length >= sizeof(name))
			return false;
		memcpy(name, terms, length);
		name[length] = '\0';
		terms += length;
		if (*terms == '=') {
			char *end;

			if (!parse_number(terms + 1, &end, &value))
				return false;
			terms = end;
		}
		if (!read_file(device, "format", name, format) ||
		    !place_value(format, value, config))
			return false;
		if (*terms == ',')
			terms++;
		else if (*terms)
			return false;
	}
	return true;
}

static bool read_type(const struct device *device, uint32_t *ret_type)
{
	char text[FILE_BYTES_MAX], *end;
	uint64_t type;

	if (!read_file(device, "", "type", text) || !parse_number(text, &end, &type) || *end ||
	    type > UINT32_MAX)
		return false;
	*ret_type = (uint32_t)type;
	return true;
}

static bool make_event(const struct device *device, const char *event, const char *terms,
		       uint8_t kinds, struct memory_event *ret)
{
	*ret = (struct memory_event){ .kinds = kinds };
	snprintf(ret->name, sizeof(ret->name), "%s%s%s", device->name, *event ? "/" : "", event);
	return read_type(device, &ret->type) && parse_terms(device, terms, ret->config);
}

static bool find_loads(const struct device *device, struct memory_event *ret)
{
	char terms[FILE_BYTES_MAX], other[FILE_BYTES_MAX];

	if (!read_file(device, "events", "mem-loads", terms))
		return false;
	/*
	 * There it counts only in a group behind another event. The one that counts
	 * all loads, precisely and with addresses too, needs none.
	 */
	if (read_file(device, "events", "mem-loads-aux", other))
		return read_file(device, "events", "mem-stores", other) &&
		       strcmp(other, ALL_STORES) == 0 &&
		       make_event(device, "all-loads", ALL_LOADS, ACCESS_LOAD, ret);
	return make_event(device, "mem-loads", terms, ACCESS_LOAD, ret);
}

static bool find_stores(const struct device *device, struct memory_event *ret)
{
	char terms[FILE_BYTES_MAX];

	return read_file(device, "events", "mem-stores", terms) &&
	       make_event(device, "mem-stores", terms, ACCESS_STORE, ret);
}

/*
 * AMD's instruction-based sampling of operations. Only kernels with the swfilt
 * format leave out the kernel; without it every system call would be disturbed.
 */
static bool find_operations(const struct device *device, struct memory_event *ret)
{
	char format[FILE_BYTES_MAX];
	bool counts_operations;

	if (strcmp(device->name, "ibs_op") != 0 || !read_file(device, "format", "swfilt", format))
		return false;
	counts_operations = read_file(device, "format", "cnt_ctl", format);
	return make_event(device, "", counts_operations ? "swfilt=1,cnt_ctl=1" : "swfilt=1",
			  ACCESS_LOAD | ACCESS_STORE, ret);
}

static int compare_devices(const void *left, const void *right)
{
	const struct device *a = left, *b = right;

	return strcmp(a->name, b->name);
}

static size_t list_devices(const char *folder, struct device devices[DEVICES_MAX])
{
	DIR *directory = opendir(folder);
	const struct dirent *entry;
	size_t count = 0;

	if (!directory)
		return 0;
	while (count < DEVICES_MAX && (entry = readdir(directory))) {
		if (entry->d_name[0] == '.' || strlen(entry->d_name) >= sizeof(devices[0].name))
			continue;
		devices[count].devices = folder;
		snprintf(devices[count++].name, sizeof(devices[0].name), "%s", entry->d_name);
	}
	closedir(directory);
	/* A folder lists them in any order. */
	qsort(devices, count, sizeof(devices[0]), compare_devices);
	return count;
}

size_t memory_event_find(const char *devices, uint8_t kinds,
			 struct memory_event ret_events[MEMORY_EVENTS_MAX])
{
	static bool (*const finders[])(const struct device *,
				       struct memory_event *) = { find_loads, find_stores,
								  find_operations };
	struct device found[DEVICES_MAX];
	size_t device_count = list_devices(devices, found), count = 0;

	for (size_t i = 0; i < device_count; i++)
		for (size_t k = 0; k < sizeof(finders) / sizeof(finders[0]); k++)
			if (count < MEMORY_EVENTS_MAX &&
			    finders[k](&found[i], &ret_events[count]) &&
			    (ret_events[count].kinds & kinds))
				count++;
	return count;
}

void memory_event_attributes(const struct memory_event *event, unsigned skid_allowed,
			     struct perf_event_attr *attributes)
{
	attributes->type = event->type;
	attributes->config = event->config[0];
	attributes->config1 = event->config[1];
	attributes->config2 = event->config[2];
	attributes->precise_ip = skid_allowed < 3 ? 3 - skid_allowed : 0;
	attributes->sample_type |= PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC;
}

uint8_t memory_event_kinds(const struct memory_event *event, uint64_t data_source)
{
	union perf_mem_data_src source = { .val = data_source };
	uint8_t kinds = 0;

	if (source.mem_op & PERF_MEM_OP_LOAD)
		kinds |= ACCESS_LOAD;
	if (source.mem_op & PERF_MEM_OP_STORE)
		kinds |= ACCESS_STORE;
	/* An event of one kind need not say it with each sample. */
	if (!kinds && event->kinds != (ACCESS_LOAD | ACCESS_STORE))
		kinds = event->kinds;
	return kinds;
}
