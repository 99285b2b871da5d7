# SPDX-License-Identifier: Apache-2.0
"""A pension fund's what-ifs: the members' table is copied for each scenario, and then lives through it for some years."""

import numpy as np
import pandas as pd

from runner import run

MEMBERS = 900
YEARS = 3


def members(rng):
    joined = rng.integers(1985, 2024, MEMBERS)
    return pd.DataFrame(
        {
            "age": rng.integers(22, 64, MEMBERS).astype(float),
            "joined": joined,
            "salary": rng.lognormal(10.4, 0.4, MEMBERS).round(2),
            "saved": rng.lognormal(10.5, 0.9, MEMBERS).round(2),
            "plan": rng.choice(["old", "new", "choice"], MEMBERS),
            "retired": False,
        }
    )


class Scenario:
    def __init__(self, rng, name):
        self.name = name
        self.growth = rng.normal(0.04, 0.03, YEARS)
        self.raises = rng.normal(0.02, 0.01, YEARS)
        self.leave_at = rng.integers(60, 67)
        self.shares = {"old": rng.uniform(0.1, 0.14), "new": rng.uniform(0.06, 0.1), "choice": rng.uniform(0.04, 0.12)}

    def live(self, table, year):
        """One year, in place: raises, contributions, growth, and some retire."""
        at_work = ~table["retired"]
        table.loc[at_work, "salary"] *= 1 + self.raises[year]
        paid = table["salary"] * table["plan"].map(self.shares)
        table["saved"] = table["saved"] * (1 + self.growth[year]) + paid.where(at_work, 0.0)
        table["age"] += 1
        table.loc[table["age"] >= self.leave_at, "retired"] = True
        table.loc[table["retired"], "saved"] *= 0.95


class Fund:
    def __init__(self, table):
        self.table = table
        self.results = []

    def play(self, scenario):
        table = self.table.copy()
        for year in range(YEARS):
            scenario.live(table, year)
        by_plan = table.groupby("plan")["saved"].agg(["sum", "median"])
        self.results.append((scenario.name, by_plan["sum"].tolist(), by_plan["median"].max(), int(table["retired"].sum())))

    def hardest(self):
        return min(self.results, key=lambda result: sum(result[1]))


def one_pass(number, step):
    rng = np.random.default_rng(number)
    fund = Fund(members(rng))
    for at in range(5):
        fund.play(Scenario(rng, "scenario %d" % at))
    name, sums, median, retired = fund.hardest()
    return name, sums, median, retired, float(fund.table["saved"].sum())


if __name__ == "__main__":
    run(one_pass)
