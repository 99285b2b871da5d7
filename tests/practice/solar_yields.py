# SPDX-License-Identifier: Apache-2.0
"""Yields of solar strings: readings are compared with the sun, tallies made by string, and outages put together from alarms."""

import numpy as np
import pandas as pd

from common import run

DAYS, STRINGS = 6, 12


def readings(rng):
    times = pd.date_range("2024-05-01", periods=DAYS * 96, freq="15min")
    hour = (times.hour + times.minute / 60).to_numpy()
    sun = np.clip(np.sin((hour - 5) / 15 * np.pi), 0, None) * rng.uniform(500, 950, DAYS).repeat(96)
    watts = sun[:, None] * rng.uniform(3.0, 4.5, STRINGS) * rng.normal(1, 0.04, (len(times), STRINGS))
    watts[rng.random(watts.shape) < 0.01] = 0.0
    wide = pd.DataFrame(watts, index=times, columns=["S%02d" % at for at in range(STRINGS)])
    long = wide.rename_axis("time").reset_index().melt("time", var_name="string", value_name="watts")
    return long.assign(sun=np.tile(sun, STRINGS))


def alarms(rng, count):
    start = pd.Timestamp("2024-05-01")
    at = np.sort(rng.integers(0, DAYS * 24 * 60, count))
    kinds = rng.choice(["offline", "online", "hot", "arc"], count, p=[0.4, 0.4, 0.15, 0.05])
    return pd.DataFrame(
        {
            "time": start + pd.to_timedelta(at, unit="min"),
            "string": ["S%02d" % string for string in rng.integers(0, STRINGS, count)],
            "kind": kinds,
            "value": rng.uniform(0, 90, count).round(1),
        }
    )


class Outages:
    def __init__(self):
        self.since = {}
        self.found = []
        self.hot = {}

    def alarm(self, row):
        if row.kind == "offline":
            self.since.setdefault(row.string, row.time)
        elif row.kind == "online" and row.string in self.since:
            minutes = (row.time - self.since.pop(row.string)).total_seconds() / 60
            self.found.append((row.string, minutes))
        elif row.kind == "hot":
            self.hot[row.string] = max(row.value, self.hot.get(row.string, 0.0))

    def follow(self, frame):
        for at in range(len(frame)):
            self.alarm(frame.iloc[at])


class TupleOutages(Outages):
    def follow(self, frame):
        for row in frame.itertuples(index=False):
            self.alarm(row)


def performance(frame):
    """Each string's share of what it gave at its best, in hours with enough sun."""
    lit = frame[frame["sun"] > 150].assign(ratio=lambda each: each["watts"] / each["sun"])
    best = lit.groupby("string")["ratio"].transform("max")
    lit = lit.assign(share=lit["ratio"] / best, day=lit["time"].dt.normalize())
    daily = lit.pivot_table(index="day", columns="string", values="share", aggfunc="mean")
    weak = (daily < daily.median(axis=1).to_numpy()[:, None] - 0.02).sum()
    kwh = frame.groupby("string")["watts"].sum() / 4000
    return daily, weak, kwh


def one_pass(number, kind):
    rng = np.random.default_rng(number)
    daily, weak, kwh = performance(readings(rng))
    outages = kind()
    outages.follow(alarms(rng, 400))
    lost = pd.DataFrame(outages.found, columns=["string", "minutes"]).groupby("string")["minutes"].sum()
    report = pd.DataFrame({"kwh": kwh, "weak": weak, "lost": lost, "hot": pd.Series(outages.hot)}).fillna(0.0)
    return len(outages.found), report.sum().round(3).tolist(), float(daily.to_numpy().mean()), str(report["lost"].idxmax())


if __name__ == "__main__":
    run(one_pass, Outages, TupleOutages)
