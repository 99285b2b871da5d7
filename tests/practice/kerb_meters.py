# SPDX-License-Identifier: Apache-2.0
"""Kerbside parking meters: stays by street and hour of the day, takings, fines, and where wardens are sent next week."""

import numpy as np
import pandas as pd

from common import run

STREETS = np.array(["Anchor Lane", "Brewery Road", "Canal Side", "Dyers Row", "Elm Street", "Forge Hill", "Goose Gate"])
STAYS = 25_000


def zones(rng):
    return pd.DataFrame(
        {
            "meter": np.arange(180),
            "street": rng.choice(STREETS, 180),
            "cents": rng.choice([120, 180, 240, 300], 180),
            "most": rng.choice([60, 90, 120, 180], 180),
        }
    )


def stays(rng, number):
    start = pd.Timestamp("2023-03-06") + pd.Timedelta(weeks=number % 90)
    return pd.DataFrame(
        {
            "meter": rng.integers(0, 180, STAYS),
            "from": start + pd.to_timedelta(rng.integers(0, 7 * 86_400, STAYS), unit="s"),
            "minutes": rng.gamma(2.2, 30, STAYS).round(1),
            "paid": rng.integers(0, 9, STAYS) * 60,
        }
    )


def hour_of(times):
    return times.dt.strftime("%H").astype(int)


def hour_of_fixed(times):
    return times.dt.hour


class Week:
    def __init__(self, stays, zones, hour_of):
        frame = stays.merge(zones, on="meter")
        frame["hour"] = hour_of(frame["from"])
        frame["charged"] = frame["hour"].between(8, 19)
        self.frame = frame

    def price(self):
        """What was due, what is missing and what stands too long."""
        frame = self.frame
        quarters = np.ceil(frame["minutes"] / 15)
        frame["due"] = np.where(frame["charged"], quarters * frame["cents"] / 4, 0.0)
        frame["missing"] = (frame["due"] - frame["paid"]).clip(lower=0.0)
        frame["over"] = (frame["minutes"] > frame["most"]) & frame["charged"]
        frame["fine"] = np.where(frame["over"], 3_000, np.where(frame["missing"] > 400, 1_500, 0))

    def load(self):
        """Minutes parked by street and hour, as a table."""
        return self.frame.pivot_table(index="street", columns="hour", values="minutes", aggfunc="sum", fill_value=0.0)

    def rounds(self, wardens):
        """The hours of streets with the most fines, best first."""
        sums = self.frame[self.frame["charged"]].groupby(["street", "hour"])["fine"].agg(["sum", "count"])
        sums["each"] = sums["sum"] / sums["count"]
        return sums.nlargest(wardens, "each")

    def statement(self):
        by_street = self.frame.groupby("street")[["due", "paid", "missing"]].sum()
        by_street["share"] = by_street["paid"] / by_street["due"]
        return by_street.sort_values("share")

    def regulars(self):
        long = self.frame[self.frame["minutes"] > 150].sort_values(["meter", "from"])
        gaps = long.groupby("meter")["from"].diff()
        return int((gaps < pd.Timedelta(hours=6)).sum())


def one_pass(number, hour_of):
    rng = np.random.default_rng(number)
    week = Week(stays(rng, number), zones(rng), hour_of)
    week.price()
    busy = week.load()
    sent = week.rounds(8)
    money = week.statement()
    return busy.max(axis=1).tolist(), list(sent.index), sent["each"].tolist(), money["share"].tolist(), week.regulars()


if __name__ == "__main__":
    run(one_pass, hour_of, hour_of_fixed)
