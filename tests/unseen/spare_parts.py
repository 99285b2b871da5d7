# SPDX-License-Identifier: Apache-2.0
"""Spare parts for buses: depots' stocks go down with every day's repairs, and what runs low is ordered and comes."""

import numpy as np
import pandas as pd

from runner import run

PARTS = 240
DAYS = 14
DEPOTS = np.array(["north", "south", "west"])


def shelves(rng):
    stock = pd.DataFrame(
        {
            "depot": np.repeat(DEPOTS, PARTS),
            "part": np.tile(np.arange(PARTS), len(DEPOTS)),
            "held": rng.integers(2, 30, PARTS * len(DEPOTS)),
            "least": rng.integers(2, 9, PARTS * len(DEPOTS)),
            "price": np.tile(rng.gamma(2.0, 30.0, PARTS).round(2), len(DEPOTS)),
        }
    )
    return stock.set_index(["depot", "part"])


def repairs(rng):
    """Parts that one day's repairs take."""
    rows = int(rng.integers(150, 260))
    taken = pd.DataFrame(
        {
            "depot": DEPOTS[rng.integers(0, len(DEPOTS), rows)],
            "part": np.minimum(rng.geometric(0.02, rows) - 1, PARTS - 1),
            "count": rng.integers(1, 4, rows),
        }
    )
    return taken.groupby(["depot", "part"])["count"].sum()


def take(stock, taken):
    """Books the day's parts out and says how many were not there."""
    wanted = taken.reindex(stock.index, fill_value=0)
    given = np.minimum(wanted, stock["held"])
    stock["held"] -= given
    return int((wanted - given).sum())


def order(stock, budget):
    """The scarcest parts first, as far as the day's money goes."""
    low = stock[stock["held"] < stock["least"]]
    low = low.assign(gap=low["least"] + 3 - low["held"]).sort_values(["gap", "price"], ascending=[False, True])
    cost = (low["gap"] * low["price"]).cumsum()
    return low.loc[cost <= budget, "gap"]


def one_pass(number, step):
    rng = np.random.default_rng(number)
    stock = shelves(rng)
    missing, on_the_way, values = 0, [], []
    for day in range(DAYS):
        if len(on_the_way) > 2:
            stock["held"] += on_the_way.pop(0).reindex(stock.index, fill_value=0)
        missing += take(stock, repairs(rng))
        on_the_way.append(order(stock, float(rng.uniform(900, 2500))))
        values.append(float((stock["held"] * stock["price"]).sum()))
    return missing, [len(gap) for gap in on_the_way], values


if __name__ == "__main__":
    run(one_pass)
