# SPDX-License-Identifier: Apache-2.0
"""Quarterly risk report over a few funds."""

import numpy as np
import pandas as pd

from common import run

TICKERS = ["ALFA", "BRVO", "CHRL", "DLTA", "ECHO", "FXTR", "GOLF", "HOTL"]
BENCHMARK = "HOTL"
DAYS = 520


def make_prices(seed):
    rng = np.random.default_rng(seed)
    steps = rng.normal(0.0003, 0.012, (DAYS, len(TICKERS)))
    index = pd.bdate_range("2021-01-04", periods=DAYS)
    return pd.DataFrame(100 * np.exp(steps.cumsum(axis=0)), index=index, columns=TICKERS)


def daily_returns(prices):
    return prices.pct_change().dropna()


def volatility(prices, ticker, returns_of):
    return float(returns_of(prices)[ticker].std() * np.sqrt(252))


def value_at_risk(prices, ticker, returns_of, level=0.05):
    return float(returns_of(prices)[ticker].quantile(level))


def beta(prices, ticker, returns_of):
    returns = returns_of(prices)
    both = np.cov(returns[ticker], returns[BENCHMARK])
    return float(both[0, 1] / both[1, 1])


def worst_months(prices, ticker, count=3):
    month = prices[ticker].pct_change(21)
    return month.nsmallest(count).round(4).tolist()


def drawdown(prices, ticker):
    own = prices[ticker]
    under = own / own.cummax() - 1
    spells = (under == 0).cumsum()
    return float(under.min()), int(spells.value_counts().max())


def trend(prices, ticker):
    own = prices[ticker]
    fast = own.ewm(span=20).mean()
    slow = own.rolling(100).mean()
    above = fast > slow
    return int(above.sum()), int((above != above.shift()).sum())


def report(prices, returns_of):
    lines = []
    for ticker in prices.columns:
        lines.append(
            (
                ticker,
                volatility(prices, ticker, returns_of),
                value_at_risk(prices, ticker, returns_of),
                beta(prices, ticker, returns_of),
                worst_months(prices, ticker),
                drawdown(prices, ticker),
                trend(prices, ticker),
            )
        )
    return lines


def report_fixed(prices):
    returns = daily_returns(prices)
    return report(prices, lambda same: returns)


def one_pass(number, write):
    lines = []
    for fund in range(2):
        lines.extend(write(make_prices(number * 2 + fund)))
    return lines


if __name__ == "__main__":
    run(one_pass, lambda prices: report(prices, daily_returns), report_fixed)
