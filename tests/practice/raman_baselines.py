# SPDX-License-Identifier: Apache-2.0
"""Minerals from Raman spectra: spikes out, the fluorescence under the lines found by reweighted smoothing, lines fitted and named."""

import numpy as np
from scipy.linalg import solveh_banded
from scipy.ndimage import median_filter
from scipy.optimize import curve_fit
from scipy.signal import find_peaks

from common import run

SHIFTS = np.linspace(200.0, 1200.0, 150)
MINERALS = {"quartz": (464,), "calcite": (282, 712, 1086), "olivine": (824, 856), "gypsum": (415, 1008), "zircon": (357, 439, 1007)}


def line(x, centre, width, height):
    return height / (1 + ((x - centre) / width) ** 2)


class Smoother:
    """Whittaker's smoother: near the data where the weights say so, else with small second differences."""

    def __init__(self, count, stiffness):
        self.stiffness = stiffness
        steps = np.diff(np.eye(count), 2, axis=0)
        self.penalty = stiffness * (steps.T @ steps)

    def smooth(self, heights, weights):
        return np.linalg.solve(np.diag(weights) + self.penalty, weights * heights)


class BandedSmoother(Smoother):
    def __init__(self, count, stiffness):
        super().__init__(count, stiffness)
        self.bands = np.zeros((3, count))
        for off in range(3):
            self.bands[off, : count - off] = np.diagonal(self.penalty, -off)

    def smooth(self, heights, weights):
        bands = self.bands.copy()
        bands[0] += weights
        return solveh_banded(bands, weights * heights, lower=True)


class Baseline:
    def __init__(self, smoother, above=0.01, rounds=12):
        self.smoother = smoother
        self.above = above
        self.rounds = rounds

    def under(self, heights):
        weights = np.ones(len(heights))
        for _ in range(self.rounds):
            base = self.smoother.smooth(heights, weights)
            again = np.where(heights > base, self.above, 1 - self.above)
            if np.array_equal(again, weights):
                break
            weights = again
        return base


class Identifier:
    def __init__(self, baseline):
        self.baseline = baseline

    def despike(self, counts):
        middle = median_filter(counts, 5)
        away = np.abs(counts - middle)
        return np.where(away > 8 * np.median(away) + 40, middle, counts)

    def lines(self, signal):
        peaks, _ = find_peaks(signal, prominence=25.0, distance=3)
        strongest = sorted(peaks, key=lambda at: -signal[at])[:2]
        for at in sorted(strongest):
            low, high = max(0, at - 6), min(len(SHIFTS), at + 7)
            try:
                found, _ = curve_fit(line, SHIFTS[low:high], signal[low:high], (SHIFTS[at], 8.0, signal[at]), maxfev=200)
            except RuntimeError:
                continue
            if SHIFTS[low] < found[0] < SHIFTS[high - 1]:
                yield float(found[0])

    def name(self, counts):
        clean = self.despike(counts)
        base = self.baseline.under(clean)
        lines = list(self.lines(clean - base))
        marks = {}
        for mineral, places in MINERALS.items():
            marks[mineral] = sum(any(abs(where - place) < 9 for where in lines) for place in places) / len(places)
        best = max(marks, key=marks.get)
        return best if marks[best] > 0 else "unknown", float(base.mean())


def make_spectrum(rng):
    names = list(MINERALS)
    glow = rng.uniform(200, 900) * np.exp(-(((SHIFTS - rng.uniform(300, 1100)) / rng.uniform(350, 700)) ** 2))
    counts = glow + 50
    for place in MINERALS[names[rng.integers(len(names))]]:
        counts = counts + line(SHIFTS, place + rng.normal(0, 1.5), rng.uniform(6, 12), rng.uniform(120, 500))
    counts = counts + rng.normal(0, 4, len(SHIFTS))
    counts[rng.integers(len(SHIFTS))] += rng.uniform(500, 3000)
    return counts


def one_pass(number, make_smoother):
    rng = np.random.default_rng(number)
    identifier = Identifier(Baseline(make_smoother(len(SHIFTS), 2e3)))
    named = [identifier.name(make_spectrum(rng)) for _ in range(10)]
    return [name for name, _ in named], sum(glow for _, glow in named)


if __name__ == "__main__":
    run(one_pass, Smoother, BandedSmoother)
