# SPDX-License-Identifier: Apache-2.0
"""Back-test of a crossing strategy: an engine hands bars to strategies, their orders are filled at the next open, and trades are reported."""

from collections import deque
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from common import run


@dataclass
class Order:
    symbol: str
    quantity: int


@dataclass
class Book:
    cash: float = 100_000.0
    held: dict = field(default_factory=dict)
    trades: list = field(default_factory=list)

    def fill(self, order, price, day):
        fee = 1.0 + 0.0004 * abs(order.quantity) * price
        self.cash -= order.quantity * price + fee
        self.held[order.symbol] = self.held.get(order.symbol, 0) + order.quantity
        self.trades.append((day, order.symbol, order.quantity, price, fee))


class Smoothed:
    def __init__(self, span):
        self.span = span
        self.closes = []

    def update(self, close):
        self.closes.append(close)
        return self.latest()

    def latest(self):
        return pd.Series(self.closes).ewm(span=self.span, adjust=False).mean().iloc[-1]


class SmoothedFixed(Smoothed):
    value = None

    def update(self, close):
        if self.value is None:
            self.value = close
        self.value += (close - self.value) * 2 / (self.span + 1)
        return self.value


class Band:
    """Spread of the last closes, for the size of a position."""

    def __init__(self, length):
        self.last = deque(maxlen=length)

    def update(self, close):
        self.last.append(close)
        return float(np.std(np.array(self.last))) / close


class Strategy:
    def __init__(self, symbol):
        self.symbol = symbol

    def on_bar(self, bar, held):
        raise NotImplementedError


class Crossing(Strategy):
    def __init__(self, symbol, smoothed):
        super().__init__(symbol)
        self.slow = smoothed(26)
        self.band = Band(20)
        self.before = 0

    def on_bar(self, bar, held):
        level = self.slow.update(bar["close"])
        band = self.band.update(bar["close"])
        side = 1 if bar["close"] > level * 1.004 else -1 if bar["close"] < level * 0.996 else self.before
        if side == self.before:
            return
        self.before = side
        size = int(600 / (bar["close"] * max(band, 0.004))) if side > 0 else 0
        if size != held:
            yield Order(self.symbol, size - held)


class Engine:
    def __init__(self, strategies):
        self.strategies = strategies
        self.book = Book()
        self.waiting = []
        self.worth = []

    def bar(self, day, bars):
        for order in self.waiting:
            self.book.fill(order, bars[order.symbol]["open"], day)
        self.waiting.clear()
        for strategy in self.strategies:
            self.waiting.extend(strategy.on_bar(bars[strategy.symbol], self.book.held.get(strategy.symbol, 0)))
        self.worth.append(self.book.cash + sum(count * bars[symbol]["close"] for symbol, count in self.book.held.items()))

    def report(self):
        trades = pd.DataFrame(self.book.trades, columns=["day", "symbol", "quantity", "price", "fee"])
        flow = (trades["quantity"] * trades["price"]).groupby(trades["symbol"]).sum()
        worth = np.array(self.worth)
        gains = np.diff(np.log(worth))
        fallen = float((1 - worth / np.maximum.accumulate(worth)).max())
        return len(trades), flow.tolist(), float(trades["fee"].sum()), fallen, float(gains.mean() / (gains.std() + 1e-12))


def market(rng, symbols, days):
    moves = rng.normal(0.0002, 0.012, (days, len(symbols))) + 0.006 * np.sin(np.arange(days) / 17)[:, None]
    closes = 50 * np.exp(moves.cumsum(axis=0))
    opens = closes * (1 + rng.normal(0, 0.002, closes.shape))
    for day, (first, last) in enumerate(zip(opens.tolist(), closes.tolist())):
        yield day, {symbol: {"open": a, "close": b} for symbol, a, b in zip(symbols, first, last)}


def one_pass(number, smoothed):
    symbols = ["AAA", "BBB", "CCC"]
    engine = Engine([Crossing(symbol, smoothed) for symbol in symbols])
    for day, bars in market(np.random.default_rng(number), symbols, 120):
        engine.bar(day, bars)
    return engine.report()


if __name__ == "__main__":
    run(one_pass, Smoothed, SmoothedFixed)
