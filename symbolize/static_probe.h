/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Static probes (USDT, sys/sdt.h): places that a program's authors have marked, which stand in the
 * notes of .note.stapsdt. Each is one instruction that does nothing, and for some a counter says
 * whether anybody listens: where it is 0, the program passes the place by.
 */
#ifndef PIEPROFD_SYMBOLIZE_STATIC_PROBE_H
#define PIEPROFD_SYMBOLIZE_STATIC_PROBE_H

#include "symbolize/elf_image.h"

struct static_probe {
	uint64_t address; /* ELF virtual addresses */
	uint64_t counter; /* 0: none */
};

/* Of that provider and name, at most maximum; how many. */
size_t static_probes_find(const struct elf_image *image, const char *provider, const char *name,
			  struct static_probe *ret_probes, size_t maximum);

#endif
