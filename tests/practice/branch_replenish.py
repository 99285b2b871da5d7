# SPDX-License-Identifier: Apache-2.0
"""A chain's branches are filled up each week: sales are smoothed to a forecast, orders rounded to packs, and lorries loaded."""

import numpy as np
import pandas as pd

from common import run

ARTICLES, WEEKS, BRANCHES = 110, 16, 5
SERVICE = 1.3


def assortment(rng):
    return pd.DataFrame(
        {
            "article": ["A%04d" % number for number in rng.choice(10_000, ARTICLES, replace=False)],
            "pack": rng.choice([4, 6, 10, 12, 24], ARTICLES),
            "litres": rng.uniform(0.2, 9.0, ARTICLES).round(2),
            "cents": rng.integers(80, 4_000, ARTICLES),
            "group": rng.choice(["food", "drink", "home", "garden"], ARTICLES),
        }
    )


def sales(rng):
    """Weeks down, articles across; some weeks have an offer."""
    level = rng.gamma(2.0, 9.0, ARTICLES)
    season = 1 + 0.3 * np.sin(2 * np.pi * (np.arange(WEEKS)[:, None] / 26 + rng.random(ARTICLES)))
    offers = 1 + 1.5 * (rng.random((WEEKS, ARTICLES)) < 0.05)
    return pd.DataFrame(rng.poisson(level * season * offers))


def order(table):
    """Whole packs up to the target; nothing for an article that has enough for two thirds of it."""
    table["order"] = 0
    for at in table.index:
        target = table.at[at, "target"]
        stock = table.at[at, "stock"]
        if stock < 2 * target / 3:
            pack = table.at[at, "pack"]
            table.loc[at, "order"] = int(np.ceil((target - stock) / pack)) * pack
    return table


def order_fixed(table):
    packs = np.ceil((table["target"] - table["stock"]) / table["pack"]).astype(int)
    table["order"] = (packs * table["pack"]).where(table["stock"] < 2 * table["target"] / 3, 0)
    return table


class Branch:
    def __init__(self, rng, goods, order):
        self.rng = rng
        self.goods = goods
        self.order = order
        self.sales = sales(rng)

    def forecast(self):
        """Smoothed sales and how far they were off, both newest first in weight."""
        smooth = self.sales.ewm(alpha=0.3).mean()
        error = (self.sales - smooth.shift()).abs().ewm(alpha=0.2).mean()
        return smooth.iloc[-1], error.iloc[-1]

    def trend(self):
        """Articles whose last four weeks are far above or below those before."""
        recent = self.sales.iloc[-4:].mean() / self.sales.iloc[:-4].mean().clip(lower=0.5)
        return int((recent > 1.5).sum()), int((recent < 0.6).sum())

    def wanted(self):
        mean, error = self.forecast()
        table = self.goods.copy()
        table["target"] = (mean + SERVICE * 1.25 * error).to_numpy()
        table["stock"] = self.rng.poisson(table["target"] * self.rng.uniform(0.2, 1.1, ARTICLES))
        return self.order(table)


def lorry(table, room=2_400.0):
    """The dearest litres first, until the lorry is full; what is left waits a week."""
    ordered = table[table["order"] > 0].copy()
    ordered["volume"] = ordered["order"] * ordered["litres"]
    ordered["worth"] = ordered["order"] * ordered["cents"]
    ordered = ordered.sort_values(["cents", "article"], ascending=[False, True])
    loaded = ordered["volume"].cumsum() <= room
    by_group = ordered[loaded].groupby("group")["worth"].sum()
    return int(loaded.sum()), int((~loaded).sum()), [int(worth) for worth in by_group], float(ordered["volume"].sum())


def one_pass(number, order):
    rng = np.random.default_rng(number)
    goods = assortment(rng)
    rows = []
    for _ in range(BRANCHES):
        branch = Branch(rng, goods, order)
        table = branch.wanted()
        rows.append((lorry(table), branch.trend(), int(table["order"].sum())))
    return rows


if __name__ == "__main__":
    run(one_pass, order, order_fixed)
