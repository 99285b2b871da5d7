# SPDX-License-Identifier: Apache-2.0
"""Twins: payments discounted one by one through numpy, beside paths of prices computed in bulk."""
# guilty: value += cash[k] * np.exp(-rate * np.sqrt(times[k]))
# category: api-misuse
# mended: return np.dot(cash, np.exp(-rate * np.sqrt(times)))
# innocent: steps = np.exp(drift + volatility * shocks)
# innocent: return np.cumprod(steps, axis=1)

import numpy as np

import listing_runner

RANDOM = np.random.RandomState(22)
TIMES, CASH = np.linspace(0.1, 30, 300), RANDOM.rand(300)
SHOCKS = RANDOM.standard_normal((30, 5000))


def value_payments(cash, times, rate):
    value = 0.0
    for k in range(len(cash)):
        value += cash[k] * np.exp(-rate * np.sqrt(times[k]))
    return value


def value_all(cash, times, rate):
    return np.dot(cash, np.exp(-rate * np.sqrt(times)))


def prices(shocks, drift, volatility):
    steps = np.exp(drift + volatility * shocks)
    return np.cumprod(steps, axis=1)


def work(value):
    result = [prices(SHOCKS, 1e-6, 1e-3 * k).mean() for k in range(1, 3)]
    return result + [value(CASH, TIMES, 0.001 * k) for k in range(1, 17)]


if __name__ == "__main__":
    listing_runner.run("twins_cash", __doc__, lambda: work(value_payments), lambda: work(value_all))
