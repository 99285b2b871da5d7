# SPDX-License-Identifier: Apache-2.0
"""Backtest of a breakout strategy: equity curve and how deep it sank."""

import numpy as np

from common import run


DAYS = 1800
SEASON = 0.0004 * np.sin(np.arange(DAYS) / 130)


def make_market(seed):
    rng = np.random.default_rng(seed)
    noise = rng.standard_t(5, DAYS) * 0.009
    return 100 * np.exp(np.cumsum(noise + SEASON))


def breakout(prices, length):
    windows = np.lib.stride_tricks.sliding_window_view(prices, length)
    high, low = windows.max(axis=1), windows.min(axis=1)
    position = np.zeros(len(prices))
    holding = 0.0
    for day in range(length, len(prices)):
        price = prices[day]
        if price > high[day - length]:
            holding = 1.0
        elif price < low[day - length]:
            holding = -1.0
        position[day] = holding
    return position


def backtest(prices, position, cost=0.0005):
    change = np.diff(prices) / prices[:-1]
    traded = np.abs(np.diff(position))
    return np.cumprod(1 + position[:-1] * change - cost * traded)


def underwater(equity):
    depths = []
    for day, value in enumerate(equity):
        peak = equity[: day + 1].max()
        depths.append(1 - value / peak)
    return depths


def underwater_fixed(equity):
    return list(1 - equity / np.maximum.accumulate(equity))


def spells(depths, least=0.02):
    found = []
    start = None
    for day, depth in enumerate(depths):
        if depth > 0 and start is None:
            start = day
        elif depth == 0 and start is not None:
            deepest = max(depths[start:day])
            if deepest > least:
                found.append((day - start, float(deepest)))
            start = None
    return found


def one_pass(number, sink):
    results = []
    for n in range(14):
        prices = make_market(number * 14 + n)
        for length in (20, 55):
            equity = backtest(prices, breakout(prices, length))
            depths = sink(equity)
            results.append((float(equity[-1]), float(max(depths)), spells(depths)))
    return results


if __name__ == "__main__":
    run(one_pass, underwater, underwater_fixed)
