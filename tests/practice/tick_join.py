# SPDX-License-Identifier: Apache-2.0
"""Trades of each day's file set against the quotes before them, and made into bars."""

import io

import numpy as np
import pandas as pd

from common import run

STALE = pd.Timedelta("5min")
SYMBOLS = np.array(["ALFA", "BRVO", "CHLI", "DLTA", "ECHO"])


def day_files(rng, day, trades, quotes):
    def table(count, **more):
        millis = np.sort(rng.integers(0, 8 * 3_600_000, count))
        stamp = pd.Timestamp("2024-05-01 08:00") + pd.Timedelta(days=day) + pd.to_timedelta(millis, unit="ms")
        symbol = rng.choice(SYMBOLS, count)
        return pd.DataFrame({"at": stamp, "symbol": symbol, **more}).to_csv(index=False, float_format="%.3f")

    middle = 100 + rng.normal(0, 0.05, quotes).cumsum()
    spread = rng.uniform(0.01, 0.06, quotes)
    price = 100 + rng.normal(0, 0.05, trades).cumsum()
    return (
        table(trades, price=price, size=rng.integers(1, 400, trades)),
        table(quotes, bid=middle - spread, ask=middle + spread),
    )


def read(text):
    return pd.read_csv(io.StringIO(text), parse_dates=["at"])


def slippage(trades, quotes):
    joined = pd.merge_asof(trades, quotes, on="at", by="symbol", tolerance=STALE)
    joined["middle"] = (joined["bid"] + joined["ask"]) / 2
    joined["side"] = np.sign(joined["price"] - joined["middle"])
    joined["cost"] = joined["side"] * (joined["price"] - joined["middle"]) * joined["size"]
    return joined


def bars(trades):
    grouped = trades.groupby(["symbol", pd.Grouper(key="at", freq="15min")])
    out = grouped["price"].agg(["first", "max", "min", "last"])
    out["volume"] = grouped["size"].sum()
    return out[out["volume"] > 0]


def one_pass(number, _):
    rng = np.random.default_rng(number)
    cost = pd.Series(0.0, index=SYMBOLS)
    spans = []
    for day in range(4):
        trade_text, quote_text = day_files(rng, day, 1500, 3000)
        trades, quotes = read(trade_text), read(quote_text)
        joined = slippage(trades, quotes)
        cost = cost.add(joined.groupby("symbol")["cost"].sum(), fill_value=0.0)
        made = bars(trades)
        spans.append(float((made["max"] - made["min"]).mean()))
    return [float(value) for value in cost], spans


if __name__ == "__main__":
    run(one_pass)
