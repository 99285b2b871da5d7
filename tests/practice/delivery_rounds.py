# SPDX-License-Identifier: Apache-2.0
"""Offers for delivery rounds: price, duration and emissions of each."""

import math
import random

from common import run


class Round:
    __slots__ = ("stops", "vehicle", "load")

    def __init__(self, stops, vehicle, load):
        self.stops = stops
        self.vehicle = vehicle
        self.load = load

    def distance(self):
        total = 0.0
        for (lat, lon), (next_lat, next_lon) in zip(self.stops, self.stops[1:]):
            a = math.sin((next_lat - lat) / 2) ** 2
            a += math.cos(lat) * math.cos(next_lat) * math.sin((next_lon - lon) / 2) ** 2
            total += 12742 * math.asin(math.sqrt(a))
        return total


class MeasuredRound(Round):
    __slots__ = ("length",)

    def __init__(self, stops, vehicle, load):
        super().__init__(stops, vehicle, load)
        self.length = super().distance()

    def distance(self):
        return self.length


class Vehicle:
    def __init__(self, name, per_km, speed, grams):
        self.name, self.per_km, self.speed, self.grams = name, per_km, speed, grams

    def price(self, tour):
        return 25 + self.per_km * tour.distance() + 1.5 * len(tour.stops)

    def hours(self, tour):
        return tour.distance() / self.speed + len(tour.stops) * (4 + tour.load / 300) / 60

    def emissions(self, tour):
        return tour.distance() * self.grams * (1 + tour.load / 4000)


FLEET = [Vehicle("bike", 0.2, 18, 2), Vehicle("van", 0.45, 42, 190), Vehicle("truck", 0.9, 36, 640)]


def order_stops(rng, count):
    """Stops of one round, each time the nearest of those that are left."""
    left = [(rng.uniform(0.85, 0.9), rng.uniform(0.1, 0.2)) for _ in range(count)]
    way = [left.pop()]
    while left:
        here = way[-1]
        nearest = min(range(len(left)), key=lambda k: abs(left[k][0] - here[0]) + abs(left[k][1] - here[1]))
        way.append(left.pop(nearest))
    return way


def offer(tour):
    vehicle = tour.vehicle
    return "%s %.2f EUR, %.1f h, %.0f g" % (
        vehicle.name,
        vehicle.price(tour),
        vehicle.hours(tour),
        vehicle.emissions(tour),
    )


def one_pass(number, kind):
    rng = random.Random(number)
    offers = []
    for _ in range(450):
        stops = order_stops(rng, rng.randrange(9, 24))
        offers.append(offer(kind(stops, rng.choice(FLEET), rng.uniform(5, 900))))
    return offers


if __name__ == "__main__":
    run(one_pass, Round, MeasuredRound)
