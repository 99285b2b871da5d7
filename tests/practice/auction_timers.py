# SPDX-License-Identifier: Apache-2.0
"""An evening of online auctions: late bids put a lot's end off, lots close in order, wallets and commissions are booked."""

import heapq
import random
from collections import Counter

from common import run

EXTRA = 90.0


class Lot:
    def __init__(self, number, reserve, ends):
        self.number = number
        self.reserve = reserve
        self.ends = ends
        self.price = 0
        self.bidder = None
        self.bids = 0


class Clock:
    """Lots by the time they end."""

    def __init__(self):
        self.timers = []

    def start(self, lot):
        heapq.heappush(self.timers, (lot.ends, lot.number, lot))

    def put_off(self, lot, ends):
        self.timers.remove((lot.ends, lot.number, lot))
        heapq.heapify(self.timers)
        lot.ends = ends
        self.start(lot)

    def ended(self, now):
        while self.timers and self.timers[0][0] <= now:
            yield heapq.heappop(self.timers)[2]


class LazyClock(Clock):
    def put_off(self, lot, ends):
        lot.ends = ends
        self.start(lot)

    def ended(self, now):
        while self.timers and self.timers[0][0] <= now:
            ends, _, lot = heapq.heappop(self.timers)
            if ends == lot.ends:
                yield lot


class House:
    def __init__(self, rnd, clock, lots):
        self.rnd = rnd
        self.clock = clock
        self.wallets = {bidder: rnd.randint(200, 4000) for bidder in range(150)}
        self.open = {}
        self.sold = Counter()
        self.put_off = 0
        self.commission = 0.0
        for number in range(lots):
            lot = Lot(number, rnd.randint(10, 120), 600.0 + rnd.uniform(0, 1200))
            self.open[number] = lot
            clock.start(lot)

    def step(self, lot):
        for limit, step in ((50, 2), (200, 5), (1000, 20)):
            if lot.price < limit:
                return step
        return 50

    def bid(self, lot, bidder, now):
        offer = max(lot.price + self.step(lot), lot.reserve // 2)
        if bidder == lot.bidder or offer > self.wallets[bidder]:
            return
        if lot.bidder is not None:
            self.wallets[lot.bidder] += lot.price
        self.wallets[bidder] -= offer
        lot.price, lot.bidder = offer, bidder
        lot.bids += 1
        if lot.ends - now < EXTRA * 4:
            self.put_off += 1
            self.clock.put_off(lot, now + EXTRA * 4 + lot.bids / 16)

    def close(self, lot):
        del self.open[lot.number]
        if lot.bidder is None or lot.price < lot.reserve:
            if lot.bidder is not None:
                self.wallets[lot.bidder] += lot.price
            return
        rate = 0.12 if lot.price < 500 else 0.09
        self.commission += round(lot.price * rate, 2)
        self.sold[lot.bidder] += lot.price

    def evening(self, bids):
        now = 0.0
        for _ in range(bids):
            now += self.rnd.expovariate(2.2)
            for lot in self.clock.ended(now):
                self.close(lot)
            number = int(self.rnd.random() * 250)
            if number in self.open:
                self.bid(self.open[number], self.rnd.randrange(150), now)


def one_pass(number, clock):
    house = House(random.Random(number), clock(), 250)
    house.evening(4000)
    left = sum(lot.price for lot in house.open.values())
    return house.put_off, round(house.commission, 2), sorted(house.sold.items())[:5], left, sum(house.wallets.values())


if __name__ == "__main__":
    run(one_pass, Clock, LazyClock)
