# SPDX-License-Identifier: Apache-2.0
"""Prices lookback options on baskets of shares by correlated random paths, with barriers and Greeks."""

import numpy as np

from common import run

PATHS, SHARES, DAYS = 64, 80, 40
DT = 1 / 252
ROOT = np.sqrt(DT)


def market(rng):
    loadings = rng.normal(0, 0.12, (SHARES, 5))
    cov = loadings @ loadings.T + np.diag(rng.uniform(0.01, 0.06, SHARES))
    spot = rng.uniform(20, 180, SHARES)
    weights = rng.dirichlet(np.ones(SHARES))
    return spot, cov, weights / spot, float(rng.uniform(0.0, 0.05))


def walk(spot, cov, holding, rate, rng):
    drift = (rate - 0.5 * np.diag(cov)) * DT
    price = np.tile(spot, (PATHS, 1))
    value = np.ones((DAYS + 1, PATHS))
    for day in range(1, DAYS + 1):
        price *= np.exp(drift + ROOT * (rng.standard_normal((PATHS, SHARES)) @ np.linalg.cholesky(cov).T))
        value[day] = price @ holding
    return price, value


def walk_fixed(spot, cov, holding, rate, rng):
    drift = (rate - 0.5 * np.diag(cov)) * DT
    price = np.tile(spot, (PATHS, 1))
    value = np.ones((DAYS + 1, PATHS))
    root = np.linalg.cholesky(cov).T
    for day in range(1, DAYS + 1):
        price *= np.exp(drift + ROOT * (rng.standard_normal((PATHS, SHARES)) @ root))
        value[day] = price @ holding
    return price, value


def lookback(value, rate):
    pay = value[-1] - value.min(axis=0)
    return np.exp(-rate * DAYS * DT) * pay


def knocked_out(value, barrier):
    return (value < barrier).any(axis=0)


def deltas(spot, price, holding, pay):
    """Pathwise deltas of the call part: only shares of paths that pay count."""
    alive = (pay > 0)[:, None]
    return (alive * price * holding / spot).mean(axis=0)


def one_pass(number, simulate):
    rng = np.random.default_rng((number, 11))
    book = []
    for _ in range(8):
        spot, cov, holding, rate = market(rng)
        price, value = simulate(spot, cov, holding, rate, rng)
        pay = lookback(value, rate)
        pay[knocked_out(value, 0.85)] = 0.0
        book.append((float(pay.mean()), float(pay.std()), float(deltas(spot, price, holding, pay).sum())))
    return book


if __name__ == "__main__":
    run(one_pass, walk, walk_fixed)
