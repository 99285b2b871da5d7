# SPDX-License-Identifier: Apache-2.0
"""How deep the ground thaws over permafrost: heat flows down a column whose water freezes, by implicit steps of a day."""

from itertools import accumulate

import numpy as np
from scipy.linalg import solve_banded

from common import run

DAY = 86400.0
MELTING = 334e6
FROZEN, THINNER = 2.2, 1.3 / 2.2
SOLID, WET = 1.9e6, 2.8e6
RANGE = 0.4


def make_summer(rng, days):
    """The surface's temperature, day by day, under what shelter the snow gives."""
    day = np.arange(days)
    pushes = rng.normal(0, 2.0, days).tolist()
    weather = np.array(list(accumulate(pushes, lambda now, push: 0.8 * now + push)))
    surface = -6 - 18 * np.cos(2 * np.pi * (day - 20) / 365.25) + weather
    snow = np.clip(0.35 * np.cos(2 * np.pi * (day - 45) / 365.25), 0, None)
    return np.where(surface < 0, surface * np.exp(-3 * snow), surface)


class Column:
    def __init__(self, rng, layers=100, thick=0.1):
        self.thick = thick
        self.water = 0.15 + 0.35 * np.exp(-np.arange(layers) * thick / rng.uniform(0.3, 1.5))
        self.latent = MELTING * self.water / RANGE
        self.below = 0.06
        self.warmth = np.full(layers, -4.0)
        self.bands = np.empty((3, layers))

    def melted(self, warmth):
        """The part of the water that is no ice: all above zero, none RANGE below."""
        return np.clip(warmth / RANGE + 1, 0, 1)

    def solve(self, guess, surface):
        """One implicit step; how well layers lead and store heat is taken from the guess."""
        wet = self.melted(guess)
        resists = 1 / (FROZEN * THINNER**wet)
        stores = SOLID + (WET - SOLID) * wet
        np.add(stores, self.latent, out=stores, where=(wet > 0) & (wet < 1))
        between = 2 / self.thick / (resists[:-1] + resists[1:])
        top = 2 / (resists[0] * self.thick)
        share = self.thick * stores / DAY
        bands = self.bands
        bands[0, 1:] = -between
        bands[2, :-1] = -between
        bands[1] = share
        bands[1, :-1] += between
        bands[1, 1:] += between
        bands[1, 0] += top
        right = share * self.warmth
        right[0] += top * surface
        right[-1] += self.below
        return solve_banded((1, 1), bands, right, check_finite=False)

    def step(self, surface, most=6):
        """Solved again with what the last answer says, until two answers agree."""
        guess = self.warmth
        for _ in range(most):
            found = self.solve(guess, surface)
            if np.abs(found - guess).max() < 0.02:
                break
            guess = found
        self.warmth = found

    def thawed(self):
        """Depth of the first frozen layer."""
        frozen = np.flatnonzero(self.warmth < 0)
        return float(frozen[0] * self.thick) if len(frozen) else len(self.warmth) * self.thick


def one_pass(number, _):
    rng = np.random.default_rng(number)
    surface = make_summer(rng, 365)
    column = Column(rng)
    depths = []
    for degrees in surface.tolist():
        column.step(degrees)
        depths.append(column.thawed())
    deepest = max(depths)
    return [deepest, depths.index(deepest), float(column.warmth[-1]), float(column.warmth[10])]


if __name__ == "__main__":
    run(one_pass)
