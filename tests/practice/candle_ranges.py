# SPDX-License-Identifier: Apache-2.0
"""Candles from trades, then the indicators a chart shows under them."""

import numpy as np
import pandas as pd

from common import run


def make_trades(seed, count=5_000):
    rng = np.random.default_rng(seed)
    seconds = np.sort(rng.uniform(0, 6.5 * 3600, count))
    price = 50 + rng.normal(0, 0.01, count).cumsum()
    volume = rng.integers(1, 400, count)
    index = pd.Timestamp("2023-03-01 09:30") + pd.to_timedelta(seconds, unit="s")
    return pd.DataFrame({"price": price, "volume": volume}, index=index)


def candles(trades, rule="1min"):
    table = trades["price"].resample(rule).ohlc().ffill()
    table["volume"] = trades["volume"].resample(rule).sum()
    return table


def true_range(table):
    high, low, close = table["high"], table["low"], table["close"]
    ranges = [high.iloc[0] - low.iloc[0]]
    for i in range(1, len(table)):
        before = close.iloc[i - 1]
        up = high.iloc[i]
        down = low.iloc[i]
        ranges.append(max(up - down, abs(up - before), abs(down - before)))
    return pd.Series(ranges, index=table.index)


def true_range_fixed(table):
    before = table["close"].shift()
    up, down = table["high"], table["low"]
    return pd.concat([up - down, (up - before).abs(), (down - before).abs()], axis=1).max(axis=1)


def vwap(table):
    typical = (table["high"] + table["low"] + table["close"]) / 3
    return (typical * table["volume"]).cumsum() / table["volume"].cumsum()


def indicators(table, ranges):
    table["atr"] = ranges.ewm(alpha=1 / 14, adjust=False).mean()
    table["vwap"] = vwap(table)
    middle = table["close"].rolling(20).mean()
    width = table["close"].rolling(20).std()
    table["squeeze"] = (middle + 2 * width) < (middle + 1.5 * table["atr"])
    return table


def one_pass(number, ranges_of):
    answer = []
    for day in range(10):
        table = candles(make_trades(number * 10 + day))
        table = indicators(table, ranges_of(table))
        answer.append((float(table["atr"].iloc[-1]), float(table["vwap"].iloc[-1]), int(table["squeeze"].sum())))
    return answer


if __name__ == "__main__":
    run(one_pass, true_range, true_range_fixed)
