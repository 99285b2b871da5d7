# SPDX-License-Identifier: Apache-2.0
"""Lynx of a mountain range year by year: each year's rates depend on how many there are, and wardens ask what would help most."""

import numpy as np
from scipy.linalg import eig

from common import run

AGES, YEARS = 16, 30


class Range:
    """Births and survival by age; both fall as the range fills up."""

    def __init__(self, rng):
        self.rng = rng
        self.births = np.clip(rng.normal(0.9, 0.15, AGES), 0.2, None)
        self.births[:2] = 0.0
        self.survival = np.clip(rng.normal(0.82, 0.04, AGES - 1), 0.4, 0.95)
        self.count = rng.uniform(4, 14, AGES)
        self.places = 30.0 * AGES

    def rates(self):
        """This year's matrix: births in the first row, survival below the diagonal."""
        full = min(self.count.sum() / self.places, 1.2)
        winter = self.rng.beta(8, 2)
        matrix = np.zeros((AGES, AGES))
        matrix[0] = self.births * (1.0 - 0.6 * full) * winter
        matrix[np.arange(1, AGES), np.arange(AGES - 1)] = self.survival * (1.0 - 0.15 * full**2) * (0.85 + 0.15 * winter)
        return matrix

    def step(self, matrix, released):
        self.count = matrix @ self.count
        self.count[1] += released


class Wardens:
    def __init__(self):
        self.rows = []
        self.help = np.zeros(2)

    def study(self, matrix):
        """Growth, the ages it would settle at, and how growth follows each rate."""
        values, left, right = eig(matrix, left=True, right=True)
        at = int(np.argmax(values.real))
        stable = np.abs(right[:, at])
        worth = np.abs(left[:, at])
        sense = np.outer(worth, stable) / (worth @ stable)
        return float(values[at].real), stable / stable.sum(), sense * matrix / values[at].real

    def advise(self, growth, shares, pull):
        """Young lynx are set free in bad years; else the forest or the roads are seen to."""
        births, survival = float(pull[0].sum()), float(np.trace(pull, offset=-1))
        self.help += (births, survival)
        if growth < 0.97:
            return 6.0
        return 2.0 if shares[:3].sum() < 0.4 else 0.0

    def year(self, year, lynx):
        matrix = lynx.rates()
        growth, shares, pull = self.study(matrix)
        released = self.advise(growth, shares, pull)
        lynx.step(matrix, released)
        self.rows.append((year, growth, float(lynx.count.sum()), released, float(shares @ np.arange(AGES))))


def one_pass(number, step):
    rng = np.random.default_rng(number)
    rows, help = [], np.zeros(2)
    for valley in range(2):
        lynx, wardens = Range(rng), Wardens()
        for year in range(YEARS):
            wardens.year(year, lynx)
        rows += wardens.rows
        help += wardens.help
    table = ["%2d %.4f %7.1f %3.0f %.2f" % row for row in rows]
    return table[YEARS - 1], table[-1], help.tolist()


if __name__ == "__main__":
    run(one_pass)
