# SPDX-License-Identifier: Apache-2.0
"""A county fair: stalls that draw, count, ask the clock and share a board, each called with the same words all day."""

import collections
import itertools
import math
import os
import queue
import random
import time

from common import run

TICKETS = itertools.count(1)
COUNTER = queue.SimpleQueue()
BOARD = {"visitors": 0}
PRICES = [1.0 + place / 100 for place in range(400)]
HERE = os.path.dirname(os.path.abspath(__file__))


def tombola(prizes):
    """The best of a handful of draws."""
    return max([random.random() * prizes for _ in range(200)])


def shooting_gallery(rings):
    return sorted(random.gauss(0, rings) for _ in range(120))[60]


def tickets(sheets):
    return [next(TICKETS) ** 2 % 97 for _ in range(sheets)]


def counter(orders):
    return sum(COUNTER.get() ** 0.5 for _ in range(orders))


def mean_price(low, high):
    """Of the board, where a price has gone up since."""
    return sum(price * price for price in PRICES[low:high]) / (high - low)


def big_wheel(minutes):
    BOARD["visitors"] += minutes
    visitors = BOARD["visitors"]
    return sum(math.sin(visitors + seat) for seat in range(150))


def late_gates(gates):
    now = time.time()
    return sum(1 for gate in range(gates) if now - gate > 3)


def lost_children(folder):
    return sum(os.stat(folder).st_nlink for _ in range(15))


def stamps(visitors):
    return len({os.urandom(6).hex() for _ in range(visitors)})


def queue_for_pony(length):
    waiting = list(range(length))
    random.shuffle(waiting)
    return waiting[0] < length


def one_pass(number, step):
    random.seed(number)
    seen = collections.Counter()
    for hour in range(25):
        for order in range(80):
            COUNTER.put(order)
        PRICES[hour * 13 % len(PRICES)] *= 1.001
        seen["tombola"] += tombola(9.0) > 0
        seen["gallery"] += abs(shooting_gallery(3.0)) < 99
        seen["tickets"] += len(tickets(90))
        seen["counter"] += round(counter(80))
        seen["price"] += mean_price(0, 400) > 1
        seen["wheel"] += abs(big_wheel(0.5)) < 150
        seen["gates"] += late_gates(250)
        seen["children"] += lost_children(HERE) > 0
        seen["stamps"] += stamps(30)
        seen["pony"] += queue_for_pony(150)
    return sorted(seen.items())


if __name__ == "__main__":
    run(one_pass)
