# SPDX-License-Identifier: Apache-2.0
"""Landslide survey: from a grid of heights come slope, relief and wetness, and the patches of ground that may slip."""

import numpy as np
from scipy import ndimage

from common import run

SIDE, CELL = 64, 5.0
NEIGHBOURS = np.ones((3, 3), dtype=bool)


def hills(rng):
    ground = np.zeros((SIDE, SIDE))
    for scale, high in ((20, 90.0), (9, 30.0), (4, 8.0), (1, 0.6)):
        ground += high * ndimage.gaussian_filter(rng.normal(size=(SIDE, SIDE)), scale, mode="reflect") * scale
    return ground - ground.min()


def without_spikes(heights):
    """Birds and power lines are taken out of the scan."""
    middle = ndimage.median_filter(heights, size=5)
    return np.where(np.abs(heights - middle) > 4.0, middle, heights)


def slope(heights):
    down, across = np.gradient(heights, CELL)
    return np.degrees(np.arctan(np.hypot(down, across)))


def relief(heights):
    """How far the highest ground around a cell lies above the lowest."""
    return ndimage.generic_filter(heights, np.ptp, size=5, mode="nearest")


def relief_fix(heights):
    return ndimage.maximum_filter(heights, size=5, mode="nearest") - ndimage.minimum_filter(heights, size=5, mode="nearest")


def flow(heights):
    """Cells uphill of each cell: water goes to the lowest neighbour, from the highest cell on."""
    padded = np.pad(heights, 1, constant_values=np.inf)
    steps = [(down, across) for down in range(3) for across in range(3) if (down, across) != (1, 1)]
    around = np.stack([padded[d : d + SIDE, a : a + SIDE] for d, a in steps])
    lowest = around.argmin(axis=0)
    offsets = np.array([(d - 1) * SIDE + a - 1 for d, a in steps])
    target = np.arange(SIDE * SIDE) + offsets[lowest.ravel()]
    pit = (around.min(axis=0) >= heights).ravel()
    water, to, stays = [1] * (SIDE * SIDE), target.tolist(), pit.tolist()
    for cell in np.argsort(heights, axis=None)[::-1].tolist():
        if not stays[cell]:
            water[to[cell]] += water[cell]
    return np.array(water).reshape(SIDE, SIDE)


class Survey:
    def __init__(self, heights, relief_of):
        self.heights = without_spikes(heights)
        self.slope = slope(self.heights)
        self.relief = relief_of(self.heights)
        self.water = flow(self.heights)

    def wetness(self):
        return np.log(self.water * CELL / np.tan(np.radians(np.maximum(self.slope, 0.5))))

    def danger(self):
        score = self.slope / 45 + self.relief / 30 + self.wetness() / 12
        return score > np.quantile(score, 0.93)

    def patches(self, least=6):
        labels, count = ndimage.label(self.danger(), structure=NEIGHBOURS)
        numbers = np.arange(1, count + 1)
        sizes = ndimage.sum_labels(np.ones_like(self.heights), labels, numbers)
        tops = ndimage.maximum(self.relief, labels, numbers)
        centres = ndimage.center_of_mass(self.relief, labels, numbers)
        found = [(int(size), round(float(top), 4), tuple(round(float(at), 3) for at in centre)) for size, top, centre in zip(sizes, tops, centres)]
        return sorted((row for row in found if row[0] >= least), reverse=True)


def one_pass(number, relief_of):
    rng = np.random.default_rng(number)
    survey = Survey(hills(rng) + (rng.random((SIDE, SIDE)) < 0.004) * 20.0, relief_of)
    patches = survey.patches()
    return len(patches), patches[:3], float(survey.relief.mean()), int(survey.water.max())


if __name__ == "__main__":
    run(one_pass, relief, relief_fix)
