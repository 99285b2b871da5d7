# SPDX-License-Identifier: Apache-2.0
"""Prices journeys for a railway's booking site: every offer of the trains that leave within an hour."""
import random

import service

STATIONS = {"Aldgate": 0.0, "Burnside": 31.5, "Corley": 58.0, "Dunmore": 92.5, "Eastvale": 140.0, "Fenwick": 171.5}
CLASSES = {"standard": 1.0, "quiet": 1.15, "first": 1.7}
TRAINS_AN_HOUR = 9

quotes = {}


class Request:
    def __init__(self, rng, number):
        self.customer = 500000 + number
        self.origin, self.destination = rng.sample(sorted(STATIONS), 2)
        self.minute = rng.randrange(5 * 60, 23 * 60)
        self.travellers = rng.choice((1, 1, 1, 2, 2, 4))
        self.asked = number / 60.0


def distance(request):
    return abs(STATIONS[request.origin] - STATIONS[request.destination])


def demand(minute):
    """How full the trains of that minute usually are, from 0 to 1."""
    peak = min(abs(minute - 8 * 60), abs(minute - 17 * 60 - 30))
    return max(0.25, 1.0 - peak / 240.0)


def offers(request, rng):
    found = []
    for train in range(TRAINS_AN_HOUR):
        leaves = request.minute + train * 60 // TRAINS_AN_HOUR
        for name, factor in CLASSES.items():
            fare = (2.4 + 0.17 * distance(request)) * factor * (0.6 + 0.8 * demand(leaves))
            found.append(
                {
                    "train": "%s%d" % (request.origin[:2].upper(), 1000 + leaves),
                    "leaves": leaves,
                    "class": name,
                    "seats": [rng.randrange(1000, 1999) for _ in range(request.travellers)],
                    "fare": round(fare * request.travellers, 2),
                }
            )
    return found


def quote(request, rng):
    """A customer who comes back within the same visit sees the same fares."""
    key = (request.customer, request.origin, request.destination, request.minute, request.asked)
    if key not in quotes:
        quotes[key] = offers(request, rng)
    return quotes[key]


def cheapest(found):
    best = min(found, key=lambda offer: offer["fare"])
    return best["train"], best["fare"]


def main():
    rng = random.Random(7)
    sold = 0.0
    for number in service.rounds(per_second=120):
        request = Request(rng, number)
        train, fare = cheapest(quote(request, rng))
        if rng.random() < 0.3:
            sold += fare
    print("takings %.2f" % sold)


if __name__ == "__main__":
    main()
