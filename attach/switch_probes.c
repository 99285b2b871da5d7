/* SPDX-License-Identifier: Apache-2.0 */
/* Of mpi_probes.h: when threads leave the processor and come back (bpf/switch.h). */
#include "attach/mpi_probes.h"
#include "attach/mpi_probes_parts.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>

static const char *const names[] = { "on_switch", "on_wakeup" };

int mpi_probes_choose_switches(struct mpi_probes *probes)
{
	for (unsigned i = 0; i < 2; i++) {
		struct bpf_program *program =
			bpf_object__find_program_by_name(probes->object, names[i]);
		int error = program ? bpf_program__set_autoload(program, probes->switches >= 0)
				    : -ENOENT;

		if (error)
			return error;
	}
	return 0;
}

int mpi_probes_find_switches(struct mpi_probes *probes)
{
	if (probes->switches < 0)
		return 0;
	probes->switched_fd = bpf_object__find_map_fd_by_name(probes->object, "switched");
	probes->switch_targets_fd =
		bpf_object__find_map_fd_by_name(probes->object, "switch_targets");
	if (probes->switched_fd < 0 || probes->switch_targets_fd < 0)
		return -ENOENT;
	for (unsigned i = 0; i < 2; i++) {
		struct bpf_program *program =
			bpf_object__find_program_by_name(probes->object, names[i]);
		struct bpf_link *link = bpf_program__attach(program);

		if (!link)
			return -errno;
		probes->switch_links[i] = link;
	}
	return 0;
}

void mpi_probes_end_switches(struct mpi_probes *probes)
{
	for (unsigned i = 0; i < 2; i++) {
		(void)bpf_link__destroy(probes->switch_links[i]);
		probes->switch_links[i] = NULL;
	}
}

int mpi_probes_add_switches(struct mpi_probes *probes, unsigned slot, pid_t pid)
{
	uint32_t key = (uint32_t)pid, place;

	if (probes->switches < 0)
		return -ENOTSUP;
	place = (uint32_t)probe_cookie(slot, (unsigned)probes->switches);
	if (bpf_map_update_elem(probes->switch_targets_fd, &key, &place, BPF_ANY))
		return -errno;
	probes->processes[slot].switches_of = key;
	return 0;
}

void mpi_probes_remove_switches(struct mpi_probes *probes, unsigned slot)
{
	uint32_t *key = &probes->processes[slot].switches_of;

	if (*key)
		(void)bpf_map_delete_elem(probes->switch_targets_fd, key);
	*key = 0;
}

/* One that was woken is ready since then, and waits no more. */
static void give(const struct mpi_taker *taker, const struct switched *off, uint64_t now_ns)
{
	struct span_record part = off->record;
	bool woken = off->woken_ns > part.begin_ns && off->woken_ns < now_ns;

	if (part.begin_ns >= now_ns)
		return;
	part.end_ns = woken ? off->woken_ns : now_ns;
	part.flags = woken ? 0 : SPAN_IS_OPEN;
	taker->span(taker->context, &part);
	if (!woken)
		return;
	part.begin_ns = off->woken_ns;
	part.end_ns = now_ns;
	part.detail = SWITCH_READY;
	part.flags = SPAN_IS_OPEN;
	taker->span(taker->context, &part);
}

void mpi_probes_read_open_switches(const struct mpi_probes *probes, const struct mpi_taker *taker,
				   uint64_t now_ns)
{
	uint32_t key, next;
	void *last = NULL;

	if (probes->switches < 0)
		return;
	for (unsigned i = 0;
	     i < 2 * CALLS_OPEN_MAX && !bpf_map_get_next_key(probes->switched_fd, last, &next);
	     i++) {
		struct switched off;

		key = next;
		last = &key;
		if (!bpf_map_lookup_elem(probes->switched_fd, &key, &off))
			give(taker, &off, now_ns);
	}
}
