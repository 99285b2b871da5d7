/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why threads that are ready to run have no CPU: their control group's quota is used
 * up (cpu.stat counts for how long), or the machine is busy (/proc/stat). Sums since
 * the boot, to be subtracted from each other.
 *
 * A group's parents throttle it, too: of all of them the one that does most counts,
 * now and later another one perhaps. Versions 1 and 2 are looked for where they are
 * commonly mounted. The path of a group is hostile: whoever may make one names it.
 */
#ifndef PIEPROFD_ATTACH_CPU_SUPPLY_H
#define PIEPROFD_ATTACH_CPU_SUPPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct cpu_supply {
	uint64_t throttled_ns; /* of the process's control group; 0 also where nothing is known */
	uint64_t idle_ns;      /* of the machine's processors, all added up */
	uint64_t all_ns;       /* likewise: idle, busy and stolen; 0: unknown */
};

/* What cannot be read is 0. */
void cpu_supply_read(pid_t pid, struct cpu_supply *ret_supply);

/*
 * Whether the control group has no time for real-time threads (version 1 with
 * CONFIG_RT_GROUP_SCHED): then the kernel refuses them, whatever the capabilities are.
 * path: the file that says so.
 */
bool cpu_supply_realtime_refused(pid_t pid, char *path, size_t path_size);

/* Of the texts of cpu.stat and /proc/stat. Pure; without such a line: 0. */
uint64_t cpu_supply_throttled_ns(const char *text);
void cpu_supply_machine(const char *text, uint64_t ticks_per_second, uint64_t *ret_idle_ns,
			uint64_t *ret_all_ns);

#endif
