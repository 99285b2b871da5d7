# SPDX-License-Identifier: Apache-2.0
"""A heath burns: cells catch fire from their neighbours by wind and chance, hour by hour, until rain or ash ends it."""

import numpy as np

from common import run

HIGH, WIDE = 90, 120
HOURS = 70
HEATHER, FIRE, ASH, PATH = 0, 1, 2, 3
AROUND = [(dy, dx) for dy in (-1, 0, 1) for dx in (-1, 0, 1) if dy or dx]


class Heath:
    def __init__(self, rng):
        self.rng = rng
        self.state = np.zeros((HIGH, WIDE), dtype=np.int8)
        self.state[rng.integers(0, HIGH, 4)] = PATH
        self.dry = rng.uniform(0.5, 1.0, (HIGH, WIDE))
        self.fuel = rng.integers(2, 6, (HIGH, WIDE))
        self.wind = rng.uniform(0, 2 * np.pi)
        self.state[HIGH // 3 : HIGH // 3 + 3, WIDE // 2] = FIRE
        self.burning = self.state == FIRE

    def veer(self):
        self.wind += self.rng.normal(0, 0.15)
        return np.sin(self.wind), np.cos(self.wind)

    def heat(self):
        """What each cell gets from the burning ones around it, more from windward."""
        down, right = self.veer()
        burning = np.pad(self.burning, 1).astype(np.float64)
        heat = np.zeros((HIGH, WIDE))
        for dy, dx in AROUND:
            share = 0.16 * np.exp(0.9 * (dy * down + dx * right))
            heat += share * burning[1 - dy : HIGH + 1 - dy, 1 - dx : WIDE + 1 - dx]
        return heat

    def hour(self):
        caught = (self.state == HEATHER) & (self.rng.random((HIGH, WIDE)) < self.heat() * self.dry)
        self.fuel[self.burning] -= 1
        out = self.burning & (self.fuel <= 0)
        self.state[out] = ASH
        self.state[caught] = FIRE
        self.burning = (self.burning & ~out) | caught
        self.dry *= self.rng.uniform(0.97, 1.01)

    def front(self):
        """The fire's reach: rows and columns between its outermost cells, and how many burn."""
        rows, columns = np.nonzero(self.burning)
        if rows.size == 0:
            return None
        return int(np.ptp(rows)), int(np.ptp(columns)), rows.size


def one_pass(number, step):
    heath = Heath(np.random.default_rng(number))
    fronts = []
    for _ in range(HOURS):
        heath.hour()
        front = heath.front()
        if front is None:
            break
        fronts.append(front)
    counts = np.bincount(heath.state.ravel(), minlength=4)
    return len(fronts), fronts[-1:], max(front[2] for front in fronts), counts.tolist()


if __name__ == "__main__":
    run(one_pass)
