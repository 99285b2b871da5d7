# SPDX-License-Identifier: Apache-2.0
"""Plates of a blood test are photographed and read: the lamp's light is evened out, blots are found, measured and put into the rows of the plate."""

import numpy as np
from scipy import ndimage

from common import run

SIDE, ROWS, COLUMNS, PLATES = 256, 8, 12, 3
Y, X = np.mgrid[0:SIDE, 0:SIDE] / SIDE
ROW, COLUMN = np.mgrid[0:ROWS, 0:COLUMNS]


def plate(rng):
    """A photograph: blots on the plate's grid, some weak or missing, dust, a lamp that stands to one side."""
    lamp = 0.7 + 0.5 * np.exp(-((X - rng.uniform(0.2, 0.8)) ** 2 + (Y - rng.uniform(0.2, 0.8)) ** 2) / 0.3)
    dark = np.zeros((SIDE, SIDE))
    there = rng.random((ROWS, COLUMNS)) < 0.85
    high = ((ROW[there] + 0.5 + rng.normal(0, 0.06, there.sum())) * SIDE / ROWS).astype(int)
    wide = ((COLUMN[there] + 0.5 + rng.normal(0, 0.06, there.sum())) * SIDE / COLUMNS).astype(int)
    dark[high, wide] = rng.uniform(20, 60, there.sum())
    dark = ndimage.gaussian_filter(dark, 3.0)
    dust = rng.random((SIDE, SIDE)) < 0.0004
    return np.clip(lamp * np.exp(-dark - dust) + rng.normal(0, 0.01, (SIDE, SIDE)), 0, None), there


class Reader:
    def __init__(self):
        self.tables = []

    def evened(self, photograph):
        """The light is what a smooth maximum over the neighbourhood leaves; what is darker has taken some of it."""
        light = ndimage.gaussian_filter(ndimage.maximum_filter(ndimage.median_filter(photograph, 3), 25), 12)
        return -np.log(np.clip(photograph / light, 1e-3, None))

    def level(self, dense):
        """Otsu's level: the cut of the histogram with the least spread on its two sides."""
        counts, edges = np.histogram(dense, bins=128)
        middles = (edges[:-1] + edges[1:]) / 2
        below, first = counts.cumsum(), (counts * middles).cumsum()
        above = below[-1] - below
        with np.errstate(divide="ignore", invalid="ignore"):
            between = below * above * (first / below - (first[-1] - first) / above) ** 2
        return middles[np.nanargmax(between[:-1])]

    def blots(self, dense):
        """Number, size, place and depth of each blot that is no dust."""
        labels, count = ndimage.label(ndimage.binary_opening(dense > self.level(dense), iterations=2))
        if not count:
            return np.zeros((0, 4))
        numbers = np.arange(1, count + 1)
        sizes = np.bincount(labels.ravel(), minlength=count + 1)[1:]
        depth = np.bincount(labels.ravel(), dense.ravel(), count + 1)[1:]
        middles = np.array(ndimage.center_of_mass(dense, labels, numbers))
        return np.column_stack([middles, sizes, depth])[sizes >= 12]

    def table(self, blots):
        """The plate's grid, with the deepest blot of each place."""
        rows = np.clip((blots[:, 0] * ROWS / SIDE).astype(int), 0, ROWS - 1)
        columns = np.clip((blots[:, 1] * COLUMNS / SIDE).astype(int), 0, COLUMNS - 1)
        table = np.zeros((ROWS, COLUMNS))
        np.maximum.at(table, (rows, columns), blots[:, 3])
        return table

    def read(self, photograph):
        dense = self.evened(photograph)
        blots = self.blots(dense)
        table = self.table(blots)
        self.tables.append(table)
        return len(blots), float(blots[:, 2].mean()) if len(blots) else 0.0, table

    def drift(self):
        """Rows and columns that come out darker than others on all plates."""
        tables = np.array(self.tables)
        ratio = np.log1p(tables) - np.log1p(tables).mean(axis=(1, 2), keepdims=True)
        return ratio.mean(axis=(0, 2)).round(6).tolist(), int(ratio.mean(axis=(0, 1)).argmax())


def one_pass(number, step):
    rng = np.random.default_rng(number)
    reader, rows = Reader(), []
    for _ in range(PLATES):
        photograph, there = plate(rng)
        found, size, table = reader.read(photograph)
        rows.append((found, size, int(((table > 0) != there).sum())))
    return rows, reader.drift()


if __name__ == "__main__":
    run(one_pass)
