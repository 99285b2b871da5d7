# SPDX-License-Identifier: Apache-2.0
"""Monte Carlo value at risk of option books; every draw is a new one."""

import numpy as np

from common import run

ASSETS = 6
PATHS = 400
STEPS = 24
DAY = 1 / 252


def make_market(rng):
    loading = rng.normal(0, 1, (ASSETS, 3))
    cov = loading @ loading.T + 0.4 * np.eye(ASSETS)
    scale = np.sqrt(np.diag(cov))
    corr = cov / np.outer(scale, scale)
    sigma = rng.uniform(0.1, 0.5, (ASSETS, 1))
    drift = -0.5 * sigma**2 * DAY
    return drift, sigma * np.sqrt(DAY) * np.linalg.cholesky(corr)


def make_book(rng, size=12):
    return [
        (int(asset), float(strike), float(side * units))
        for asset, strike, side, units in zip(
            rng.integers(0, ASSETS, size),
            rng.uniform(80, 120, size),
            rng.choice([-1.0, 1.0], size),
            rng.uniform(1, 20, size),
        )
    ]


def simulate(rng, drift, root):
    spot = np.full((ASSETS, PATHS), 100.0)
    lowest = spot.copy()
    for _ in range(STEPS):
        shock = rng.standard_normal((ASSETS, PATHS))
        spot *= np.exp(drift + root @ shock)
        np.minimum(lowest, spot, out=lowest)
    return spot, lowest


def payoff(book, spot, lowest):
    total = np.zeros(PATHS)
    for asset, strike, units in book:
        alive = lowest[asset] > 0.8 * strike
        total += units * np.maximum(spot[asset] - strike, 0) * alive
    return total


def tail(values, level=0.01):
    cut = np.quantile(values, level)
    return float(cut), float(values[values <= cut].mean())


def one_pass(number, _):
    rng = np.random.default_rng(number)
    drift, root = make_market(rng)
    book = make_book(rng)
    outcomes = np.concatenate([payoff(book, *simulate(rng, drift, root)) for _ in range(100)])
    return tail(outcomes)


if __name__ == "__main__":
    run(one_pass)
