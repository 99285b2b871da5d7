# SPDX-License-Identifier: Apache-2.0
"""Simulates waves on a pond with numpy: two fields take turns, one being read while the other is written."""
import numpy as np

import service

SIDE = 500
DAMPING = 0.996


class Pond:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.now = np.zeros((SIDE, SIDE))
        self.before = np.zeros((SIDE, SIDE))
        self.steps = 0

    def drop(self):
        row, column = self.rng.integers(5, SIDE - 5, 2)
        self.now[row - 2 : row + 3, column - 2 : column + 3] -= 1.0

    def step(self):
        """The field before becomes the one after."""
        around = self.now[:-2, 1:-1] + self.now[2:, 1:-1] + self.now[1:-1, :-2] + self.now[1:-1, 2:]
        after = self.before
        after[1:-1, 1:-1] = (around / 2 - after[1:-1, 1:-1]) * DAMPING
        self.before, self.now = self.now, after
        self.steps += 1

    def energy(self):
        return float((self.now**2).sum())


class Screen:
    """What is shown: every fourth point, as grey."""

    def __init__(self):
        self.grey = np.empty((SIDE // 4, SIDE // 4), np.uint8)

    def show(self, field):
        np.clip(field[::4, ::4] * 90 + 128, 0, 255, out=self.grey, casting="unsafe")
        return int(self.grey.max())


def main():
    pond, screen = Pond(113), Screen()
    brightest = 0
    for number in service.rounds(per_second=25):
        if number % 5 == 0:
            pond.drop()
        pond.step()
        brightest = max(brightest, screen.show(pond.now))
    print("steps %d, energy %.2f, brightest %d" % (pond.steps, pond.energy(), brightest))


if __name__ == "__main__":
    main()
