# SPDX-License-Identifier: Apache-2.0
"""A workshop's spares kiosk: the price list is a table, baskets are checked out against it, stock is kept by shelf."""

import random
from collections import Counter

import pandas as pd

from common import run

GROUPS = ("filter", "bearing", "belt", "seal", "lamp", "fuse")
ARTICLES = 260


def price_list(seed):
    rnd = random.Random(seed)
    rows = []
    for at in range(ARTICLES):
        rows.append(
            {
                "article": "A%06d" % (seed * 1000 + at),
                "group": rnd.choice(GROUPS),
                "cents": rnd.randint(90, 24_000),
                "pack": rnd.choice((1, 1, 1, 5, 10)),
                "shelf": "%02d-%d" % (rnd.randrange(40), rnd.randrange(6)),
            }
        )
    return pd.DataFrame(rows).set_index("article")


def baskets(seed, articles):
    rnd = random.Random(-1 - seed)
    for at in range(260):
        picked = rnd.sample(articles, rnd.randint(1, 7))
        yield seed * 1000 + at, rnd.choice(("cash", "card", "account")), [(article, rnd.randint(1, 12)) for article in picked]


class Kiosk:
    def __init__(self, prices):
        self.prices = prices
        self.taken = Counter()
        self.shelves = Counter()
        self.receipts = []
        self.till = 0

    def unit(self, article):
        row = self.prices.loc[article]
        return row["group"], int(row["cents"]), int(row["pack"]), row["shelf"]

    def rebate(self, group, count, customer):
        if customer == "account" and group in ("filter", "belt"):
            return 0.12 if count >= 6 else 0.05
        return 0.03 if count >= 10 else 0.0

    def line(self, article, wanted, customer):
        group, cents, pack, shelf = self.unit(article)
        count = -(-wanted // pack) * pack
        due = round(cents * count * (1 - self.rebate(group, count, customer)))
        self.taken[article] += count
        self.shelves[shelf] += 1
        return f"{count:4d} x {article} {group:<8}{due / 100:10.2f}", due

    def check_out(self, number, customer, basket):
        total, lines = 0, []
        for article, wanted in basket:
            text, due = self.line(article, wanted, customer)
            lines.append(text)
            total += due
        self.till += total
        self.receipts.append("\n".join([f"receipt {number} ({customer})", *lines, f"{total / 100:.2f}"]))


class KioskFixed(Kiosk):
    def __init__(self, prices):
        super().__init__(prices)
        self.units = {row.Index: (row.group, int(row.cents), int(row.pack), row.shelf) for row in prices.itertuples()}

    def unit(self, article):
        return self.units[article]


def evening(kiosk):
    """What to order again and how the groups sold, from the table and the day's counts."""
    sold = pd.Series(kiosk.taken, name="sold", dtype="int64").reindex(kiosk.prices.index, fill_value=0)
    table = kiosk.prices.assign(sold=sold, value=sold * kiosk.prices["cents"])
    groups = table.groupby("group").agg(sold=("sold", "sum"), value=("value", "sum"), articles=("sold", "count"))
    groups["share"] = groups["value"] / groups["value"].sum()
    top = table.sort_values(["sold", "cents"], ascending=False).head(8)
    shelves = table.groupby(["shelf", "group"])["sold"].sum().unstack(fill_value=0).sum(axis=1)
    return [int(v) for v in groups["sold"]], [float(v) for v in groups["share"]], list(top.index), int(shelves.max())


def one_pass(number, step):
    prices = price_list(number)
    kiosk = step(prices)
    for basket in baskets(number, list(prices.index)):
        kiosk.check_out(*basket)
    return kiosk.till, evening(kiosk), kiosk.shelves.most_common(1)[0][1], kiosk.receipts[-1]


if __name__ == "__main__":
    run(one_pass, Kiosk, KioskFixed)
