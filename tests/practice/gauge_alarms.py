# SPDX-License-Identifier: Apache-2.0
"""Alarms of river gauges: how many readings of a window are above their level."""

import numpy as np
from common import run

GAUGES = 40
SAMPLES = 2000
WINDOW = 250


def readings(number):
    rng = np.random.default_rng(number)
    base = rng.normal(2.0, 0.3, (GAUGES, 1))
    return base + np.cumsum(rng.normal(0, 0.05, (GAUGES, SAMPLES)), axis=1), base[:, 0] + 0.8


def above(window, level):
    return sum(window > level)


def above_fixed(window, level):
    return np.count_nonzero(window > level)


def smooth(row):
    padded = np.pad(row, 2, mode="edge")
    return np.median(np.lib.stride_tricks.sliding_window_view(padded, 5), axis=1)


def one_pass(number, count):
    rows, levels = readings(number)
    alarms = []
    for row, level in zip(rows, levels):
        row = smooth(row)
        for start in range(0, SAMPLES, WINDOW):
            high = int(count(row[start : start + WINDOW], level))
            if high > WINDOW // 2:
                alarms.append((start, high))
    return len(alarms), sum(high for _, high in alarms), float(levels.sum())


if __name__ == "__main__":
    run(one_pass, above, above_fixed)
