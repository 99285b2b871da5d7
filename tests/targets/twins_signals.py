# SPDX-License-Identifier: Apache-2.0
"""Twins: a table of pandas read row by row, beside a rolling median over whole columns."""
# guilty: crossed += 1 if prices.iloc[day] > averages.iloc[day] else 0
# category: slice-underutilisation or api-misuse
# mended: return int((prices > averages).sum())
# innocent: return prices.rolling(span).median()

import numpy as np
import pandas as pd

import listing_runner

RANDOM = np.random.RandomState(26)
PRICES = pd.Series(100 + RANDOM.standard_normal(3000).cumsum())


def count_days(prices, averages):
    crossed = 0
    for day in range(len(prices)):
        crossed += 1 if prices.iloc[day] > averages.iloc[day] else 0
    return crossed


def count_at_once(prices, averages):
    return int((prices > averages).sum())


def middle(prices, span):
    return prices.rolling(span).median()


def work(count):
    result = []
    for span in (10, 20, 50, 120):
        averages = middle(pd.concat([PRICES] * 16, ignore_index=True), span).iloc[-len(PRICES) :]
        result.append(count(PRICES, averages.reset_index(drop=True)))
    return result


if __name__ == "__main__":
    listing_runner.run("twins_signals", __doc__, lambda: work(count_days), lambda: work(count_at_once))
