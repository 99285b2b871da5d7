# SPDX-License-Identifier: Apache-2.0
"""An auction of berths: bids above the middle one go on to the next round."""

import random
import statistics

from common import run


def bids_of(number, count):
    rng = random.Random(number)
    return [(i, round(rng.lognormvariate(7, 0.8), 2), rng.randrange(24)) for i in range(count)]


def strong(bids):
    return [bid for bid in bids if bid[1] > sorted(price for _, price, _ in bids)[len(bids) // 2]]


def strong_fixed(bids):
    middle = sorted(price for _, price, _ in bids)[len(bids) // 2]
    return [bid for bid in bids if bid[1] > middle]


def rounds(bids, choose):
    history = []
    while len(bids) > 8:
        bids = choose(bids)
        prices = [price for _, price, _ in bids]
        history.append((len(bids), min(prices), statistics.fmean(prices), statistics.pstdev(prices)))
    return bids, history


def settle(bids, number):
    rng = random.Random(-number)
    free = [rng.randrange(3, 9) for _ in range(24)]
    placed = []
    for name, price, wanted in sorted(bids, key=lambda bid: -bid[1]):
        for step in range(24):
            berth = (wanted + step) % 24
            if free[berth]:
                free[berth] -= 1
                placed.append((name, berth, round(price * (1 - 0.01 * step), 2)))
                break
    return placed


def one_pass(number, choose):
    whole = bids_of(number, 9000)
    placed = settle(whole[:400], number)
    left, history = rounds(whole[:220], choose)
    text = ";".join("%d %d %.2f" % row for row in placed)
    return sum(map(len, text.split(";"))), len(left), history[-1][2], sum(price for _, _, price in placed)


if __name__ == "__main__":
    run(one_pass, strong, strong_fixed)
