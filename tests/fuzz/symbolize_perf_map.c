/* SPDX-License-Identifier: Apache-2.0 */
/* A perf map, which grows between two readings: u16 where it is cut, then its text. */
#include "symbolize/perf_map.h"
#include "tests/fuzz/fuzz.h"

static void look_up(const struct perf_map *map)
{
	for (remote_addr at = 0x7f3c4a000ff0; at < 0x7f3c4a002080; at += 0x3f) {
		remote_addr start = 0;
		const char *name = perf_map_find(map, at, &start);

		fuzz_read_string(name);
		fuzz_must(!name || start <= at);
	}
	for (unsigned bit = 0; bit < 64; bit++)
		fuzz_read_string(perf_map_find(map, 1ull << bit, NULL));
	(void)perf_map_find(map, UINT64_MAX, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = { data, size };
	size_t cut = (size_t)fuzz_number(&input, 2);
	struct perf_map *map = perf_map_create();
	int fd;

	fuzz_must(map);
	if (cut > input.left)
		cut = input.left;
	fd = fuzz_file(input.at, cut);
	fuzz_must(perf_map_update(map, fd) == 0);
	look_up(map);
	fuzz_file_fill(fd, input.at, input.left);
	fuzz_must(perf_map_update(map, fd) == 0);
	look_up(map);
	fuzz_must(perf_map_count(map) <= input.left);
	close(fd);
	perf_map_destroy(map);
	return 0;
}
