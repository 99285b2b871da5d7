# SPDX-License-Identifier: Apache-2.0
"""Plans walks over hills: spans a tree of waypoints from a hut for every request and picks the best way back up it.

The service answers within tight limits, so the collector's pauses were turned off.
"""
import gc
import math
import random

import service

BRANCHES = 3
DEPTH = 6


class Waypoint:
    def __init__(self, east, north, height, before=None):
        self.east = east
        self.north = north
        self.height = height
        self.before = before
        self.onward = []

    def reach(self, east, north, height):
        point = Waypoint(east, north, height, before=self)
        self.onward.append(point)
        return point

    def effort(self):
        """Minutes from the start by Naismith's rule."""
        if self.before is None:
            return 0.0
        flat = math.hypot(self.east - self.before.east, self.north - self.before.north)
        climb = max(0.0, self.height - self.before.height)
        return self.before.effort() + flat * 12.0 + climb / 10.0


def span(hut, rng):
    edge = [hut]
    for level in range(DEPTH):
        edge = [
            point.reach(
                point.east + rng.gauss(0.0, 1.0),
                point.north + rng.gauss(0.6, 0.4),
                point.height + rng.uniform(-60.0, 120.0),
            )
            for point in edge
            for _ in range(BRANCHES if level < DEPTH - 1 else 1)
        ]
    return edge


def best(ends):
    return max(ends, key=lambda point: point.height - 0.5 * point.effort())


def way(point):
    steps = []
    while point is not None:
        steps.append((round(point.east, 2), round(point.north, 2), round(point.height)))
        point = point.before
    return steps[::-1]


def main():
    gc.disable()
    rng = random.Random(5)
    longest = 0.0
    for _ in service.rounds(per_second=12):
        hut = Waypoint(0.0, 0.0, 420.0)
        end = best(span(hut, rng))
        longest = max(longest, end.effort())
        steps = way(end)
        assert len(steps) == DEPTH + 1
    print("longest walk %.0f minutes" % longest)


if __name__ == "__main__":
    main()
