# SPDX-License-Identifier: Apache-2.0
"""Seats a concert hall: for every concert all ways to place the groups are noted, and the best few are kept."""
import random

import service

ROWS = 30
PLACES = 40
CONCERTS_KEPT = 12
TRIALS = 24000


class Way:
    """One way to seat the groups: the first place of each, and how well they see."""

    __slots__ = ("first", "view", "note")

    def __init__(self, first, view, note):
        self.first = first
        self.view = view
        self.note = note


def trial(groups, rng):
    first = []
    view = 0.0
    for size in groups:
        row = rng.randrange(ROWS)
        place = rng.randrange(PLACES - size)
        first.append((row, place))
        view += size * (ROWS - row) - abs(place + size / 2 - PLACES / 2)
    return Way(first, view, "view %.1f of %d groups" % (view, len(groups)))


class Hall:
    def __init__(self):
        self.plans = []

    def plan(self, groups, rng):
        """One way in sixty is good enough to be shown to the house; that of old concerts is thrown away."""
        ways = [trial(groups, rng) for _ in range(TRIALS)]
        kept = ways[::60]
        kept.sort(key=lambda way: -way.view)
        self.plans.append(kept)
        if len(self.plans) > CONCERTS_KEPT:
            del self.plans[0]
        return kept[0].view


def main():
    rng = random.Random(89)
    hall = Hall()
    total = 0.0
    for number in service.rounds(per_second=1):
        groups = [rng.randrange(1, 6) for _ in range(8)]
        total += hall.plan(groups, rng)
        if number % 15 == 0:
            print("plans %d" % len(hall.plans), flush=True)
    print("view %.1f" % total)


if __name__ == "__main__":
    main()
