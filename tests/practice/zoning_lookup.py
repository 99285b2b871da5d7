# SPDX-License-Identifier: Apache-2.0
"""Addresses of a town are put into planning zones: zones are rings of corners, an address lies in the first that holds it."""

import math
import random
from collections import Counter
from functools import cached_property

from common import run


class Zone:
    def __init__(self, name, ring, storeys):
        self.name = name
        self.ring = ring
        self.storeys = storeys

    @property
    def bounds(self):
        xs = [x for x, _ in self.ring]
        ys = [y for _, y in self.ring]
        return min(xs), min(ys), max(xs), max(ys)

    def near(self, x, y):
        west, south, east, north = self.bounds
        return west <= x <= east and south <= y <= north

    def holds(self, x, y):
        """Counts the sides that a ray to the east crosses."""
        inside = False
        ax, ay = self.ring[-1]
        for bx, by in self.ring:
            if (ay > y) != (by > y) and x < ax + (bx - ax) * (y - ay) / (by - ay):
                inside = not inside
            ax, ay = bx, by
        return inside

    def area(self):
        shifted = self.ring[1:] + self.ring[:1]
        return abs(sum(ax * by - bx * ay for (ax, ay), (bx, by) in zip(self.ring, shifted))) / 2


class MeasuredZone(Zone):
    @cached_property
    def bounds(self):
        xs = [x for x, _ in self.ring]
        ys = [y for _, y in self.ring]
        return min(xs), min(ys), max(xs), max(ys)


class Plan:
    def __init__(self, zones):
        self.zones = zones
        self.homes = Counter()
        self.tall = []
        self.outside = 0

    def zone_at(self, x, y):
        for zone in self.zones:
            if zone.near(x, y) and zone.holds(x, y):
                return zone
        return None

    def enter(self, street, house, x, y, storeys):
        zone = self.zone_at(x, y)
        if zone is None:
            self.outside += 1
            return
        self.homes[zone.name] += 1
        if storeys > zone.storeys:
            self.tall.append("%s %d: %d storeys in %s" % (street, house, storeys, zone.name))


def ring(rnd, x, y, radius):
    corners = rnd.randint(14, 40)
    for at in range(corners):
        angle = 2 * math.pi * at / corners
        away = radius * rnd.uniform(0.6, 1.1)
        yield x + away * math.cos(angle), y + away * math.sin(angle)


def town(rnd, kind):
    zones = []
    for at in range(25):
        x, y = 200 * (at % 5) + 100, 200 * (at // 5) + 100
        zones.append(kind("zone %d" % at, list(ring(rnd, x, y, 120)), rnd.randint(2, 6)))
    return zones


def addresses(rnd, count):
    for at in range(count):
        street, house = divmod(at, 40)
        yield "street %d" % street, house + 1, rnd.uniform(0, 1000), rnd.uniform(0, 1000), rnd.randint(1, 6)


def one_pass(number, kind):
    rnd = random.Random(number)
    plan = Plan(town(rnd, kind))
    for address in addresses(rnd, 600):
        plan.enter(*address)
    crowded = sorted((plan.homes[zone.name] / zone.area(), zone.name) for zone in plan.zones)[-3:]
    return sorted(plan.homes.items()), len(plan.tall), plan.tall[:3], plan.outside, crowded


if __name__ == "__main__":
    run(one_pass, Zone, MeasuredZone)
