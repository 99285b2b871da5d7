# SPDX-License-Identifier: Apache-2.0
"""An ice rink's month: admissions from the turnstiles, sales of the café, and the report for the council."""

import io

import numpy as np
import pandas as pd

from common import run

KINDS = ["adult", "child", "club", "school", "senior"]
PRICES = {"adult": 7.5, "child": 4.0, "club": 3.0, "school": 2.5, "senior": 5.0}
DAYS, ENTRIES = 30, 6000


def turnstile_csv(rng):
    start = np.datetime64("2024-01-01T09:00") + np.timedelta64(int(rng.integers(0, 700)), "D")
    minutes = np.sort(rng.integers(0, DAYS, ENTRIES) * 1440 + rng.integers(0, 720, ENTRIES))
    times = start + minutes.astype("timedelta64[m]")
    kinds = rng.choice(KINDS, ENTRIES, p=[0.35, 0.3, 0.15, 0.12, 0.08])
    gates = rng.integers(1, 4, ENTRIES)
    return "time,kind,gate\n" + "\n".join(f"{t},{k},{g}" for t, k, g in zip(times, kinds, gates))


class Month:
    def __init__(self, entries, cafe):
        self.entries = entries
        self.cafe = cafe

    @property
    def daily(self):
        """Admissions by day and kind of ticket."""
        return self.entries.pivot_table(index="day", columns="kind", values="gate", aggfunc="count", fill_value=0)

    def busiest(self, count=3):
        totals = self.daily.sum(axis=1)
        return [(str(day.date()), int(people)) for day, people in totals.nlargest(count).items()]

    def income(self):
        prices = pd.Series(PRICES)
        tickets = (self.daily * prices).sum(axis=1)
        return float(tickets.sum()), float(tickets.std())

    def club_share(self):
        daily = self.daily
        return float((daily["club"] / daily.sum(axis=1)).mean())

    def weekend_ratio(self):
        totals = self.daily.sum(axis=1)
        weekend = totals.index.dayofweek >= 5
        return float(totals[weekend].mean() / totals[~weekend].mean())

    def cafe_per_head(self):
        heads = self.daily.sum(axis=1)
        return float((self.cafe.reindex(heads.index).fillna(0.0) / heads).median())

    def gates(self):
        counts = self.entries.groupby(["gate", self.entries["time"].dt.hour]).size().unstack(fill_value=0)
        return counts.idxmax(axis=1).astype(int).tolist()


class MonthFix(Month):
    def __init__(self, entries, cafe):
        super().__init__(entries, cafe)
        self.by_day = super().daily

    @property
    def daily(self):
        return self.by_day


def read_entries(text):
    entries = pd.read_csv(io.StringIO(text), parse_dates=["time"])
    entries["day"] = entries["time"].dt.normalize()
    entries = entries[entries["kind"].isin(KINDS)]
    return entries.drop_duplicates().reset_index(drop=True)


def read_cafe(rng, first):
    days = pd.date_range(first, periods=DAYS, freq="D")
    tills = pd.DataFrame({"day": days.repeat(40), "pence": rng.integers(120, 1900, DAYS * 40), "void": rng.random(DAYS * 40) < 0.02})
    return tills[~tills["void"]].groupby("day")["pence"].sum() / 100


def one_pass(number, month_of):
    rng = np.random.default_rng(number)
    entries = read_entries(turnstile_csv(rng))
    month = month_of(entries, read_cafe(rng, entries["day"].min()))
    return month.busiest(), month.income(), month.club_share(), month.weekend_ratio(), month.cafe_per_head(), month.gates()


if __name__ == "__main__":
    run(one_pass, Month, MonthFix)
