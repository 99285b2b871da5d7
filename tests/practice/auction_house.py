# SPDX-License-Identifier: Apache-2.0
"""An auction of cattle by bids in writing: raises, withdrawals, and the price at each call."""

import random

from common import run

FARMS = 70


class Lot:
    def __init__(self, name, floor):
        self.name = name
        self.floor = floor
        self.bids = {}
        self.calls = []

    def bid(self, farm, amount):
        if amount >= self.floor:
            self.bids[farm] = amount

    def withdraw(self, farm):
        self.bids.pop(farm, None)

    def call(self):
        if not self.bids:
            return
        amount, farm = sorted((amount, farm) for farm, amount in self.bids.items())[-1]
        self.calls.append(f"{self.name} {farm} {amount / 100:.2f}")
        self.floor = max(self.floor, amount * 3 // 5)


class LotFixed(Lot):
    def call(self):
        if not self.bids:
            return
        amount, farm = max((amount, farm) for farm, amount in self.bids.items())
        self.calls.append(f"{self.name} {farm} {amount / 100:.2f}")
        self.floor = max(self.floor, amount * 3 // 5)


def one_pass(number, step):
    rnd = random.Random(number)
    lots = [step(f"lot {number}/{at}", rnd.randint(20_000, 60_000)) for at in range(12)]
    for _ in range(120):
        for lot in lots:
            for _ in range(rnd.randint(2, 8)):
                farm = f"farm {rnd.randrange(FARMS)}"
                lot.bid(farm, int(rnd.gauss(110_000, 30_000)))
            if rnd.random() < 0.3:
                lot.withdraw(f"farm {rnd.randrange(FARMS)}")
            lot.call()
    return [(len(lot.calls), lot.calls[-1], lot.floor) for lot in lots]


if __name__ == "__main__":
    run(one_pass, Lot, LotFixed)
