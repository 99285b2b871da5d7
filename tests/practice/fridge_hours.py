# SPDX-License-Identifier: Apache-2.0
"""A supermarket chain's fridges: each hour's readings are corrected, summed by fridge and looked through for doors left open."""

import numpy as np
import pandas as pd

from common import run

FRIDGES = 120
READINGS = 50_000


class Hours:
    """Stands for the queue from which the hours come, one table each."""

    def __init__(self, number, many):
        self.rng = np.random.default_rng(number)
        self.usual = self.rng.uniform(2.0, 7.0, FRIDGES)
        self.many = many

    def __iter__(self):
        for hour in range(self.many):
            fridge = self.rng.integers(0, FRIDGES, READINGS)
            second = np.sort(self.rng.integers(0, 3_600, READINGS))
            opened = self.rng.random(FRIDGES) < 0.1
            celsius = self.rng.normal(self.usual[fridge], 0.6) + opened[fridge] * second / 900
            watts = self.rng.gamma(4.0, 30.0, READINGS)
            yield hour, pd.DataFrame({"fridge": fridge, "second": second, "celsius": celsius, "watts": watts})


class Watch:
    def __init__(self, offsets):
        self.offsets = offsets
        self.sums = []
        self.alarms = []

    def corrected(self, readings):
        return readings["celsius"] - self.offsets[readings["fridge"]]

    def summary(self, hour, readings):
        by_fridge = readings.groupby("fridge")
        table = by_fridge["true"].agg(["min", "max", "mean", "std"])
        table["watts"] = by_fridge["watts"].sum()
        table["hour"] = hour
        return table

    def drifting(self, readings):
        """Fridges whose last ten minutes are much warmer than their first."""
        first, last = readings["second"].searchsorted((600, 3_000))
        early = readings.iloc[:first].groupby("fridge")["true"].median()
        late = readings.iloc[last:].groupby("fridge")["true"].median()
        rise = (late - early).dropna()
        return rise[rise > 1.5]

    def take(self, hour, readings):
        readings["true"] = self.corrected(readings)
        self.sums.append(self.summary(hour, readings))
        self.alarms += [(hour, int(fridge), round(float(rise), 6)) for fridge, rise in self.drifting(readings).items()]

    def report(self):
        day = pd.concat(self.sums)
        by_fridge = day.groupby(level=0)
        return by_fridge["watts"].sum().nlargest(3), by_fridge["max"].max().mean(), day["std"].median()


def one_pass(number, _):
    offsets = np.random.default_rng(number + 10_000).normal(0.0, 0.2, FRIDGES)
    watch = Watch(offsets)
    for hour, readings in Hours(number, 12):
        watch.take(hour, readings)
    hungry, warmest, spread = watch.report()
    return [int(fridge) for fridge in hungry.index], float(hungry.sum()), float(warmest), float(spread), len(watch.alarms)


if __name__ == "__main__":
    run(one_pass)
