/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Static probes in the notes of an ELF file: those that seeds have, others, as many as there is
 * room for, and one less. Then the same in a file that changes between opening and use.
 */
#include "symbolize/static_probe.h"
#include "tests/fuzz/changing_image.h"

#define PROBES 16

static size_t find(const struct elf_image *image, const char *provider, const char *name,
		   struct static_probe *ret_probes, size_t maximum)
{
	/* Exactly as large: one too many is seen. */
	struct static_probe *probes = malloc(maximum * sizeof(probes[0]) + 1);
	size_t count;

	fuzz_must(probes);
	count = static_probes_find(image, provider, name, probes, maximum);
	fuzz_must(count <= maximum);
	for (size_t i = 0; i < count; i++)
		ret_probes[i] = probes[i];
	free(probes);
	return count;
}

/* Takes over the image. */
static void read_image(struct elf_image *image)
{
	static const char *const names[][2] = {
		{ "python", "gc__start" }, { "python", "gc__done" }, { "a", "" }, { "", "" }
	};
	struct static_probe all[PROBES], some[PROBES];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t count = find(image, names[i][0], names[i][1], all, PROBES), fewer;

		fuzz_must(find(image, names[i][0], names[i][1], some, 0) == 0);
		if (!count)
			continue;
		/* The first ones, whatever there is room for. */
		fewer = find(image, names[i][0], names[i][1], some, count - 1);
		fuzz_must(fewer <= count - 1);
	}
	elf_image_close(image);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_changing_image(data, size, read_image);
	return 0;
}
