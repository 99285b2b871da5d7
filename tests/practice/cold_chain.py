# SPDX-License-Identifier: Apache-2.0
"""Refrigerated vans: how cold it was at each delivery, from the van's own log, and which deliveries broke the chain."""

import numpy as np
import pandas as pd

from common import run

VANS, READINGS = 5, 2_500
LIMITS = {"frozen": -18.0, "fresh": 4.0, "fruit": 9.0}


def van_log(rng):
    """One reading about every twenty seconds; doors that stand open warm the hold."""
    gaps = rng.integers(12, 28, READINGS)
    start = pd.Timestamp(2023, 5, 1, 4) + pd.Timedelta(minutes=int(rng.integers(0, 10_000)))
    celsius = -19.0 + np.cumsum(rng.normal(0, 0.05, READINGS))
    opened = rng.random(READINGS) < 0.02
    celsius += np.convolve(opened * rng.uniform(1, 6, READINGS), np.exp(-np.arange(40) / 12), mode="full")[:READINGS]
    return pd.DataFrame({"at": start + pd.to_timedelta(np.cumsum(gaps), unit="s"), "celsius": celsius.round(2), "door": opened})


def deliveries(rng, log):
    count = int(rng.integers(40, 70))
    seconds = np.sort(rng.integers(600, 48_000, count))
    return pd.DataFrame(
        {
            "at": log["at"].iloc[0] + pd.to_timedelta(seconds, unit="s"),
            "customer": ["K%04d" % number for number in rng.integers(0, 300, count)],
            "kind": rng.choice(list(LIMITS), count),
            "kilos": rng.uniform(2, 140, count).round(1),
        }
    )


def cold_at(log, stops):
    """The last reading before each stop."""
    return [log.loc[log["at"] <= at, "celsius"].iloc[-1] for at in stops["at"]]


def cold_at_fixed(log, stops):
    return pd.merge_asof(stops, log, on="at")["celsius"].tolist()


class Audit:
    def __init__(self, cold_at):
        self.cold_at = cold_at
        self.stops = []
        self.vans = []

    def spells(self, log, limit=-15.0, shortest=6):
        """Stretches of readings above the limit: how many, and the longest in minutes."""
        warm = log["celsius"] > limit
        stretch = (warm != warm.shift()).cumsum()[warm]
        if stretch.empty:
            return 0, 0.0
        spans = log["at"][warm].groupby(stretch).agg(["first", "last", "size"])
        spans = spans[spans["size"] >= shortest]
        if spans.empty:
            return 0, 0.0
        return len(spans), float((spans["last"] - spans["first"]).max().total_seconds() / 60)

    def kinetic_mean(self, log):
        """The mean by Arrhenius: warm minutes weigh more than cold ones."""
        kelvin = log["celsius"].to_numpy() + 273.15
        weights = log["at"].diff().dt.total_seconds().fillna(0.0).to_numpy()
        return float(1 / (-np.log(np.average(np.exp(-10_000 / kelvin), weights=weights)) / 10_000) - 273.15)

    def hours(self, log):
        """Coldest and warmest quarter of an hour of each hour of the day."""
        quarters = log.set_index("at")["celsius"].resample("15min").mean()
        day = quarters.groupby(quarters.index.hour)
        return float((day.max() - day.min()).mean())

    def van(self, name, log, stops):
        stops = stops.assign(van=name, celsius=self.cold_at(log, stops))
        stops["limit"] = stops["kind"].map(LIMITS)
        stops["broken"] = stops["celsius"] > stops["limit"] + 1.0
        self.stops.append(stops)
        self.vans.append((name, *self.spells(log), self.kinetic_mean(log), self.hours(log), float(log["door"].mean())))

    def report(self):
        stops = pd.concat(self.stops, ignore_index=True)
        worst = stops[stops["broken"]].groupby("kind")["kilos"].agg(["sum", "size"])
        most = stops.groupby("customer")["broken"].sum().nlargest(3, keep="all")
        return [[kind, float(row[0]), int(row[1])] for kind, row in zip(worst.index, worst.to_numpy())], int(most.sum()), len(stops)


def one_pass(number, cold_at):
    rng = np.random.default_rng(number)
    audit = Audit(cold_at)
    for van in range(VANS):
        log = van_log(rng)
        audit.van("van %d" % van, log, deliveries(rng, log))
    return audit.report(), audit.vans


if __name__ == "__main__":
    run(one_pass, cold_at, cold_at_fixed)
