# SPDX-License-Identifier: Apache-2.0
"""Rainfall map from scattered stations by simple kriging."""

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.spatial.distance import cdist

from common import run

RANGE_KM = 18.0
SILL = 4.0
NUGGET = 0.3


def covariance(distance):
    return SILL * np.exp(-distance / RANGE_KM)


def make_stations(seed, count):
    rng = np.random.default_rng(seed)
    where = rng.uniform(0, 100, (count, 2))
    rain = 12 + 3 * np.sin(where[:, 0] / 20) + rng.normal(0, 0.5, count)
    return where, rain


def make_grid(seed, step):
    shift = (seed % 7) * 0.1
    axis = np.arange(shift, 100, step)
    return np.array([(x, y) for x in axis for y in axis])


def krige(where, rain, grid):
    mean = rain.mean()
    anomaly = rain - mean
    cov = covariance(cdist(where, where)) + NUGGET * np.eye(len(where))
    estimate = np.empty(len(grid))
    variance = np.empty(len(grid))
    for n, point in enumerate(grid):
        near = covariance(np.hypot(where[:, 0] - point[0], where[:, 1] - point[1]))
        factor = cho_factor(cov, lower=True)
        weights = cho_solve(factor, near)
        estimate[n] = mean + weights @ anomaly
        variance[n] = SILL - weights @ near
    return estimate, variance


def krige_fixed(where, rain, grid):
    mean = rain.mean()
    anomaly = rain - mean
    cov = covariance(cdist(where, where)) + NUGGET * np.eye(len(where))
    factor = cho_factor(cov, lower=True)
    estimate = np.empty(len(grid))
    variance = np.empty(len(grid))
    for n, point in enumerate(grid):
        near = covariance(np.hypot(where[:, 0] - point[0], where[:, 1] - point[1]))
        weights = cho_solve(factor, near)
        estimate[n] = mean + weights @ anomaly
        variance[n] = SILL - weights @ near
    return estimate, variance


def contours(estimate, levels=(9, 11, 13, 15)):
    return [int(np.count_nonzero(estimate > level)) for level in levels]


def one_pass(number, interpolate):
    where, rain = make_stations(number, 90)
    grid = make_grid(number, 2.5)
    estimate, variance = interpolate(where, rain, grid)
    return contours(estimate), float(estimate.sum()), float(variance.max())


if __name__ == "__main__":
    run(one_pass, krige, krige_fixed)
