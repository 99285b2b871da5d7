# SPDX-License-Identifier: Apache-2.0
"""Fen pump houses: from each pump's log the range of its load, its starts, its hours and how the water fell."""

import numpy as np
import pandas as pd

from runner import run

PUMPS = 24
QUARTERS = 7 * 96


def logs(seed):
    rng = np.random.default_rng(seed)
    start = pd.Timestamp(1990 + seed % 30, 11, 1 + seed % 25)
    for pump in range(PUMPS):
        running = np.cumsum(rng.normal(0, 1, QUARTERS)) % 9 > 4
        load = np.where(running, rng.normal(41 + pump, 3, QUARTERS), rng.normal(0.4, 0.1, QUARTERS))
        drain = 2.6 + np.cumsum(np.where(running, -0.02, 0.016) + rng.normal(0, 0.004, QUARTERS))
        times = pd.date_range(start + pd.Timedelta(minutes=rng.integers(15)), periods=QUARTERS, freq="15min")
        yield "pump %02d" % pump, pd.DataFrame({"load": load.round(2), "drain": drain.round(3)}, index=times)


def load_range(load):
    numbers = load.describe()
    return float(numbers["min"]), float(numbers["max"])


def load_range_fixed(load):
    return float(load.min()), float(load.max())


class PumpHouse:
    IDLE = 5.0

    def __init__(self, name, log, measure):
        self.name = name
        self.log = log
        self.measure = measure

    def days(self):
        for day, load in self.log["load"].groupby(self.log.index.day):
            low, high = self.measure(load)
            yield int(day), low, high

    def starts(self):
        running = self.log["load"] > self.IDLE
        return int((running & ~running.shift(fill_value=False)).sum()), float(running.sum() / 4)

    def fall(self):
        smooth = self.log["drain"].rolling(8, min_periods=1).mean()
        return float(smooth.iloc[-1] - smooth.iloc[0]), float(smooth.diff().min())

    def sheet(self):
        return self.name, list(self.days()), self.starts(), self.fall()


def overloaded(sheets, limit):
    """Pump and day of each load above the limit, the heaviest first."""
    heavy = [(high, name, day) for name, days, _, _ in sheets for day, _, high in days if high > limit]
    return sorted(heavy, reverse=True)[:10]


def one_pass(number, step):
    sheets = [PumpHouse(name, log, step).sheet() for name, log in logs(number)]
    return sheets[:3], overloaded(sheets, 70), sum(starts for _, _, (starts, _), _ in sheets)


if __name__ == "__main__":
    run(one_pass, load_range, load_range_fixed)
