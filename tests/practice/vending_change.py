# SPDX-License-Identifier: Apache-2.0
"""Drinks machines of a railway line, a task each: they sell, give change, and tell the depot how easily they could."""

import asyncio
import functools
import random
import zlib

from common import run

COINS = (40, 20, 10, 4, 2, 1)  # of five cents
DRINKS = {"water": 24, "lemonade": 29, "coffee": 31, "cocoa": 34, "broth": 27}
NOTES = (40, 100)


def ways(amount, coins):
    """In how many ways coins of these kinds make up an amount."""
    if amount == 0:
        return 1
    if amount < 0 or not coins:
        return 0
    return ways(amount - coins[0], coins) + ways(amount, coins[1:])


class Machine:
    def __init__(self, name, seed, count_ways):
        self.name = name
        self.rng = random.Random(seed)
        self.count_ways = count_ways
        self.tubes = {coin: self.rng.randrange(30, 60) for coin in COINS[1:]}
        self.stock = dict.fromkeys(DRINKS, 60)
        self.journal = bytearray()
        self.hard = self.refused = 0

    def change(self, amount):
        """Greedy from the tubes; None where that does not come out."""
        given = {}
        for coin in COINS[1:]:
            taken = min(amount // coin, self.tubes[coin])
            if taken:
                given[coin] = taken
                amount -= taken * coin
        return None if amount else given

    def note(self, text):
        body = ("%s %s" % (self.name, text)).encode()
        self.journal += b"%08x %s\n" % (zlib.crc32(body, len(self.journal)), body)

    def sell(self, drink):
        price = DRINKS[drink]
        paid = next(note for note in NOTES if note >= price)
        if self.rng.random() < 0.3:
            for coin in (20, 10, 4, 2):
                self.tubes[coin] += price // coin // 5
            paid = price
        given = self.change(paid - price)
        if given is None or not self.stock[drink]:
            self.refused += 1
            self.note("refused %s at %d" % (drink, paid))
            return
        for coin, number in given.items():
            self.tubes[coin] -= number
        self.stock[drink] -= 1
        kinds = tuple(coin for coin in COINS[1:] if self.tubes[coin] > 10)
        choice = self.count_ways(paid - price, kinds)
        self.hard += choice < 3
        self.note("%s paid %d back %s left %s" % (drink, paid, sorted(given.items()), sorted(self.tubes.items())))

    async def serve(self, customers):
        for _ in range(customers):
            self.sell(self.rng.choice(list(DRINKS)))
            if sum(self.tubes.values()) < 60:
                self.tubes = {coin: number + self.rng.randrange(5, 25) for coin, number in self.tubes.items()}
                self.note("filled %s" % sorted(self.tubes.items()))
            if not any(self.stock.values()):
                self.stock = dict.fromkeys(DRINKS, 40)
            await asyncio.sleep(0)
        return self.hard, self.refused, zlib.crc32(self.journal)


async def line_of(number, count_ways):
    machines = [Machine("M%02d" % n, number * 100 + n, count_ways) for n in range(12)]
    return await asyncio.gather(*(machine.serve(90) for machine in machines))


def one_pass(number, make_ways):
    return [list(told) for told in asyncio.run(line_of(number, make_ways()))]


if __name__ == "__main__":
    run(one_pass, lambda: ways, lambda: functools.cache(ways))
