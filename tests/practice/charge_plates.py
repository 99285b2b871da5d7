# SPDX-License-Identifier: Apache-2.0
"""The potential between charged plates: red and black points of a grid are relaxed in turn, in place, until little changes."""

import numpy as np

from common import run

SIDE = 190
SWEEPS = 40


class Box:
    def __init__(self, rng):
        self.grid = np.zeros((SIDE, SIDE))
        self.held = np.zeros((SIDE, SIDE), bool)
        self.held[0] = self.held[-1] = self.held[:, 0] = self.held[:, -1] = True
        for _ in range(6):
            row, column = rng.integers(10, SIDE - 50, 2)
            if rng.random() < 0.5:
                part = np.s_[row : row + 2, column : column + 40]
            else:
                part = np.s_[row : row + 40, column : column + 2]
            self.grid[part] = rng.uniform(-10, 10)
            self.held[part] = True
        rows, columns = np.indices((SIDE - 2, SIDE - 2))
        free = ~self.held[1:-1, 1:-1]
        self.colours = [np.where(free & ((rows + columns) % 2 == colour), 1.8 / 4, 0.0) for colour in (0, 1)]
        self.change = np.empty((SIDE - 2, SIDE - 2))

    def relax(self, weights):
        """Over-relaxes the points of one colour; those of the other have been moved since the last time."""
        inner, change = self.grid[1:-1, 1:-1], self.change
        np.add(self.grid[:-2, 1:-1], self.grid[2:, 1:-1], out=change)
        change += self.grid[1:-1, :-2]
        change += self.grid[1:-1, 2:]
        change -= 4 * inner
        change *= weights
        inner += change
        return max(change.max(), -change.min())

    def settle(self, sweeps):
        for sweep in range(sweeps):
            worst = max(self.relax(self.colours[0]), self.relax(self.colours[1]))
            if worst < 1e-3:
                break
        return sweep, float(worst)

    def energy(self):
        down, across = np.diff(self.grid, axis=0), np.diff(self.grid, axis=1)
        return float((down**2).sum() + (across**2).sum()) / 2


def one_pass(number, _):
    rng = np.random.default_rng(number)
    box = Box(rng)
    sweep, worst = box.settle(SWEEPS)
    field = np.hypot(*np.gradient(box.grid))
    row, column = np.unravel_index(field.argmax(), field.shape)
    return sweep, worst, box.energy(), int(row), int(column), float(field.max())


if __name__ == "__main__":
    run(one_pass, None)
