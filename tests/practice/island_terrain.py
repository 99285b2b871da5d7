# SPDX-License-Identifier: Apache-2.0
"""Builds islands for a strategy game: noise in octaves, a shore, talus that slides off steep slopes, biomes by height and wet."""

import numpy as np

from common import run

SIZE = 48
BIOMES = ("sea", "beach", "grass", "wood", "rock", "snow")
LIMITS = np.array([0.0, 0.03, 0.25, 0.5, 0.75])


Y, X = np.mgrid[-1 : 1 : SIZE * 1j, -1 : 1 : SIZE * 1j]
SHORE = 0.3 + 0.7 * (X * X + Y * Y)


def octave(level):
    """Where each cell lies between the coarse points of this octave."""
    places = np.linspace(0, 2**level - 1e-9, SIZE)
    whole = places.astype(int)
    part = places - whole
    return 2**level + 1, whole, part * part * (3 - 2 * part), 0.55**level


OCTAVES = [octave(level) for level in range(2, 6)]


def noise(rng):
    heights = np.zeros((SIZE, SIZE))
    for points, whole, part, share in OCTAVES:
        coarse = rng.standard_normal((points, points))
        rows = coarse[whole] * (1 - part)[:, None] + coarse[whole + 1] * part[:, None]
        heights += (rows[:, whole] * (1 - part) + rows[:, whole + 1] * part) * share
    return heights


def sink(heights):
    return (heights - heights.min()) / np.ptp(heights) - SHORE


def slope(heights):
    """How steeply each inner cell falls to the lowest of its four neighbours."""
    falls = np.zeros_like(heights)
    for y in range(1, heights.shape[0] - 1):
        for x in range(1, heights.shape[1] - 1):
            lowest = min(heights[y - 1, x], heights[y + 1, x], heights[y, x - 1], heights[y, x + 1])
            falls[y, x] = max(heights[y, x] - lowest, 0.0)
    return falls


def slope_fixed(heights):
    falls = np.zeros_like(heights)
    lowest = np.minimum(np.minimum(heights[:-2, 1:-1], heights[2:, 1:-1]), np.minimum(heights[1:-1, :-2], heights[1:-1, 2:]))
    falls[1:-1, 1:-1] = np.maximum(heights[1:-1, 1:-1] - lowest, 0.0)
    return falls


class Island:
    def __init__(self, rng, slope):
        self.rng = rng
        self.slope = slope
        self.heights = sink(noise(rng))

    def weather(self, drops=250):
        """Drops run downhill, take soil along and leave it where they stop."""
        heights = self.heights.tolist()
        for y, x in self.rng.integers(1, SIZE - 1, (drops, 2)).tolist():
            soil = 0.0
            for _ in range(30):
                ways = [(heights[y + 1][x], y + 1, x), (heights[y - 1][x], y - 1, x), (heights[y][x + 1], y, x + 1), (heights[y][x - 1], y, x - 1)]
                low, to_y, to_x = min(ways)
                if low >= heights[y][x] or not (0 < to_y < SIZE - 1 and 0 < to_x < SIZE - 1):
                    break
                taken = 0.1 * (heights[y][x] - low)
                heights[y][x] -= taken
                soil += taken
                y, x = to_y, to_x
            heights[y][x] += 0.5 * soil
        self.heights = np.array(heights)

    def slide(self):
        falls = self.slope(self.heights)
        loose = np.where(falls > 0.05, 0.3 * (falls - 0.05), 0.0)
        self.heights = self.heights - loose
        return float(falls.max()), float(loose.sum())

    def biomes(self):
        kinds = np.searchsorted(LIMITS, self.heights)
        return {name: int((kinds == at).sum()) for at, name in enumerate(BIOMES)}


def one_pass(number, step):
    island = Island(np.random.default_rng(number), step)
    slid = []
    for _ in range(3):
        island.weather()
        slid.append(island.slide())
    return slid, sorted(island.biomes().items()), float(island.heights.sum())


if __name__ == "__main__":
    run(one_pass, slope, slope_fixed)
