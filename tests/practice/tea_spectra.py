# SPDX-License-Identifier: Apache-2.0
"""A tea merchant's spectrometer: each tray's leaves are lit, smoothed, corrected and sorted into grades by a model of two years ago."""

import numpy as np
from scipy.optimize import nnls
from scipy.signal import savgol_filter

from common import run

BANDS, LEAVES, TRAYS = 160, 24, 12
GRADES = ("dust", "broken", "leaf", "tip")


def tray(rng, wet):
    """Reflections of a tray: a few broad bands, water, scatter and noise."""
    waves = np.linspace(900, 1_700, BANDS)
    centres = rng.uniform(950, 1_650, (LEAVES, 5, 1))
    widths = rng.uniform(25, 90, (LEAVES, 5, 1))
    depth = rng.uniform(0.02, 0.2, (LEAVES, 5, 1))
    bands = (depth * np.exp(-(((waves - centres) / widths) ** 2))).sum(axis=1)
    water = wet * np.exp(-(((waves - 1_450) / 60) ** 2))
    scatter = rng.normal(1, 0.1, (LEAVES, 1)) * (0.8 - 1e-4 * (waves - 900))
    return scatter - bands - water + rng.normal(0, 0.004, (LEAVES, BANDS))


def smooth(rows):
    return np.array([savgol_filter(row, 13, 3, mode="nearest") for row in rows])


def smooth_fixed(rows):
    return savgol_filter(rows, 13, 3, axis=1, mode="nearest")


class Model:
    """Scores by a few directions, and the nearest of the grades' centres."""

    def __init__(self, rng):
        self.directions = np.linalg.qr(rng.normal(size=(BANDS, 6)))[0]
        self.centres = rng.normal(0, 0.7, (len(GRADES), 6))
        self.spread = rng.uniform(0.5, 1.5, 6)
        waves = np.linspace(0, 1, BANDS)[:, None]
        self.pure = np.exp(-(((waves - rng.uniform(0.1, 0.9, 18)) / rng.uniform(0.05, 0.2, 18)) ** 2))

    def grade(self, rows):
        scores = rows @ self.directions / self.spread
        away = ((scores[:, None, :] - self.centres) ** 2).sum(axis=2)
        best = away.argmin(axis=1)
        ordered = np.sort(away, axis=1)
        return best, ordered[:, 0] / ordered[:, 1]

    def parts(self, row):
        """How much of each pure stuff is in a leaf: no less than none."""
        amounts, rest = nnls(self.pure, row)
        return amounts / (amounts.sum() + 1e-9), rest


class Belt:
    def __init__(self, model, smooth):
        self.model = model
        self.smooth = smooth
        self.counts = np.zeros(len(GRADES), dtype=int)
        self.doubtful = 0
        self.odd, self.stuff = 0.0, np.zeros(18)
        self.slips = []

    def corrected(self, rows):
        """Scatter goes by a line fitted to the mean of the tray, leaf by leaf."""
        mean = rows.mean(axis=0)
        middle = mean - mean.mean()
        slope = (rows - rows.mean(axis=1, keepdims=True)) @ middle / (middle @ middle)
        offset = rows.mean(axis=1) - slope * mean.mean()
        return (rows - offset[:, None]) / slope[:, None]

    def dampness(self, rows):
        """Depth of the band of water under the line between its shoulders."""
        left, valley, right = rows[:, 95:99].mean(axis=1), rows[:, 108:112].mean(axis=1), rows[:, 124:128].mean(axis=1)
        return (left + right) / 2 - valley

    def take(self, number, rows):
        rows = self.corrected(self.smooth(rows))
        best, doubt = self.model.grade(np.gradient(rows, axis=1) * 100)
        self.counts += np.bincount(best, minlength=len(GRADES))
        unsure = doubt > 0.8
        self.doubtful += int(unsure.sum())
        parts, rests = zip(*[self.model.parts(row) for row in rows.max() - rows])
        self.odd += float(np.max(rests))
        self.stuff += np.sum(parts, axis=0)
        damp = self.dampness(rows)
        cells = ["%s%s" % (GRADES[kind], "?" if open else "") for kind, open in zip(best.tolist(), unsure.tolist())]
        self.slips.append("tray %02d damp %.3f %.3f: %s" % (number, damp.mean(), damp.max(), " ".join(cells)))


def one_pass(number, smooth):
    rng = np.random.default_rng(number)
    belt = Belt(Model(rng), smooth)
    for at in range(TRAYS):
        belt.take(at, tray(rng, rng.uniform(0.05, 0.3)))
    return belt.counts.tolist(), belt.doubtful, belt.odd, belt.stuff.tolist(), belt.slips[0], belt.slips[-1]


if __name__ == "__main__":
    run(one_pass, smooth, smooth_fixed)
