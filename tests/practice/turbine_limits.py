# SPDX-License-Identifier: Apache-2.0
"""Limits of a wind farm's readings: how far a turbine may be from the others of its kind."""

import functools

import numpy as np
from common import run
from scipy import stats

TURBINES = 300


def farm(number):
    rng = np.random.default_rng(number)
    sizes = rng.integers(6, 14, TURBINES)
    return sizes, [rng.normal(800, 40, size) for size in sizes], np.float64(0.9 + 0.001 * (number % 90))


def limit(level, count):
    return stats.chi2.isf(1 - level, count)


class Check:
    limit = staticmethod(limit)

    def deviation(self, values, size, level):
        middle = np.median(values)
        scatter = np.mean((values - middle) ** 2)
        ranked = np.argsort(np.abs(values - middle))
        smooth = np.convolve(values[ranked], np.ones(3) / 3, mode="valid")
        bound = self.limit(level, size - np.int64(1))
        return scatter * len(values) / bound, smooth.max() - smooth.min()

    def all(self, sizes, rows, level):
        return np.array([self.deviation(values, size, level) for values, size in zip(rows, sizes)])


def one_pass(number, how):
    sizes, rows, level = farm(number)
    check = Check()
    check.limit = how()
    found = check.all(sizes, rows, level)
    return float(found[:, 0].sum()), float(found[:, 1].max()), int((found[:, 0] > 900).sum())


if __name__ == "__main__":
    run(one_pass, lambda: limit, lambda: functools.cache(limit))
