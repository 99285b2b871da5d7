# SPDX-License-Identifier: Apache-2.0
"""A week of a chain of shops: one stock table, sold from, counted and filled up in place."""

import numpy as np
import pandas as pd

from common import run

SHOPS = ["Alma", "Brink", "Corso", "Dorp", "Esch"]


def make_stock(rng, articles):
    return pd.DataFrame(
        {
            "shop": np.repeat(SHOPS, articles),
            "article": np.tile(["a%03d" % n for n in range(articles)], len(SHOPS)),
            "pieces": rng.integers(0, 60, articles * len(SHOPS)),
            "price": np.round(rng.gamma(3, 4, articles * len(SHOPS)), 2),
            "sold": np.zeros(articles * len(SHOPS), dtype=np.int64),
        }
    )


def sell(rng, stock, customers):
    wanted = rng.integers(0, len(stock), customers)
    asked = pd.Series(rng.integers(1, 4, customers)).groupby(wanted).sum()
    given = np.minimum(asked, stock.loc[asked.index, "pieces"])
    stock.loc[asked.index, "pieces"] -= given
    stock.loc[asked.index, "sold"] += given
    return float((given * stock.loc[asked.index, "price"]).sum()), int((asked - given).sum())


def value(stock):
    return float((stock["pieces"] * stock["price"]).sum())


def empty_shelves(stock):
    return stock["pieces"].eq(0).groupby(stock["shop"]).sum()


def fill_up(stock, least):
    low = stock["pieces"] < least
    stock.loc[low, "pieces"] += 30
    return int(low.sum())


def mark_down(stock):
    slow = stock["sold"].lt(2) & stock["pieces"].gt(40)
    stock.loc[slow, "price"] = (stock.loc[slow, "price"] * 0.9).round(2)


def one_pass(number, _):
    rng = np.random.default_rng(number)
    stock = make_stock(rng, 400)
    week = []
    for day in range(7):
        income, missed = sell(rng, stock, 1500)
        shelves = empty_shelves(stock)
        before = value(stock)
        filled = fill_up(stock, 5)
        week.append([income, missed, int(shelves.max()), before, value(stock), filled])
        mark_down(stock)
    return week


if __name__ == "__main__":
    run(one_pass)
