# SPDX-License-Identifier: Apache-2.0
"""How long mountain rescue teams need on foot to every part of a fell, and which parts are out of reach in time."""

import heapq
import math
import random

from common import run

CELL = 50.0
SIDES = [(down, right) for down in (-1, 0, 1) for right in (-1, 0, 1) if down or right]


def make_fell(rng, size):
    """Heights in metres: a few summits over a tilted moor, with rough ground."""
    summits = [(rng.uniform(0, size), rng.uniform(0, size), rng.uniform(60, 260), rng.uniform(3, 9)) for _ in range(7)]
    heights = []
    for row in range(size):
        line = []
        for column in range(size):
            height = 2.0 * row + rng.gauss(0, 4)
            for top, left, tall, wide in summits:
                height += tall * math.exp(-((row - top) ** 2 + (column - left) ** 2) / (2 * wide * wide))
            line.append(height)
        heights.append(line)
    return heights


class Fell:
    def __init__(self, heights):
        self.heights = heights
        self.size = len(heights)

    def around(self, cell):
        """Neighbours, and the minutes to each by Tobler's pace on that slope; cliffs are left out."""
        row, column = cell
        here = self.heights[row][column]
        for down, right in SIDES:
            other = row + down, column + right
            if not (0 <= other[0] < self.size and 0 <= other[1] < self.size):
                continue
            way = CELL * (1.4142135623730951 if down and right else 1.0)
            slope = (self.heights[other[0]][other[1]] - here) / way
            if abs(slope) < 1.1:
                yield other, way / (100.0 * math.exp(-3.5 * abs(slope + 0.05)))


def minutes_from(fell, base):
    minutes = {base: 0.0}
    waiting = {base}
    done = set()
    while waiting:
        cell = min(waiting, key=minutes.get)
        waiting.remove(cell)
        done.add(cell)
        for other, walk in fell.around(cell):
            if other in done:
                continue
            arrival = minutes[cell] + walk
            if arrival < minutes.get(other, math.inf):
                minutes[other] = arrival
                waiting.add(other)
    return minutes


def minutes_from_fixed(fell, base):
    minutes = {base: 0.0}
    waiting = [(0.0, base)]
    done = set()
    while waiting:
        _, cell = heapq.heappop(waiting)
        if cell in done:
            continue
        done.add(cell)
        for other, walk in fell.around(cell):
            if other in done:
                continue
            arrival = minutes[cell] + walk
            if arrival < minutes.get(other, math.inf):
                minutes[other] = arrival
                heapq.heappush(waiting, (arrival, other))
    return minutes


def one_pass(number, minutes_of):
    rng = random.Random(number)
    fell = Fell(make_fell(rng, 42))
    bases = [(rng.randrange(fell.size), rng.randrange(fell.size)) for _ in range(3)]
    tables = [minutes_of(fell, base) for base in bases]
    soonest = [min(table.get((row, column), math.inf) for table in tables) for row in range(fell.size) for column in range(fell.size)]
    reached = [time for time in soonest if time < math.inf]
    late = sum(time > 20 for time in soonest)
    return [len(reached), late, sum(reached) / len(reached), max(reached)]


if __name__ == "__main__":
    run(one_pass, minutes_from, minutes_from_fixed)
