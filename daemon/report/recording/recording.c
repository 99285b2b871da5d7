/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/recording/recording.h"

#include "common/printable.h"
#include "common/whole_file.h"
#include "daemon/report/model/finding.h"
#include "daemon/report/recording/profile_codec.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#define HEADER_BYTES    40
#define CHECKED_FROM    16 /* the header's own checksum covers the rest of it */
#define ARENA_BYTES_MAX ((size_t)1 << 30)
/* Fast, and within a few percent of what the slower ones make of a profile. */
#define COMPRESSION_LEVEL 3
#define NAME_COLUMNS      160

static const uint8_t magic[8] = { 0x89, 'P', 'I', 'E', 'P', 'R', 'O', '\n' };

struct header {
	uint8_t magic[8];
	uint32_t version;
	uint32_t header_checksum;
	uint64_t payload_bytes;
	uint64_t profile_bytes;
	uint32_t payload_checksum;
	uint32_t reserved;
};

_Static_assert(sizeof(struct header) == HEADER_BYTES, "as the file has it");

static uint32_t checksum(const void *bytes, size_t size)
{
	return (uint32_t)crc32_z(crc32_z(0, NULL, 0), bytes, size);
}

static uint32_t header_checksum(const struct header *header)
{
	return checksum((const uint8_t *)header + CHECKED_FROM, HEADER_BYTES - CHECKED_FROM);
}

int recording_put(const uint8_t *bytes, size_t size, FILE *file)
{
	struct header header = { .version = RECORDING_VERSION, .profile_bytes = size };
	size_t room = ZSTD_compressBound(size), used;
	void *payload = malloc(room);
	int result = 0;

	if (!payload)
		return -ENOMEM;
	memcpy(header.magic, magic, sizeof(magic));
	used = ZSTD_compress(payload, room, bytes, size, COMPRESSION_LEVEL);
	if (ZSTD_isError(used)) {
		free(payload);
		return -ENOMEM;
	}
	header.payload_bytes = used;
	header.payload_checksum = checksum(payload, used);
	header.header_checksum = header_checksum(&header);
	if (fwrite(&header, 1, sizeof(header), file) != sizeof(header) ||
	    fwrite(payload, 1, used, file) != used)
		result = -EIO;
	free(payload);
	return result;
}

static int recording_write(const struct profile *profile, const struct writer_options *options,
			   FILE *file)
{
	uint8_t *bytes;
	size_t size;
	int result = profile_encode(profile, &bytes, &size);

	(void)options;
	if (result)
		return result;
	result = recording_put(bytes, size, file);
	free(bytes);
	return result;
}

const struct writer writer_recording = { .name = "recording",
					 .extension = ".pieprof",
					 .write = recording_write };

/* ---- reading */

struct reading {
	const char *name; /* the path, fit to be shown */
	struct error *error;
	int fd;
	uint64_t file_bytes;
	struct header header;
};

static void refuse_damaged(const struct reading *reading, const char *what)
{
	error_set(reading->error, EXIT_INTERNAL, "%s is a damaged recording: %s", reading->name,
		  what);
	error_set_cure(reading->error,
		       "it cannot be repaired; copy it again from where it was made, or record "
		       "again");
}

static void refuse_truncated(const struct reading *reading)
{
	error_set(reading->error, EXIT_INTERNAL,
		  "%s is a truncated recording: %llu bytes of it are there", reading->name,
		  (unsigned long long)reading->file_bytes);
	error_set_cure(
		reading->error,
		"pieprofd itself leaves no such file: copy it again from where it was made, or "
		"record again");
}

static void refuse_other(const struct reading *reading)
{
	error_set(reading->error, EXIT_USAGE, "%s is not a recording of pieprofd", reading->name);
	error_set_cure(reading->error,
		       "report reads what -o FILE.pieprof wrote; the other formats are for "
		       "their own readers and cannot be converted back");
}

static void refuse_memory(const struct reading *reading)
{
	error_set(reading->error, EXIT_INTERNAL, "%s: out of memory", reading->name);
}

/* All of size bytes, from the file's offset. */
static int recording_read_all(int fd, void *bytes, size_t size)
{
	ssize_t got = whole_file_fill(fd, bytes, size);

	if (got < 0)
		return (int)got;
	return (size_t)got < size ? -ENODATA : 0;
}

