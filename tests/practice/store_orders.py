# SPDX-License-Identifier: Apache-2.0
"""Weekly look at a chain of stores: orders joined with the price list, discounts, what each region sold and which goods came back."""

import numpy as np
import pandas as pd

from common import run

REGIONS = ["north", "south", "east", "west"]
ROWS = 1500


def catalogue(rng):
    return pd.DataFrame(
        {
            "sku": np.arange(120),
            "price": rng.uniform(2, 90, 120).round(2),
            "tax": rng.choice([0.0, 0.07, 0.19], 120),
            "fragile": rng.random(120) < 0.2,
        }
    )


def orders(rng, week):
    start = pd.Timestamp("2024-01-01") + pd.Timedelta(weeks=week % 50)
    return pd.DataFrame(
        {
            "sku": rng.integers(0, 120, ROWS),
            "store": rng.integers(0, 40, ROWS),
            "pieces": rng.integers(1, 30, ROWS),
            "member": rng.random(ROWS) < 0.4,
            "at": start + pd.to_timedelta(rng.integers(0, 7 * 24 * 60, ROWS), unit="min"),
            "returned": rng.random(ROWS) < 0.05,
        }
    )


def discount(frame):
    """Members get 3 %, ten pieces and more 5 %, both add up."""
    return frame.apply(lambda row: 0.03 * row["member"] + (0.05 if row["pieces"] >= 10 else 0.0), axis=1)


def discount_fixed(frame):
    return 0.03 * frame["member"] + 0.05 * (frame["pieces"] >= 10)


class Week:
    def __init__(self, number, orders, goods, discount):
        self.number = number
        frame = orders.merge(goods, on="sku").sort_values("at", kind="stable").reset_index(drop=True)
        frame["net"] = frame["price"] * frame["pieces"] * (1 - discount(frame))
        frame["gross"] = frame["net"] * (1 + frame["tax"])
        frame["region"] = np.array(REGIONS)[frame["store"] % 4]
        self.frame = frame

    def by_region(self):
        kept = self.frame[~self.frame["returned"]]
        return kept.groupby("region")[["net", "gross"]].sum()

    def busiest(self):
        hours = self.frame.groupby(self.frame["at"].dt.floor("3h"))["net"].sum()
        return hours.nlargest(3)

    def returns(self):
        share = self.frame.groupby("sku")["returned"].mean()
        broken = self.frame[self.frame["fragile"] & self.frame["returned"]]
        return share[share > 0.2].index.tolist(), float(broken["gross"].sum())

    def pivot(self):
        table = self.frame.pivot_table(index="region", columns=self.frame["at"].dt.day_of_week, values="gross", aggfunc="sum")
        return table.fillna(0.0)


def one_pass(number, step):
    rng = np.random.default_rng(number)
    week = Week(number, orders(rng, number), catalogue(rng), step)
    regions = week.by_region()
    days = week.pivot()
    worst, broken = week.returns()
    return regions["gross"].tolist(), week.busiest().tolist(), worst, broken, days.max(axis=1).tolist()


if __name__ == "__main__":
    run(one_pass, discount, discount_fixed)
