# SPDX-License-Identifier: Apache-2.0
"""Fares across tariff zones: the cheapest way between zones is found once for each pair and kept."""

import heapq
import random
from functools import lru_cache

from common import run


class Network:
    def __init__(self, rng, zones):
        self.links = {zone: {} for zone in range(zones)}
        for zone in range(1, zones):
            for other in {rng.randrange(zone), rng.randrange(zone)}:
                cents = rng.randrange(20, 180)
                self.links[zone][other] = self.links[other][zone] = cents
        self.searches = 0
        self.fare = lru_cache(maxsize=None)(self.search)

    def search(self, start, goal):
        self.searches += 1
        best = {start: 0}
        waiting = [(0, start)]
        while waiting:
            cents, zone = heapq.heappop(waiting)
            if zone == goal:
                return cents
            if cents > best[zone]:
                continue
            for other, more in self.links[zone].items():
                if cents + more < best.get(other, 1 << 30):
                    best[other] = cents + more
                    heapq.heappush(waiting, (cents + more, other))
        return None


class Card:
    __slots__ = ("number", "cents", "trips", "capped")

    def __init__(self, number, cents):
        self.number = number
        self.cents = cents
        self.trips = 0
        self.capped = 0

    def pay(self, fare, cap):
        spent = min(fare, cap - self.capped)
        if spent > self.cents:
            return False
        self.cents -= spent
        self.capped += spent
        self.trips += 1
        return True


def day(rng, network, cards, hubs, taps):
    refused = taken = 0
    for _ in range(taps):
        card = rng.choice(cards)
        start, goal = rng.sample(hubs, 2)
        fare = network.fare(min(start, goal), max(start, goal))
        before = card.cents
        if card.pay(fare, 900):
            taken += before - card.cents
        else:
            refused += 1
            card.cents += 2000
    for card in cards:
        card.capped = 0
    return taken, refused


def one_pass(number, _):
    rng = random.Random(number)
    network = Network(rng, 150)
    cards = [Card(n, rng.randrange(3000)) for n in range(800)]
    hubs = rng.sample(range(150), 14)
    days = [day(rng, network, cards, hubs, 2500) for _ in range(4)]
    return [*days, network.searches, sum(card.trips for card in cards)]


if __name__ == "__main__":
    run(one_pass)
