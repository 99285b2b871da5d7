# SPDX-License-Identifier: Apache-2.0
"""The treasury's bond ladder: coupons fall on the calendar's next open day, then flows are discounted, yields solved and years summed."""

import numpy as np
import pandas as pd
from pandas.tseries.offsets import CustomBusinessDay

from common import run

BONDS = 14
ISSUERS = ("state", "county", "bank", "rail", "water")
COLUMNS = ["isin", "issuer", "day", "amount"]


class Bond:
    def __init__(self, rng, number):
        self.isin = "XS%08d" % rng.integers(10**8)
        self.issuer = ISSUERS[number % len(ISSUERS)]
        self.face = 1_000 * int(rng.integers(5, 200))
        self.coupon = float(rng.uniform(0.5, 6.0))
        self.every = (3, 6, 12)[number % 3]
        self.count = int(rng.integers(3, 9)) * 12 // self.every
        self.start = pd.Timestamp(2019, 1, 1) + pd.Timedelta(days=int(rng.integers(0, 900)))
        self.price = float(rng.uniform(90, 108))


class Ladder:
    def __init__(self, holidays, valued):
        self.holidays = holidays
        self.valued = valued
        self.tables = []
        self.measures = {}

    def flows(self, bond):
        """Payment days, rolled to the next open day, and what is paid on them."""
        days, amounts = [], []
        part = bond.face * bond.coupon / 100 * bond.every / 12
        for turn in range(1, bond.count + 1):
            due = bond.start + pd.DateOffset(months=bond.every * turn)
            days.append(CustomBusinessDay(holidays=self.holidays).rollforward(due))
            amounts.append(part + (bond.face if turn == bond.count else 0.0))
        return days, amounts

    def worth(self, years, amounts, rate):
        factors = np.exp(-rate * years)
        return float(amounts @ factors), float(amounts * years @ factors)

    def bond_yield(self, bond, years, amounts):
        """Continuous yield at which the flows are worth the price, by Newton's steps."""
        target, rate = bond.face * bond.price / 100, bond.coupon / 100
        for _ in range(30):
            worth, slope = self.worth(years, amounts, rate)
            step = (worth - target) / slope
            rate += step
            if abs(step) < 1e-10:
                break
        return rate

    def add(self, bond):
        days, amounts = self.flows(bond)
        table = pd.DataFrame({"isin": bond.isin, "issuer": bond.issuer, "day": days, "amount": amounts}, columns=COLUMNS)
        open_flows = table[table["day"] > self.valued]
        if open_flows.empty:
            return
        years = ((open_flows["day"] - self.valued).dt.days / 365.25).to_numpy()
        money = open_flows["amount"].to_numpy()
        rate = self.bond_yield(bond, years, money)
        worth, slope = self.worth(years, money, rate)
        self.measures[bond.isin] = rate, slope / worth, slope / 10_000
        self.tables.append(open_flows)

    def by_year(self):
        table = pd.concat(self.tables, ignore_index=True)
        return table.groupby([table["day"].dt.year, "issuer"])["amount"].sum().unstack(fill_value=0.0)

    def report(self):
        rungs = self.by_year()
        gap = rungs.sum(axis=1).diff().abs().max()
        rows = sorted(self.measures.items(), key=lambda item: -item[1][1])
        return rungs.shape, float(rungs.to_numpy().sum()), float(gap), ["%s %.4f %.2f" % (isin, rate, years) for isin, (rate, years, _) in rows[:3]]


class LadderFixed(Ladder):
    def __init__(self, holidays, valued):
        super().__init__(holidays, valued)
        self.calendar = CustomBusinessDay(holidays=holidays)

    def flows(self, bond):
        days, amounts = [], []
        part = bond.face * bond.coupon / 100 * bond.every / 12
        for turn in range(1, bond.count + 1):
            due = bond.start + pd.DateOffset(months=bond.every * turn)
            days.append(self.calendar.rollforward(due))
            amounts.append(part + (bond.face if turn == bond.count else 0.0))
        return days, amounts


def one_pass(number, make):
    rng = np.random.default_rng(number)
    holidays = [pd.Timestamp(2019, 1, 1) + pd.Timedelta(days=int(day)) for day in rng.choice(4_000, 60, replace=False)]
    ladder = make(holidays, pd.Timestamp(2022, 3, 1))
    for at in range(BONDS):
        ladder.add(Bond(rng, at))
    return ladder.report()


if __name__ == "__main__":
    run(one_pass, Ladder, LadderFixed)
