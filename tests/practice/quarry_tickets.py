# SPDX-License-Identifier: Apache-2.0
"""A quarry's weighbridge: each day's tickets are priced by stone and zone, customers' limits and discounts go on from day to day."""

import numpy as np
import pandas as pd

from common import run

STONES = ["ballast", "chips", "dust", "gravel", "hardcore", "rockery", "scalpings", "walling"]
ZONES = ["A", "B", "C", "D", "E"]
CUSTOMERS = 25
DAYS = 8


def tariff(rng):
    """As the office keeps it: a row for each stone and zone, old prices too, the last one counts."""
    rows = pd.MultiIndex.from_product([range(2019, 2025), STONES, ZONES], names=["year", "stone", "zone"]).to_frame(index=False)
    return rows.assign(price=rng.uniform(8, 30, len(rows)).round(2) + rows["year"] - 2019)


def tickets(rng, day, count):
    return pd.DataFrame(
        {
            "ticket": np.arange(count) + 1000 * day,
            "customer": rng.integers(0, CUSTOMERS, count),
            "stone": rng.choice(STONES, count),
            "zone": rng.choice(ZONES, count),
            "gross": rng.uniform(12, 32, count).round(2),
            "tare": rng.uniform(7, 11, count).round(2),
        }
    )


def newest(tariff):
    ordered = tariff.sort_values(["stone", "zone", "year"])
    return ordered.drop_duplicates(["stone", "zone"], keep="last").drop(columns="year")


class Account:
    def __init__(self, rng):
        self.spent = np.zeros(CUSTOMERS)
        self.limit = rng.uniform(4_000, 30_000, CUSTOMERS)
        self.stopped = {}
        self.tonnes = pd.Series(0.0, index=STONES)

    def day(self, day, priced):
        """Books a day; from 5000 on a customer has three in a hundred off, above the limit nothing more."""
        discount = np.where(self.spent[priced["customer"]] > 5_000, 0.97, 1.0)
        due = priced["net"] * priced["price"] * discount
        sums = due.groupby(priced["customer"]).sum()
        self.spent[sums.index] += sums.to_numpy()
        for customer in np.flatnonzero(self.spent > self.limit).tolist():
            self.stopped.setdefault(customer, day)
        self.tonnes = self.tonnes.add(priced.groupby("stone")["net"].sum(), fill_value=0.0)


def price(day, account, tickets, prices):
    served = tickets[~tickets["customer"].isin(list(account.stopped))]
    served = served.assign(net=served["gross"] - served["tare"])
    account.day(day, served.merge(prices, on=["stone", "zone"]))


def month(rng, account, table):
    for day in range(DAYS):
        price(day, account, tickets(rng, day, 220), newest(table))


def month_once(rng, account, table):
    prices = newest(table)
    for day in range(DAYS):
        price(day, account, tickets(rng, day, 220), prices)


def one_pass(number, step):
    rng = np.random.default_rng(number)
    account = Account(rng)
    step(rng, account, tariff(rng))
    return sorted(account.stopped.items()), account.spent.round(2).tolist()[:5], account.tonnes.round(2).tolist()


if __name__ == "__main__":
    run(one_pass, month, month_once)
