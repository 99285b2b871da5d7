# SPDX-License-Identifier: Apache-2.0
"""A cheese cellar's half year: loaves ripen week by week, are turned, and go to market when they are ready."""

import numpy as np
import pandas as pd

from common import run

LOAVES, WEEKS = 3_000, 26
NAMES = ["Alpkase", "Bergblume", "Caraway", "Drover", "Elderblue", "Farmhouse", "Goatherd", "Hayflower"]


def make_cellar(seed):
    rng = np.random.default_rng(seed)
    cellar = pd.DataFrame(
        {
            "loaf": np.arange(LOAVES),
            "sort": rng.choice(NAMES, LOAVES),
            "shelf": rng.integers(0, 90, LOAVES),
            "kilos": rng.normal(6.5, 0.8, LOAVES).round(2),
            "age": rng.integers(0, 12, LOAVES),
        }
    )
    sorts = pd.DataFrame(
        {
            "sort": NAMES,
            "weeks": rng.integers(8, 30, len(NAMES)),
            "loses": rng.uniform(0.004, 0.012, len(NAMES)),
            "price": rng.uniform(14, 38, len(NAMES)).round(2),
        }
    )
    climate = pd.DataFrame({"warm": rng.normal(12, 0.7, WEEKS), "moist": rng.normal(0.92, 0.02, WEEKS)})
    return cellar, sorts, climate


def ripen(book, cellar, sorts, climate):
    for week, *air in climate.itertuples():
        loaves = cellar.merge(sorts, on="sort").sort_values(["shelf", "loaf"])
        book.enter(week, *air, loaves)


def ripen_fixed(book, cellar, sorts, climate):
    loaves = cellar.merge(sorts, on="sort").sort_values(["shelf", "loaf"])
    for week, *air in climate.itertuples():
        book.enter(week, *air, loaves)


class Book:
    def __init__(self):
        self.ripe = np.zeros(LOAVES)
        self.lost = np.zeros(LOAVES)
        self.gone = np.zeros(LOAVES, dtype=bool)
        self.sold, self.lines = 0.0, []

    def enter(self, week, warm, moist, loaves):
        """One week: all ripen, the ripe go, the others of every third shelf are turned."""
        loaf = loaves["loaf"].to_numpy()
        self.ripe[loaf] += (0.7 + 0.03 * (warm - 2)) / loaves["weeks"].to_numpy()
        self.lost[loaf] += loaves["loses"].to_numpy() * (1.9 - moist)
        ready = (self.ripe[loaf] + loaves["age"].to_numpy() / 40 > 1) & ~self.gone[loaf]
        kilos = loaves["kilos"].to_numpy() * (1 - self.lost[loaf])
        self.sold += float((kilos * loaves["price"].to_numpy())[ready].sum())
        self.gone[loaf[ready]] = True
        staying = loaves[~self.gone[loaf] & (loaves["shelf"].to_numpy() % 3 == week % 3)]
        weight = staying.groupby("shelf")["kilos"].agg(["size", "sum"])
        heavy = weight[weight["sum"] > weight["sum"].quantile(0.8)]
        for shelf, size, kilos in heavy.itertuples():
            self.lines.append("week %02d shelf %02d: turn %d, %.1f kg" % (week, shelf, size, kilos))


def one_pass(number, step):
    cellar, sorts, climate = make_cellar(number)
    book = Book()
    step(book, cellar, sorts, climate)
    return [book.sold, int(book.gone.sum()), float(book.lost.mean()), len(book.lines), book.lines[-2:]]


if __name__ == "__main__":
    run(one_pass, ripen, ripen_fixed)
