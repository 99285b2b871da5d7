# SPDX-License-Identifier: Apache-2.0
"""Watches an eight's strokes from the launch: rhythm, drift, and when to shout."""

import math
import random
from collections import deque

import numpy as np

from common import run

KEPT = 12


def level(values):
    return float(np.mean(values))


def scatter(values):
    return float(np.std(values))


def level_fixed(values):
    return sum(values) / len(values)


def scatter_fixed(values):
    middle = sum(values) / len(values)
    return math.sqrt(sum((value - middle) ** 2 for value in values) / len(values))


class Coach:
    def __init__(self, level, scatter):
        self.level, self.scatter = level, scatter
        self.lengths = deque(maxlen=KEPT)
        self.seats = [deque(maxlen=KEPT) for _ in range(8)]
        self.shouts = []

    def stroke(self, at, length, catches):
        self.lengths.append(length)
        for seat, catch in zip(self.seats, catches):
            seat.append(catch)
        if at % 3 == 0:
            spread = self.scatter(list(self.lengths))
            if spread > 0.075:
                self.shouts.append(f"{at}: steady! {spread:.3f} {60 / self.level(list(self.lengths)):.1f}")
        for seat, catches in enumerate(self.seats, 1):
            if abs(catches[-1]) > 0.09:
                late = self.level(list(catches))
                self.shouts.append(f"{at}: {seat} {'late' if late > 0 else 'early'} {late * 1000:.0f} ms")


def one_pass(number, step):
    rnd = random.Random(number)
    coach = Coach(*step)
    travelled, speed = 0.0, 4.0
    for at in range(1_500):
        length = 1.7 + 0.15 * math.sin(at / 90) + rnd.gauss(0, 0.07)
        catches = [rnd.gauss(0.01, 0.05) for _ in range(8)]
        push = 8 - sum(abs(catch) * 9 for catch in catches)
        for _ in range(4):
            speed += (push - 0.28 * speed * speed) * length / 40
            travelled += speed * length / 4
        coach.stroke(at, length, catches)
    return travelled, len(coach.shouts), coach.shouts[-1]


if __name__ == "__main__":
    run(one_pass, (level, scatter), (level_fixed, scatter_fixed))
