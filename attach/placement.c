/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/placement.h"

/* In a row on one other processor, before it is worth a move. */
#define STREAK 8
/* A move is judged by so many stops; more than half must have been on the same processor. */
#define TRIAL      16
#define REST_FIRST 256
#define REST_MAX   (1u << 20)

void placement_init(struct placement *placement)
{
	*placement = (struct placement){ .next_rest = REST_FIRST };
}

static void judge_trial(struct placement *placement)
{
	if (placement->together > TRIAL / 2) {
		placement->next_rest = REST_FIRST;
		return;
	}
	placement->rest = placement->next_rest;
	if (placement->next_rest < REST_MAX)
		placement->next_rest *= 2;
}

bool placement_moves(struct placement *placement, unsigned target_cpu, unsigned own_cpu)
{
	if (placement->trial) {
		placement->together += target_cpu == own_cpu;
		if (!--placement->trial)
			judge_trial(placement);
		return false;
	}
	if (placement->rest) {
		placement->rest--;
		return false;
	}
	if (target_cpu == own_cpu || target_cpu != placement->seen)
		placement->streak = 0;
	placement->seen = target_cpu;
	if (target_cpu == own_cpu || ++placement->streak < STREAK)
		return false;
	placement->streak = 0;
	placement->trial = TRIAL;
	placement->together = 0;
	return true;
}
