# SPDX-License-Identifier: Apache-2.0
"""Shortest ways from the first place to all others; the nearest of those that wait is looked for among all of them.

The streets are others in each round. With --fixed there is a heap.
"""
import heapq

import round_runner

PLACES = 900


def ways(streets, fixed):
    away, waiting, heap = {0: 0}, {0}, [(0, 0)]
    while waiting:
        if fixed:
            at = heapq.heappop(heap)[1]
            if at not in waiting:
                continue
        else:
            at = min(waiting, key=away.get)
        waiting.remove(at)
        for to, length in streets[at]:
            way = away[at] + length
            if way < away.get(to, 10**9):
                away[to] = way
                waiting.add(to)
                heapq.heappush(heap, (way, to))
    return away


def walk(rng, fixed, number):
    streets = [[(rng.randrange(PLACES), 50 + rng.randrange(100)) for _ in range(6)] for _ in range(PLACES)]
    # Once: it is the same work.
    if not number and ways(streets, False) != ways(streets, True):
        return "other ways"
    ways(streets, fixed)
    return None


round_runner.run("nearest_place", __doc__, walk)