static bool read_header(struct reading *reading)
{
	struct header *header = &reading->header;
	size_t begin =
		reading->file_bytes < HEADER_BYTES ? (size_t)reading->file_bytes : HEADER_BYTES;
	size_t compared = begin < sizeof(magic) ? begin : sizeof(magic);

	if (!begin || recording_read_all(reading->fd, header, begin) ||
	    memcmp(header, magic, compared)) {
		refuse_other(reading);
		return false;
	}
	if (begin < HEADER_BYTES) {
		refuse_truncated(reading);
		return false;
	}
	if (header->version > RECORDING_VERSION) {
		error_set(reading->error, EXIT_USAGE,
			  "%s is a recording of version %u, of a later pieprofd; this one reads up "
			  "to version %u",
			  reading->name, header->version, RECORDING_VERSION);
		error_set_cure(reading->error, "use the pieprofd that wrote it, or a later one");
		return false;
	}
	if (!header->version || header->header_checksum != header_checksum(header)) {
		refuse_damaged(reading, "its header has another checksum");
		return false;
	}
	if (header->payload_bytes > reading->file_bytes - HEADER_BYTES) {
		refuse_truncated(reading);
		return false;
	}
	if (header->payload_bytes != reading->file_bytes - HEADER_BYTES ||
	    header->profile_bytes > PROFILE_BYTES_MAX ||
	    header->payload_bytes > ZSTD_compressBound(PROFILE_BYTES_MAX)) {
		refuse_damaged(reading, "its size is not that of its header");
		return false;
	}
	return true;
}

/* The caller frees. NULL: refused. */
static uint8_t *read_payload(const struct reading *reading)
{
	size_t size = (size_t)reading->header.payload_bytes;
	uint8_t *payload = malloc(size + 1);
	int failure;

	if (!payload) {
		refuse_memory(reading);
		return NULL;
	}
	failure = recording_read_all(reading->fd, payload, size);
	if (failure == -ENODATA) {
		refuse_truncated(reading); /* meanwhile */
	} else if (failure) {
		error_set(reading->error, EXIT_INTERNAL, "%s cannot be read: %s", reading->name,
			  strerror(-failure));
	} else if (checksum(payload, size) != reading->header.payload_checksum) {
		refuse_damaged(reading, "its checksum does not match");
	} else {
		return payload;
	}
	free(payload);
	return NULL;
}

static uint8_t *decompress(const struct reading *reading, const uint8_t *payload)
{
	size_t size = (size_t)reading->header.profile_bytes;
	uint8_t *bytes = malloc(size + 1);

	if (!bytes) {
		refuse_memory(reading);
		return NULL;
	}
	if (ZSTD_decompress(bytes, size, payload, (size_t)reading->header.payload_bytes) == size)
		return bytes;
	refuse_damaged(reading, "it cannot be decompressed");
	free(bytes);
	return NULL;
}

static struct recording *recording_decode(const struct reading *reading, const uint8_t *bytes)
{
	struct recording *recording = calloc(1, sizeof(*recording));
	int failure = -ENOMEM;

	if (recording) {
		arena_init(&recording->arena, ARENA_BYTES_MAX);
		failure = profile_decode(bytes, (size_t)reading->header.profile_bytes,
					 &recording->arena, &recording->profile);
		if (!failure)
			failure = findings_make(&recording->profile, &recording->arena);
	}
	if (!failure)
		return recording;
	if (failure == -ENOMEM)
		refuse_memory(reading);
	else
		refuse_damaged(reading, "what it holds is not a profile");
	recording_close(recording);
	return NULL;
}

static struct recording *read_recording(struct reading *reading)
{
	struct recording *recording = NULL;
	uint8_t *payload = NULL, *bytes = NULL;

	if (read_header(reading))
		payload = read_payload(reading);
	if (payload)
		bytes = decompress(reading, payload);
	if (bytes)
		recording = recording_decode(reading, bytes);
	free(bytes);
	free(payload);
	return recording;
}

struct recording *recording_open(const char *path, struct error *error)
{
	char name[PRINTABLE_BYTES(NAME_COLUMNS)];
	struct reading reading = { .name = name, .error = error };
	struct recording *recording = NULL;
	struct stat status;

	printable_fit(name, sizeof(name), path, NAME_COLUMNS, true);
	/* A FIFO must not block. */
	reading.fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (reading.fd < 0 || fstat(reading.fd, &status) < 0) {
		error_set(error, errno == EACCES ? EXIT_PERMISSION : EXIT_USAGE,
			  "%s cannot be opened: %s", name, strerror(errno));
		error_set_cure(error, errno == EACCES
					      ? "recordings can be read by their owner alone: "
						"become that user, or root"
					      : "a recording is what -o FILE.pieprof writes");
	} else if (!S_ISREG(status.st_mode)) {
		refuse_other(&reading);
	} else {
		reading.file_bytes = (uint64_t)status.st_size;
		recording = read_recording(&reading);
	}
	if (reading.fd >= 0)
		close(reading.fd);
	return recording;
}

void recording_close(struct recording *recording)
{
	if (!recording)
		return;
	arena_deinit(&recording->arena);
	free(recording);
}
