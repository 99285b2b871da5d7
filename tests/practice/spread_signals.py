# SPDX-License-Identifier: Apache-2.0
"""Pairs of shares that move together: how far their spread is from its usual, and what trading on it would have earned."""

from itertools import accumulate

import numpy as np
import pandas as pd

from common import run

WINDOW = 60
DAYS = 700


def make_prices(rng, shares):
    """Logarithms of prices: a common market, and pairs that are pulled together."""
    market = np.cumsum(rng.normal(0.0002, 0.01, DAYS))
    table = {}
    for which in range(0, shares, 2):
        own = np.cumsum(rng.normal(0, 0.006, DAYS))
        pushes = rng.normal(0, 0.008, DAYS).tolist()
        gap = np.array(list(accumulate(pushes, lambda now, push: 0.93 * now + push)))
        table["A%02d" % which] = 3 + market + own
        table["B%02d" % which] = 2 + rng.uniform(0.7, 1.3) * (market + own) + gap
    return pd.DataFrame(table, index=pd.bdate_range("2015-01-01", periods=DAYS))


def hedge(first, second):
    slope, level = np.polyfit(first.to_numpy(), second.to_numpy(), 1)
    return second - slope * first - level


def half_life(spread):
    """Days until half of a gap is gone, by how a day's change hangs on the gap before."""
    values = spread.to_numpy()
    design = np.column_stack([values[:-1], np.ones(len(values) - 1)])
    back = np.linalg.lstsq(design, np.diff(values), rcond=None)[0][0]
    return np.log(2) / max(-back, 1e-6)


def surprise(spread):
    return spread.rolling(WINDOW).apply(lambda days: (days[-1] - days.mean()) / days.std(), raw=True)


def surprise_fixed(spread):
    recent = spread.rolling(WINDOW)
    return (spread - recent.mean()) / recent.std(ddof=0)


def trade(surprises, spread, enter=1.8, leave=0.4, stop=4.0):
    """Sells a wide spread and buys a narrow one; out again when it is usual, or too far gone."""
    held, earned, trades, peak, fall = 0, 0.0, 0, 0.0, 0.0
    before = None
    for far, gap in zip(surprises.tolist(), spread.tolist()):
        if before is not None and held:
            earned += held * (gap - before)
            peak = max(peak, earned)
            fall = max(fall, peak - earned)
        before = gap
        if held == 0 and enter < abs(far) < stop:
            held = -1 if far > 0 else 1
            trades += 1
        elif held and (abs(far) < leave or abs(far) > stop):
            held = 0
    return earned, trades, fall


def one_pass(number, surprise_of):
    prices = make_prices(np.random.default_rng(number), 12)
    changes = prices.diff().iloc[1:]
    close = changes.corr().to_numpy()
    book = []
    for which in range(0, prices.shape[1], 2):
        spread = hedge(prices.iloc[:, which], prices.iloc[:, which + 1])
        days = half_life(spread)
        if not 2 < days < 60:
            continue
        earned, trades, fall = trade(surprise_of(spread), spread)
        book.append([float(close[which, which + 1]), float(days), float(earned), trades, float(fall)])
    return sorted(book, key=lambda line: -line[2])


if __name__ == "__main__":
    run(one_pass, surprise, surprise_fixed)
