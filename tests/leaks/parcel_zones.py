# SPDX-License-Identifier: Apache-2.0
"""A parcel carrier's rate service: finds the delivery zone of an address and the stops of a driver's tour."""
import functools
import math
import random

import service

DEPOTS = {"north": (54.9, -1.6), "middle": (52.5, -1.9), "south": (51.3, -0.7)}
ZONES = ((40.0, "A"), (90.0, "B"), (180.0, "C"), (math.inf, "D"))
STEPS = 160


def kilometres(a, b):
    mean = math.radians((a[0] + b[0]) / 2)
    return math.hypot((a[0] - b[0]) * 111.2, (a[1] - b[1]) * 111.2 * math.cos(mean))


@functools.lru_cache(maxsize=None)
def tour(depot, latitude, longitude):
    """The way from a depot to an address in short steps, for the map on the driver's screen."""
    start = DEPOTS[depot]
    way = []
    for step in range(STEPS + 1):
        share = step / STEPS
        bend = 0.02 * math.sin(share * math.pi)
        way.append((start[0] + (latitude - start[0]) * share + bend, start[1] + (longitude - start[1]) * share))
    return way


@functools.lru_cache(maxsize=256)
def zone(kilometre):
    return next(name for limit, name in ZONES if kilometre <= limit)


def nearest(latitude, longitude):
    return min(DEPOTS, key=lambda depot: kilometres(DEPOTS[depot], (latitude, longitude)))


class RateService:
    PRICE = {"A": 3.9, "B": 5.2, "C": 7.4, "D": 11.0}

    def __init__(self):
        self.asked = dict.fromkeys(self.PRICE, 0)

    def rate(self, latitude, longitude, kilos):
        depot = nearest(latitude, longitude)
        way = tour(depot, latitude, longitude)
        length = sum(kilometres(a, b) for a, b in zip(way[::20], way[20::20]))
        name = zone(int(length))
        self.asked[name] += 1
        return round(self.PRICE[name] + 0.45 * kilos, 2)


def main():
    rng = random.Random(3)
    rates = RateService()
    charged = 0.0
    for _ in service.rounds(per_second=90):
        latitude = round(rng.uniform(50.5, 55.5), 5)
        longitude = round(rng.uniform(-4.0, 0.5), 5)
        charged += rates.rate(latitude, longitude, rng.uniform(0.2, 20.0))
    print("charged %.2f, zones %s" % (charged, rates.asked))


if __name__ == "__main__":
    main()
