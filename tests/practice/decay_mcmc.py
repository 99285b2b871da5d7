# SPDX-License-Identifier: Apache-2.0
"""Fits a two-rate decay by random-walk sampling: the same data, ever other parameters."""

import math

import numpy as np

from common import run

TIMES = np.linspace(0.05, 8.0, 160)


def make_counts(rng):
    fast, slow = rng.uniform(1.5, 3.0), rng.uniform(0.1, 0.5)
    expected = 120 * np.exp(-fast * TIMES) + 60 * np.exp(-slow * TIMES) + 4
    return rng.poisson(expected).astype(float)


def expected_counts(theta):
    first, fast, second, slow, ground = np.exp(theta)
    return first * np.exp(-fast * TIMES) + second * np.exp(-slow * TIMES) + ground


def log_posterior(theta, counts):
    expected = expected_counts(theta)
    prior = -0.5 * float(((theta - 1.0) ** 2).sum()) / 9
    return prior + float(counts @ np.log(expected) - expected.sum())


def sample(rng, counts, length):
    theta = np.log([100.0, 2.0, 50.0, 0.3, 5.0])
    here = log_posterior(theta, counts)
    chain = np.empty((length, len(theta)))
    taken = 0
    width = 0.03
    for n in range(length):
        other = theta + width * rng.standard_normal(len(theta))
        there = log_posterior(other, counts)
        if math.log(rng.random()) < there - here:
            theta, here = other, there
            taken += 1
        chain[n] = theta
        if n % 100 == 99 and n < length // 4:
            width *= 1.2 if taken > 0.3 * (n + 1) else 0.8
    return chain, taken


def summary(chain):
    kept = np.exp(chain[len(chain) // 4 :])
    return [float(value) for value in np.median(kept, axis=0)]


def one_pass(number, _):
    rng = np.random.default_rng(number)
    chain, taken = sample(rng, make_counts(rng), 6000)
    return taken, summary(chain)


if __name__ == "__main__":
    run(one_pass)
