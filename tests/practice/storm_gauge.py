# SPDX-License-Identifier: Apache-2.0
"""Follows a season of rain at a dam's gauges: what has fallen so far, the wettest day, and the sluice."""

import numpy as np

from common import run

HOURS = 1_500


def season(seed):
    rng = np.random.default_rng(seed)
    wet = rng.random((5, HOURS)) < 0.15
    return np.where(wet, rng.exponential(4.0, (5, HOURS)), 0.0)


def so_far(gauge):
    """The season's rain up to each hour, and the heaviest hour up to then."""
    fallen, heaviest = [], []
    for hour in range(1, len(gauge) + 1):
        fallen.append(float(np.sum(gauge[:hour])))
        heaviest.append(float(np.max(gauge[:hour])))
    return fallen, heaviest


def so_far_fixed(gauge):
    return np.cumsum(gauge).tolist(), np.maximum.accumulate(gauge).tolist()


def sluice(fallen, heaviest, ground):
    level, open_for, spilt = 40.0, 0, 0.0
    before = 0.0
    log = []
    for hour, (total, peak) in enumerate(zip(fallen, heaviest)):
        soaked = min(ground, 0.3 + total / 1_500)
        level += (total - before) * soaked * 0.02 - 0.0035
        before = total
        if level > 42 - peak / 60:
            open_for += 1
            out = 0.04 + (level - 41) ** 2 * 0.01
            level -= out
            spilt += out
        if hour % 12 == 0:
            log.append(f"{hour:5} {level:7.3f} {total:8.1f} {peak:6.2f}")
    return open_for, spilt, level, log


def one_pass(number, step):
    gauges = season(number)
    found = []
    for gauge in gauges:
        fallen, heaviest = step(gauge)
        for ground in np.linspace(0.35, 0.8, 10).tolist():
            open_for, spilt, level, log = sluice(fallen, heaviest, ground)
            found.append((open_for, spilt, level, len(log)))
    return found


if __name__ == "__main__":
    run(one_pass, so_far, so_far_fixed)
