# SPDX-License-Identifier: Apache-2.0
"""Searches the warp tension that a loom logged through a shift for slack spells, and says which beam to look at."""

import random
from collections import Counter
from itertools import islice

from runner import run

PICKS = 7000
SPELL = 60
STEP = 30
SLACK = 31.0


class Shift:
    def __init__(self, seed):
        rnd = random.Random(seed)
        self.beam = "beam %d" % (seed % 7)
        self.tension = []
        level = 36.0
        for _ in range(PICKS):
            level += 0.03 * (36.0 - level) + rnd.uniform(-1.1, 1.1)
            self.tension.append(level)
        self.stops = sorted(rnd.sample(range(PICKS), 12))

    def spell(self, start):
        return list(islice(self.tension, start, start + SPELL))

    def stopped_in(self, start):
        return any(start <= stop < start + SPELL for stop in self.stops)


class ShiftFixed(Shift):
    def spell(self, start):
        return self.tension[start : start + SPELL]


def drift(spell):
    """Slope of the least squares line through a spell, in newtons a pick."""
    middle = (len(spell) - 1) / 2
    above = sum((at - middle) * value for at, value in enumerate(spell))
    return 12 * above / (len(spell) * (len(spell) ** 2 - 1))


def grade(spell):
    low = min(spell)
    if low < SLACK - 2:
        return "mend"
    if low < SLACK:
        return "slack"
    return "taut" if max(spell) > 42 else "good"


def inspect(shift):
    grades = Counter()
    mends = []
    steepest = (0.0, None)
    for start in range(0, PICKS - SPELL, STEP):
        spell = shift.spell(start)
        found = grade(spell)
        grades[found] += 1
        if found == "mend" and not shift.stopped_in(start):
            mends.append((start, round(sum(spell) / SPELL, 3)))
        slope = drift(spell)
        if abs(slope) > abs(steepest[0]):
            steepest = (slope, start)
    return grades, mends, steepest


def one_pass(number, step):
    shift = step(number)
    grades, mends, steepest = inspect(shift)
    return shift.beam, sorted(grades.items()), mends[:3], len(mends), steepest


if __name__ == "__main__":
    run(one_pass, Shift, ShiftFixed)
