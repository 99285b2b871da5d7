# SPDX-License-Identifier: Apache-2.0
"""Reads electricity meters with pandas: turns each day's pulses into a load curve and keeps the figures for the bill."""
import numpy as np
import pandas as pd

import service

METERS = ("mill", "school", "bakery")
QUARTERS = 96


class Meter:
    """One customer's meter; the bill is made of the days' sums, the peak of the load curves."""

    def __init__(self, name):
        self.name = name
        self.curves = []
        self.kilowatt_hours = 0.0
        self.peak = 0.0

    def read(self, pulses):
        curve = pulses.assign(load=pulses["pulses"] * 0.25, name=self.name)
        curve["smooth"] = curve["load"].rolling(4, min_periods=1).mean()
        self.curves.append(curve)
        self.kilowatt_hours += float(curve["load"].sum()) / 4
        self.peak = max(self.peak, float(curve["smooth"].max()))

    def bill(self):
        return 0.31 * self.kilowatt_hours + 4.0 * self.peak


def day(number, rng):
    """The pulses of every phase in every quarter of an hour, with what the grid was like."""
    start = pd.Timestamp("2024-01-01") + pd.Timedelta(days=number)
    rows = QUARTERS * 24
    hour = np.arange(rows) % QUARTERS / 4
    usual = 20 + 15 * np.exp(-((hour - 12) ** 2) / 18)
    return pd.DataFrame(
        {
            "time": start + pd.to_timedelta(np.arange(rows), unit="min"),
            "pulses": rng.poisson(usual),
            "volts": rng.normal(230, 2, rows),
            "hertz": rng.normal(50, 0.01, rows),
        }
    )


def main():
    rng = np.random.default_rng(43)
    meters = [Meter(name) for name in METERS]
    for number in service.rounds(per_second=12):
        meters[number % len(meters)].read(day(number, rng))
    for meter in meters:
        print("%s: %.2f" % (meter.name, meter.bill()))


if __name__ == "__main__":
    main()
