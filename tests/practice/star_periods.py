# SPDX-License-Identifier: Apache-2.0
"""Periods of eclipsing stars: nights' magnitudes are made level, a periodogram gives candidates, and folded light curves decide between them."""

import numpy as np
from scipy.signal import lombscargle
from scipy.stats import theilslopes

from common import run

NIGHTS = 320
BINS = 24


class Star:
    def __init__(self, rng):
        self.period = float(rng.uniform(0.6, 3.5))
        self.days = np.sort(rng.uniform(0, 90, NIGHTS))
        phase = (self.days / self.period + rng.uniform()) % 1.0
        deep, shallow = rng.uniform(0.3, 0.9), rng.uniform(0.1, 0.3)
        dips = deep * np.exp(-(((phase - 0.3) / 0.05) ** 2)) + shallow * np.exp(-(((phase - 0.8) / 0.05) ** 2))
        self.bright = 12 + dips + 0.002 * self.days + rng.normal(0, 0.03, NIGHTS)


class Folder:
    """A star's light by the phase of a trial period."""

    def __init__(self, star):
        self.days = star.days
        slope, level, _, _ = theilslopes(star.bright[::2], star.days[::2])
        self.light = star.bright - level - slope * star.days
        self.square = self.light**2
        self.whole = float(self.light.var())

    def folded(self, period):
        slots = (self.days / period % 1.0 * BINS).astype(int)
        counts, sums, squares = np.zeros(BINS), np.zeros(BINS), np.zeros(BINS)
        for slot, light, square in zip(slots, self.light, self.square):
            counts[slot] += 1
            sums[slot] += light
            squares[slot] += square
        return counts, sums, squares

    def dispersion(self, period):
        """Stellingwerf's measure: what spread is left within the bins, of the whole."""
        counts, sums, squares = self.folded(period)
        full = counts > 1
        within = (squares[full] - sums[full] ** 2 / counts[full]).sum()
        return float(within / (counts[full].sum() - full.sum()) / self.whole)


class FolderFixed(Folder):
    def folded(self, period):
        slots = (self.days / period % 1.0 * BINS).astype(int)
        return (
            np.bincount(slots, minlength=BINS),
            np.bincount(slots, self.light, BINS),
            np.bincount(slots, self.square, BINS),
        )


class Search:
    def __init__(self, folder, low=0.5, high=8.0, tries=900):
        self.folder = folder
        self.speeds = np.linspace(1 / high, 1 / low, tries) * 2 * np.pi

    def candidates(self, count=6):
        """Periods at the periodogram's peaks, and their doubles, as eclipses come in twos."""
        power = lombscargle(self.folder.days, self.folder.light, self.speeds)
        peak = np.flatnonzero((power[1:-1] > power[:-2]) & (power[1:-1] >= power[2:])) + 1
        for at in peak[np.argsort(-power[peak])][:count]:
            period = 2 * np.pi / self.speeds[at]
            yield from (period, 2 * period)

    def best(self):
        near = []
        for period in self.candidates():
            trials = period * (1 + np.linspace(-0.004, 0.004, 9))
            near += [(self.folder.dispersion(trial), float(trial)) for trial in trials]
        return min(near)


def one_pass(number, make_folder):
    rng = np.random.default_rng(number)
    found = []
    for _ in range(3):
        spread, period = Search(make_folder(Star(rng))).best()
        found.append((round(period, 4), round(spread, 5)))
    return found


if __name__ == "__main__":
    run(one_pass, Folder, FolderFixed)
