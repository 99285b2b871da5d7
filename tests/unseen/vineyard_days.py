# SPDX-License-Identifier: Apache-2.0
"""Warmth sums of a vineyard's plots through a summer, from the sheet that each day's walk brings home."""

import numpy as np
import pandas as pd

from runner import run

DAYS = 80
PLOTS = 700


class Walks:
    """The sheets of a summer, in the order they come in."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.offset = self.rng.normal(0, 0.8, PLOTS)

    def sheet(self, day):
        high = 24 + 6 * np.sin(day / 25) + self.offset + self.rng.normal(0, 2, PLOTS)
        low = high - self.rng.uniform(6, 14, PLOTS)
        return pd.DataFrame(
            {
                "plot": np.arange(PLOTS),
                "day": np.full(PLOTS, day),
                "high": high,
                "low": low,
                "warmth": warmth(high, low),
                "brix": 4 + 0.2 * day + self.rng.normal(0, 0.4, PLOTS),
            }
        )


def warmth(high, low):
    """Degree days above ten of one day, capped at nineteen."""
    return ((high + low) / 2 - 10).clip(0, 19)


def collect(walks):
    summer = walks.sheet(0)
    for day in range(1, DAYS):
        summer = pd.concat([summer, walks.sheet(day)], ignore_index=True)
    return summer


def collect_fixed(walks):
    return pd.concat([walks.sheet(day) for day in range(DAYS)], ignore_index=True)


def ripe(summer, brix):
    """The first day that each plot was sweet enough, as days since the first walk."""
    return summer[summer["brix"] >= brix].groupby("plot")["day"].min()


def picking_order(summer, brix):
    sums = summer.groupby("plot")["warmth"].sum()
    frost = summer[summer["low"] < 9].groupby("plot").size()
    table = pd.DataFrame({"sum": sums, "ripe": ripe(summer, brix), "cold": frost}).fillna({"cold": 0})
    return table.sort_values(["ripe", "sum"], ascending=[True, False])


def one_pass(number, step):
    summer = step(Walks(number))
    order = picking_order(summer, 14.5 + 0.1 * (number % 9))
    return [int(plot) for plot in order.index[:6]], float(order["sum"].mean()), int(order["cold"].sum()), len(summer)


if __name__ == "__main__":
    run(one_pass, collect, collect_fixed)
