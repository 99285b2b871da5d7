# SPDX-License-Identifier: Apache-2.0
"""Moisture of a nursery's beds: each probe's own log is put on whole hours, mended, and turned into watering orders."""

import numpy as np
import pandas as pd

from runner import run

PROBES = 16
READINGS = 1500
BEDS = ["alder", "birch", "cedar", "dogwood"]


class Probe:
    def __init__(self, seed, number):
        rng = np.random.default_rng(1000 * seed + number)
        self.number = number
        self.bed = BEDS[number % len(BEDS)]
        self.dry_at = rng.uniform(0.205, 0.24)
        start = pd.Timestamp(2010 + seed % 14, 5, 1 + number % 20)
        seconds = rng.integers(60, 900, READINGS).cumsum()
        water = 0.30 - 0.10 * np.abs(np.sin(seconds / 2.1e5)) + rng.normal(0, 0.01, READINGS)
        water[rng.random(READINGS) < 0.02] = np.nan
        celsius = 14 + 6 * np.sin(seconds / 13750) + rng.normal(0, 0.5, READINGS)
        when = start + pd.to_timedelta(seconds, unit="s")
        self.log = pd.DataFrame({"water": water, "celsius": celsius}, index=when)


def hourly(probe):
    """A log on whole hours, without the jumps that a stone at the probe makes."""
    log = probe.log.resample("60min").mean()
    jump = log["water"].diff().abs() > 0.08
    log["water"] = log["water"].mask(jump).interpolate(limit=6)
    log["calm"] = log["water"].rolling(6, min_periods=3).median()
    return log


def orders(probe, log):
    dry = log["calm"] < probe.dry_at
    begins = dry & ~dry.shift(fill_value=False)
    missing = (0.29 - log["calm"][begins]).clip(lower=0)
    warm = log["celsius"].rolling(12, min_periods=1).mean()[begins] > 16
    return pd.DataFrame({"bed": probe.bed, "litres": missing * 950 * np.where(warm, 1.2, 1.0)}, index=missing.index)


def one_pass(number, step):
    sheets = []
    hours = 0
    for place in range(PROBES):
        probe = Probe(number, place)
        log = hourly(probe)
        hours += len(log)
        sheets.append(orders(probe, log))
    book = pd.concat(sheets).sort_index()
    litres = book.groupby("bed")["litres"].sum().reindex(BEDS).fillna(0.0)
    busiest = book["litres"].resample("1D").sum().max() if len(book) else 0.0
    return hours, len(book), [float(value) for value in litres], float(busiest)


if __name__ == "__main__":
    run(one_pass)
