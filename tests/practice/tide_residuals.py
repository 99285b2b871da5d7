# SPDX-License-Identifier: Apache-2.0
"""Harbour gauges: tides are fitted and taken off, and what is left is tested for being noise."""

from itertools import accumulate

import numpy as np

from common import run

HOURS, LAGS = 340, 20
PERIODS = np.array([12.4206, 12.0, 12.6583, 25.8193, 23.9345])  # the main constituents, in hours


class Gauge:
    def __init__(self, name, levels):
        self.name = name
        self.levels = levels
        self.hours = np.arange(len(levels), dtype=float)


def synthetic(rng, name):
    hours = np.arange(HOURS)
    level = 3.0 + 0.001 * hours
    for period, height in zip(PERIODS, rng.uniform(0.05, 1.4, len(PERIODS))):
        level = level + height * np.cos(2 * np.pi * hours / period - rng.uniform(0, 6))
    push = rng.normal(0, 0.05, HOURS).tolist()
    level = level + np.array(list(accumulate(push, lambda before, now: 0.8 * before + now)))
    level[rng.random(HOURS) < 0.02] = np.nan
    return Gauge(name, level)


def fill_gaps(gauge):
    good = np.isfinite(gauge.levels)
    gauge.levels = np.interp(gauge.hours, gauge.hours[good], gauge.levels[good])


def design(hours):
    waves = 2 * np.pi * hours[:, None] / PERIODS
    return np.column_stack([np.ones_like(hours), hours, np.cos(waves), np.sin(waves)])


class Tides:
    """The columns of the fit and what solves it, for gauges of the same hours."""

    def __init__(self, hours):
        self.columns = design(hours)
        self.solver = np.linalg.pinv(self.columns)

    def fit(self, levels):
        found = self.solver @ levels
        heights = np.hypot(found[2 : 2 + len(PERIODS)], found[2 + len(PERIODS) :])
        return levels - self.columns @ found, heights


def autocorrelation(rest):
    """How alike the series is to itself some hours later."""
    rest = rest - rest.mean()
    scale = float(rest @ rest)
    found = []
    for lag in range(1, LAGS + 1):
        total = 0.0
        for hour in range(len(rest) - lag):
            total += rest[hour] * rest[hour + lag]
        found.append(total / scale)
    return np.array(found)


def autocorrelation_fix(rest):
    rest = rest - rest.mean()
    scale = float(rest @ rest)
    return np.array([rest[:-lag] @ rest[lag:] / scale for lag in range(1, LAGS + 1)])


def ljung_box(correlation, count):
    lags = np.arange(1, len(correlation) + 1)
    return float(count * (count + 2) * np.sum(correlation**2 / (count - lags)))


def bootstrap(tides, gauge, rest, rng):
    """How sure the heights are: residuals in blocks are put on the fit again."""
    smooth = gauge.levels - rest
    heights = []
    for _ in range(25):
        starts = rng.integers(0, HOURS - 20, HOURS // 20)
        again = smooth + np.concatenate([rest[start : start + 20] for start in starts])
        heights.append(tides.fit(again)[1])
    return np.std(heights, axis=0)


def one_pass(number, correlate):
    rng = np.random.default_rng(number)
    rows = []
    tides = Tides(np.arange(HOURS, dtype=float))
    for name in ("pier", "lock", "bar", "quay"):
        gauge = synthetic(rng, name)
        fill_gaps(gauge)
        rest, heights = tides.fit(gauge.levels)
        spread = bootstrap(tides, gauge, rest, rng)
        correlation = correlate(rest)
        rows.append((name, ljung_box(correlation, HOURS), float(heights.max()), float(spread.max()), int(np.argmax(correlation < 0.2))))
    return rows


if __name__ == "__main__":
    run(one_pass, autocorrelation, autocorrelation_fix)
