# SPDX-License-Identifier: Apache-2.0
"""Gains of a portfolio for the tax office: sales use up the oldest lots first, splits change them, and losses wait when shares are bought back."""

from collections import defaultdict, deque

import numpy as np
import pandas as pd

from common import run

SHARES, TRADES = 12, 420
WASH = pd.Timedelta(days=30)


def trades(rng):
    """A year of buys, sales and a few splits, in order of time."""
    days = np.sort(rng.integers(0, 365, TRADES))
    kinds = rng.choice(["buy", "sell", "split"], TRADES, p=[0.55, 0.43, 0.02])
    names = rng.integers(0, SHARES, TRADES)
    price = 40 * np.exp(np.cumsum(rng.normal(0, 0.01, (366, SHARES)), axis=0))
    return pd.DataFrame(
        {
            "day": pd.Timestamp(2023, 1, 1) + pd.to_timedelta(days, unit="D"),
            "name": ["SH%02d" % name for name in names],
            "kind": kinds,
            "pieces": np.where(kinds == "split", rng.integers(2, 5, TRADES), rng.integers(1, 60, TRADES)),
            "price": price[days, names].round(2),
        }
    )


class Book:
    """Lots of one share, oldest first: [day, pieces, price each]."""

    def __init__(self):
        self.lots = deque()
        self.short = 0

    def buy(self, day, pieces, price):
        self.lots.append([day, pieces, price])

    def split(self, parts):
        for lot in self.lots:
            lot[1] *= parts
            lot[2] /= parts

    def sell(self, day, pieces, price):
        """Rows of what is sold of each lot that it touches."""
        while pieces and self.lots:
            lot = self.lots[0]
            part = min(pieces, lot[1])
            yield lot[0], day, part, part * lot[2], part * price
            lot[1] -= part
            pieces -= part
            if not lot[1]:
                self.lots.popleft()
        self.short += pieces


class Return:
    def __init__(self, table):
        self.table = table
        self.books = defaultdict(Book)
        self.sold = []

    def run(self):
        """Trade by trade: what a sale takes depends on all that were before it."""
        for trade in self.table.itertuples(index=False):
            book = self.books[trade.name]
            if trade.kind == "buy":
                book.buy(trade.day, trade.pieces, trade.price)
            elif trade.kind == "split":
                book.split(trade.pieces)
            else:
                self.sold += [(trade.name, *row) for row in book.sell(trade.day, trade.pieces, trade.price)]

    def gains(self):
        """Sales with their gain; a loss is put off when the share is bought again within thirty days."""
        sold = pd.DataFrame(self.sold, columns=["name", "bought", "day", "pieces", "cost", "paid"])
        sold["gain"] = sold["paid"] - sold["cost"]
        sold["long"] = (sold["day"] - sold["bought"]) > pd.Timedelta(days=120)
        buys = self.table.loc[self.table["kind"] == "buy", ["day", "name"]].assign(again=lambda buys: buys["day"])
        after = pd.merge_asof(sold, buys, on="day", by="name", direction="forward", allow_exact_matches=False)
        sold["put_off"] = ((sold["gain"] < 0) & ((after["again"] - after["day"]) <= WASH)).to_numpy()
        return sold

    def summary(self, sold):
        counted = sold[~sold["put_off"]]
        months = counted.groupby([counted["day"].dt.month, "long"])["gain"].sum().unstack(fill_value=0.0)
        names = counted.groupby("name").agg(gain=("gain", "sum"), pieces=("pieces", "sum"), rows=("gain", "size"))
        best = names.sort_values("gain", ascending=False).head(3)
        put_off = float(sold.loc[sold["put_off"], "gain"].sum())
        return months.sum().round(4).tolist(), best.index.tolist(), best["gain"].round(4).tolist(), int(names["pieces"].sum()), put_off

    def left(self):
        worth = sum(lot[1] * lot[2] for book in self.books.values() for lot in book.lots)
        return worth, sum(book.short for book in self.books.values()), sum(len(book.lots) for book in self.books.values())


def one_pass(number, step):
    rng = np.random.default_rng(number)
    rows = []
    for _ in range(3):
        account = Return(trades(rng))
        account.run()
        rows.append((account.summary(account.gains()), account.left()))
    return rows


if __name__ == "__main__":
    run(one_pass)
