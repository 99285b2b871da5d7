# SPDX-License-Identifier: Apache-2.0
"""A fish market's exchange: bids and offers of each kind stand in order of price until one meets another."""

import bisect
import random
from collections import defaultdict, deque

from runner import run

KINDS = ("cod", "haddock", "hake", "ling", "plaice", "turbot")
ORDERS = 4500
KEPT = 260


class Side:
    """Open orders of one side, the best price last, and at one price the older before the younger."""

    def __init__(self, sign):
        self.sign = sign
        self.prices = []
        self.queues = {}

    def best(self):
        return self.sign * self.prices[-1] if self.prices else None

    def add(self, price, order):
        key = self.sign * price
        if key not in self.queues:
            bisect.insort(self.prices, key)
            self.queues[key] = deque()
        self.queues[key].append(order)

    def take(self, boxes):
        """As many boxes as one order at the best price has left; the order goes when it is empty."""
        key = self.prices[-1]
        order = self.queues[key][0]
        taken = min(boxes, order[1])
        order[1] -= taken
        if not order[1]:
            self.queues[key].popleft()
            if not self.queues[key]:
                del self.queues[key]
                self.prices.pop()
        return taken, order[0]

    def thin(self):
        """Drops the worst price when too many stand."""
        if len(self.prices) > KEPT:
            del self.queues[self.prices.pop(0)]


class Market:
    def __init__(self):
        self.bids = defaultdict(lambda: Side(1))
        self.offers = defaultdict(lambda: Side(-1))
        self.deals = []

    def order(self, who, kind, buys, price, boxes):
        mine, other = (self.bids[kind], self.offers[kind]) if buys else (self.offers[kind], self.bids[kind])
        at = other.best()
        while boxes and at is not None and (price >= at if buys else price <= at):
            taken, whom = other.take(boxes)
            boxes -= taken
            self.deals.append((kind, at, taken, who, whom))
            at = other.best()
        if boxes:
            mine.add(price, [who, boxes])
            mine.thin()


def orders(rnd):
    """Prices wander over the morning."""
    around = {kind: rnd.uniform(200, 900) for kind in KINDS}
    for number in range(ORDERS):
        kind = rnd.choice(KINDS)
        around[kind] *= 1 + rnd.gauss(0, 0.004)
        buys = rnd.random() < 0.5
        price = int(around[kind] * (1 + rnd.gauss(-0.02 if buys else 0.02, 0.03)))
        yield "b%03d" % (number % 331), kind, buys, price, rnd.randrange(1, 12)


def one_pass(number, step):
    market = Market()
    for order in orders(random.Random(number)):
        market.order(*order)
    turnover = defaultdict(int)
    for kind, price, boxes, _, _ in market.deals:
        turnover[kind] += price * boxes
    spreads = [(market.bids[kind].best(), market.offers[kind].best()) for kind in KINDS]
    return sorted(turnover.items()), spreads, len(market.deals), market.deals[-2:]


if __name__ == "__main__":
    run(one_pass)
