# SPDX-License-Identifier: Apache-2.0
"""An exchange's order book: limit, market and cancel orders meet by price and time; candles of the trades."""

import heapq
import random
from dataclasses import dataclass, field

from common import run


@dataclass(slots=True)
class Order:
    serial: int
    buys: bool
    price: int
    left: int
    trader: int


@dataclass(slots=True)
class Book:
    bids: list = field(default_factory=list)
    asks: list = field(default_factory=list)
    open: dict = field(default_factory=dict)
    trades: list = field(default_factory=list)

    def best(self, side):
        """The first live order of a side; cancelled ones are dropped when they come up."""
        while side:
            order = self.open.get(side[0][1])
            if order is not None:
                return order
            heapq.heappop(side)
        return None

    def place(self, order, clock):
        against = self.asks if order.buys else self.bids
        while order.left:
            other = self.best(against)
            if other is None or (order.price < other.price if order.buys else order.price > other.price):
                break
            pieces = min(order.left, other.left)
            order.left -= pieces
            other.left -= pieces
            self.trades.append((clock, other.price, pieces, other.trader, order.trader))
            if not other.left:
                heapq.heappop(against)
                del self.open[other.serial]
        if order.left:
            self.open[order.serial] = order
            side, key = (self.bids, -order.price) if order.buys else (self.asks, order.price)
            heapq.heappush(side, (key, order.serial))

    def cancel(self, serial):
        return self.open.pop(serial, None) is not None

    def spread(self):
        bid, ask = self.best(self.bids), self.best(self.asks)
        return ask.price - bid.price if bid and ask else None


def stream(rng, many):
    middle = 10_000.0
    for serial in range(many):
        middle += rng.gauss(0, 2.5)
        if rng.random() < 0.3 and serial:
            yield serial, None, max(0, serial - rng.randint(1, 60))
        else:
            buys = rng.random() < 0.5
            price = int(middle + rng.gauss(-4 if buys else 4, 9))
            yield serial, Order(serial, buys, price, rng.randint(1, 90), rng.randrange(40)), None


def candles(trades, width):
    current, rows = None, []
    for clock, price, pieces, _, _ in trades:
        if clock // width != current:
            current = clock // width
            rows.append([price, price, price, price, 0])
        row = rows[-1]
        row[1], row[2], row[3] = max(row[1], price), min(row[2], price), price
        row[4] += pieces
    return rows


def one_pass(number, step):
    rng = random.Random("book %d" % number)
    book = Book()
    cancelled, wide = 0, 0
    for clock, order, serial in stream(rng, 6_000):
        if order is None:
            cancelled += book.cancel(serial)
        else:
            book.place(order, clock)
        gap = book.spread()
        wide += gap is not None and gap > 12
    return cancelled, wide, len(book.open), len(book.trades), candles(book.trades, 500)


if __name__ == "__main__":
    run(one_pass)
