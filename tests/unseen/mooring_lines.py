# SPDX-License-Identifier: Apache-2.0
"""A floating pontoon on mooring lines: waves push it about, lines that are pulled too hard part, and offsets are logged."""

import numpy as np

from runner import run

BODIES = 12
FREEDOMS = 3 * BODIES


class Line:
    def __init__(self, rng):
        self.body = int(rng.integers(BODIES))
        self.heading = rng.uniform(0, 2 * np.pi)
        self.rate = rng.uniform(40.0, 90.0)
        self.strength = rng.uniform(7.0, 30.0)
        self.parted = False
        self.arm = np.zeros(FREEDOMS)
        self.arm[3 * self.body : 3 * self.body + 3] = np.cos(self.heading), np.sin(self.heading), rng.uniform(-2.0, 2.0)


class Pontoon:
    def __init__(self, rng):
        self.lines = [Line(rng) for _ in range(40)]
        self.hinge = rng.uniform(300.0, 500.0)
        self.offset = np.zeros(FREEDOMS)
        self.drift = np.zeros(FREEDOMS)
        self.arms = np.array([line.rate * line.arm for line in self.lines])
        self.strengths = np.array([line.strength for line in self.lines])
        self.stiffness = self.assemble()
        self.events = []

    def assemble(self):
        matrix = np.eye(FREEDOMS) * 25.0
        for body in range(BODIES - 1):
            here, there = slice(3 * body, 3 * body + 3), slice(3 * body + 3, 3 * body + 6)
            for one, other, sign in ((here, here, 1), (there, there, 1), (here, there, -1), (there, here, -1)):
                matrix[one, other] += sign * self.hinge * np.eye(3)
        for line in self.lines:
            if not line.parted:
                matrix += line.rate * np.outer(line.arm, line.arm)
        return matrix

    @property
    def flexibility(self):
        return np.linalg.inv(self.stiffness)

    def settle(self, force):
        self.drift = 0.98 * self.drift + 0.02 * force
        self.offset = 0.7 * self.offset + 0.3 * (self.flexibility @ (force + self.drift))

    def check(self, at):
        pulls = self.arms @ self.offset
        for number in np.flatnonzero(pulls > self.strengths):
            line = self.lines[number]
            line.parted = True
            self.arms[number] = 0.0
            self.events.append((at, line.body, round(float(pulls[number]), 4)))
            self.stiffness = self.assemble()
        return float((pulls / self.strengths).max())


class PontoonFixed(Pontoon):
    inverse = None, None

    @property
    def flexibility(self):
        if self.inverse[0] is not self.stiffness:
            self.inverse = self.stiffness, np.linalg.inv(self.stiffness)
        return self.inverse[1]


def waves(rng, steps):
    period = rng.uniform(4.0, 11.0, 5)
    height = rng.uniform(2.0, 9.0, 5)
    phase = rng.uniform(0, 6.28, 5)
    lag = phase[:, None] - 0.35 * np.repeat(np.arange(BODIES), 3)
    pace = np.pi / period[:, None]
    for at in range(steps):
        rise = np.cos(pace * at + lag)
        yield height @ rise + rng.normal(0, 3.0, FREEDOMS)


def one_pass(number, step):
    rng = np.random.default_rng(number)
    pontoon = step(rng)
    furthest, worst = 0.0, []
    for at, force in enumerate(waves(rng, 420)):
        pontoon.settle(force)
        worst.append(pontoon.check(at))
        furthest = max(furthest, float(np.abs(pontoon.offset).max()))
    return furthest, max(worst), len(pontoon.events), pontoon.events[:4]


if __name__ == "__main__":
    run(one_pass, Pontoon, PontoonFixed)
