# SPDX-License-Identifier: Apache-2.0
"""A plant's laboratory: outliers, means and confidence intervals of its replicate assays."""

import functools

import numpy as np
from scipy import stats

from common import run

SAMPLES = 1_500


def week(seed):
    rng = np.random.default_rng(seed)
    level = 0.95 + (seed % 4_000) * 1e-5
    samples = []
    for content in rng.uniform(2, 60, SAMPLES):
        replicates = rng.normal(content, 0.02 * content, rng.integers(4, 12))
        if rng.random() < 0.1:
            replicates[0] *= 1.3
        samples.append(replicates)
    return level, samples


def critical(level, freedom):
    return stats.t.ppf(0.5 + level / 2, freedom)


def without_outlier(values):
    """Dixon's ratio of the gap at an end to the range."""
    ordered = np.sort(values)
    gaps = np.diff(ordered)
    whole = ordered[-1] - ordered[0]
    if gaps[-1] > 0.55 * whole:
        return ordered[:-1]
    if gaps[0] > 0.55 * whole:
        return ordered[1:]
    return ordered


def interval_at(level, quantile):
    def interval(values):
        kept = without_outlier(values)
        mean = kept.mean()
        error = kept.std(ddof=1) / np.sqrt(len(kept))
        half = quantile(level, len(kept) - 1) * error
        return mean - half, mean + half, len(values) - len(kept)

    return interval


def one_pass(number, quantile):
    level, samples = week(number)
    interval = interval_at(level, quantile())
    found = [interval(values) for values in samples]
    low, high, dropped = (np.array(column) for column in zip(*found))
    wide = high - low
    stable = np.array([np.median(values) for values in samples])
    inside = int(((low < stable) & (stable < high)).sum())
    return float(wide.mean()), int(dropped.sum()), inside, float((wide / stable).max())


if __name__ == "__main__":
    run(one_pass, lambda: critical, lambda: functools.cache(critical))
