# SPDX-License-Identifier: Apache-2.0
"""Arranges the colours of photographs on a small map whose neighbours look alike (Kohonen's)."""

import numpy as np

from runner import run

SIDE = 16
STEPS = 4_000


def colours(seed):
    rng = np.random.default_rng(seed)
    themes = rng.random((6, 3))
    pixels = themes[rng.integers(0, 6, STEPS)] + rng.normal(0, 0.06, (STEPS, 3))
    return rng, pixels.clip(0, 1)


class ColourMap:
    def __init__(self, rng):
        self.cells = rng.random((SIDE, SIDE, 3))
        self.rows, self.columns = np.ogrid[:SIDE, :SIDE]
        self.off = np.empty_like(self.cells)
        self.far = np.empty((SIDE, SIDE))

    def nearest(self, pixel):
        np.subtract(pixel, self.cells, out=self.off)
        np.einsum("ijk,ijk->ij", self.off, self.off, out=self.far)
        return divmod(int(self.far.argmin()), SIDE)

    def learn(self, pixel, rate, radius):
        row, column = self.nearest(pixel)
        pull = np.exp(-((self.rows - row) ** 2 + (self.columns - column) ** 2) / (2 * radius * radius))
        pull *= rate
        self.off *= pull[:, :, None]
        self.cells += self.off

    def roughness(self):
        down = np.linalg.norm(np.diff(self.cells, axis=0), axis=2)
        across = np.linalg.norm(np.diff(self.cells, axis=1), axis=2)
        return float(down.mean() + across.mean())


def one_pass(number, step):
    rng, pixels = colours(number)
    chart = ColourMap(rng)
    rough = []
    for at, pixel in enumerate(pixels):
        left = 1 - at / STEPS
        chart.learn(pixel, 0.4 * left + 0.01, 5 * left + 0.7)
        if at % 100 == 0:
            rough.append(chart.roughness())
    return rough, chart.cells.mean(axis=(0, 1)).tolist()


if __name__ == "__main__":
    run(one_pass)
