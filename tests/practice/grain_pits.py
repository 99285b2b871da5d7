# SPDX-License-Identifier: Apache-2.0
"""A grain exchange: coroutines of traders place and take back orders in pits, a clerk crosses them and writes the tape."""

import asyncio
import heapq
import random
from collections import defaultdict
from dataclasses import dataclass, field

from common import run

GRAINS = ("wheat", "barley", "oats", "rye", "maize")


@dataclass
class Pit:
    grain: str
    bids: list = field(default_factory=list)
    offers: list = field(default_factory=list)
    gone: set = field(default_factory=set)
    last: int = 0
    volume: int = 0

    def top(self, side):
        while side and side[0][1] in self.gone:
            self.gone.discard(heapq.heappop(side)[1])
        return side[0] if side else None

    def spread(self):
        bid, offer = self.top(self.bids), self.top(self.offers)
        return offer[0] + bid[0] if bid and offer else None

    def place(self, number, buys, price, tons):
        heapq.heappush(self.bids if buys else self.offers, [-price if buys else price, number, tons])

    def cross(self):
        while (spread := self.spread()) is not None and spread <= 0:
            bid, offer = self.bids[0], self.offers[0]
            tons = min(bid[2], offer[2])
            self.last = offer[0] if offer[1] < bid[1] else -bid[0]
            self.volume += tons
            yield bid[1], offer[1], self.last, tons
            for side, order in ((self.bids, bid), (self.offers, offer)):
                order[2] -= tons
                if order[2] == 0:
                    heapq.heappop(side)


class Exchange:
    def __init__(self):
        self.pits = {grain: Pit(grain, last=18_000 + 700 * at) for at, grain in enumerate(GRAINS)}
        self.number = 0
        self.tape = []
        self.open = defaultdict(set)

    def price(self, grain):
        return self.pits[grain].last

    def order(self, trader, grain, buys, price, tons):
        self.number += 1
        self.open[trader].add((self.number, grain))
        self.pits[grain].place(self.number, buys, price, tons)
        for buyer, seller, at, amount in self.pits[grain].cross():
            self.tape.append(f"{len(self.tape):05d} {grain:<6} {at / 100:9.2f} x {amount:4d} #{buyer} #{seller}")
        return self.number

    def take_back(self, trader):
        if self.open[trader]:
            number, grain = min(self.open[trader])
            self.open[trader].discard((number, grain))
            self.pits[grain].gone.add(number)


async def trade(exchange, trader, seed, orders):
    rnd = random.Random(seed * 100 + trader)
    for at in range(orders):
        grain = rnd.choice(GRAINS)
        price = round(exchange.price(grain) * (1 + rnd.gauss(0, 0.004)))
        exchange.order(trader, grain, rnd.random() < 0.5, price, rnd.randint(1, 40))
        if rnd.random() < 0.3:
            exchange.take_back(trader)
        if at % 3 == trader % 3:
            await asyncio.sleep(0)


async def day(exchange, seed):
    await asyncio.gather(*(trade(exchange, trader, seed, 110) for trader in range(24)))


def one_pass(number, step):
    exchange = Exchange()
    asyncio.run(day(exchange, number))
    return [(pit.grain, pit.last, pit.volume) for pit in exchange.pits.values()], len(exchange.tape), exchange.tape[-2:]


if __name__ == "__main__":
    run(one_pass)
