# SPDX-License-Identifier: Apache-2.0
"""Cables between the islands of an archipelago, cheapest first, until storms cut some and new ones must be laid."""

import math
import random
from itertools import combinations

from runner import run

ISLANDS = 170
STORMS = 3
CALLS = 150


class Grids:
    """Which islands hang together; grids[island] names the grid that the island is in by now."""

    def __init__(self, islands):
        self.over = list(range(islands))
        self.size = [1] * islands
        self.left = islands

    def __getitem__(self, island):
        over = self.over
        while over[island] != island:
            over[island] = over[over[island]]
            island = over[island]
        return island

    def join(self, a, b):
        if self.size[a] < self.size[b]:
            a, b = b, a
        self.over[b] = a
        self.size[a] += self.size[b]
        self.left -= 1


def archipelago(rnd):
    middles = [(rnd.uniform(0, 80), rnd.uniform(0, 60)) for _ in range(9)]
    places = []
    for _ in range(ISLANDS):
        x, y = rnd.choice(middles)
        places.append((rnd.gauss(x, 7), rnd.gauss(y, 7)))
    return places


def routes(places, rnd):
    """Possible cables with their cost; the ground makes some dearer."""
    for (a, here), (b, there) in combinations(enumerate(places), 2):
        away = math.dist(here, there)
        if away < 22:
            yield away * rnd.uniform(0.9, 1.7), a, b


def lay(offers, kept, money):
    """The kept cables and, as far as the money goes, the cheapest that still bring something together."""
    grids = Grids(ISLANDS)
    laid = list(kept)
    for _, a, b in laid:
        grids.join(grids[a], grids[b])
    for offer in offers:
        cost, a, b = offer
        one, other = grids[a], grids[b]
        if one != other:
            grids.join(one, other)
            laid.append(offer)
            money -= cost
            if money < 0:
                break
    return laid, grids


def one_pass(number, step):
    rnd = random.Random(number)
    offers = sorted(routes(archipelago(rnd), rnd))
    kept, book = [], []
    for _ in range(1 + STORMS):
        laid, grids = lay(offers, kept, rnd.uniform(150, 600))
        calls = [rnd.sample(range(ISLANDS), 2) for _ in range(CALLS)]
        through = sum(grids[a] == grids[b] for a, b in calls)
        book.append((len(laid), grids.left, max(grids.size), through))
        rnd.shuffle(laid)
        kept = laid[: int(len(laid) * rnd.uniform(0.5, 0.9))]
        lost = set(laid[len(kept) :])
        offers = [offer for offer in offers if offer not in lost]
    return book


if __name__ == "__main__":
    run(one_pass)
