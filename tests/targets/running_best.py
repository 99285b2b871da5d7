# SPDX-License-Identifier: Apache-2.0
"""Days of prices, one after the other: the best price so far is looked for among all of the day's until then.

Each day begins anew, so that what is gone over has any length. With --fixed the best is kept.
"""
import round_runner


def best_so_far(prices):
    seen, best = [], []
    for price in prices:
        seen.append(price)
        best.append(max(seen))
    return best


def best_kept(prices):
    best = []
    for price in prices:
        best.append(max(price, best[-1]) if best else price)
    return best


def trade(rng, fixed, number):
    prices = [rng.random() for _ in range(1500)]
    best = best_kept(prices) if fixed else best_so_far(prices)
    return None if best[-1] == sorted(prices * 20)[-1] else "another best price"


round_runner.run("running_best", __doc__, trade)
