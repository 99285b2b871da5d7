# SPDX-License-Identifier: Apache-2.0
"""Stowage of a coaster: each crate takes the place that keeps trim and heel smallest, and water is pumped when all are in."""

import math
import random
from dataclasses import dataclass, field

from runner import run

STATIONS = 9
LENGTH = 62.0


@dataclass
class Hull:
    breadths: list
    draught: float
    lightweight: float

    def half_breadth(self, station, height):
        return self.breadths[station] * (1 - math.exp(-1.8 * height))

    def waterplane(self):
        """Area, its middle and its second moments at the draught, by Simpson's rule over the stations."""
        gap = LENGTH / (STATIONS - 1)
        area = first = across = along = 0.0
        for station in range(STATIONS):
            factor = gap / 3 * (1 if station in (0, STATIONS - 1) else 4 if station % 2 else 2)
            half = self.half_breadth(station, self.draught)
            x = station * gap - LENGTH / 2
            area += factor * 2 * half
            first += factor * 2 * half * x
            along += factor * 2 * half * x * x
            across += factor * 2 / 3 * half**3
        middle = first / area
        return area, middle, along - area * middle * middle, across


@dataclass
class Place:
    number: int
    x: float
    y: float
    z: float
    crate: object = None


@dataclass
class Crate:
    code: str
    tons: float
    stack: bool
    danger: bool


@dataclass
class Plan:
    hull: Hull
    places: list
    trim: float = 0.0
    heel: float = 0.0
    lines: list = field(default_factory=list)
    stowed: list = field(default_factory=list)

    def moved(self, tons, x, y, water):
        area, middle, along, across = water
        trim = self.trim + tons * (x - middle) / along
        heel = self.heel + tons * y / across
        return trim, heel, tons / (1.025 * area)

    def crowding(self, place, crate):
        """Dangerous crates stay apart, heavy ones are lashed to each other better."""
        close = 0.0
        for other in self.stowed:
            far = abs(place.x - other.x) + abs(place.y - other.y) + 2 * abs(place.z - other.z)
            if crate.danger and other.crate.danger and far < 14:
                close += 3.0
            elif far < 5:
                close -= 0.01 * min(crate.tons, other.crate.tons)
        return close

    def badness(self, place, crate):
        trim, heel, sinks = self.moved(crate.tons, place.x, place.y, self.hull.waterplane())
        high = 0.002 * place.z * crate.tons * (1.0 if crate.stack else 1.6)
        return abs(trim) * 900 + abs(heel) * 1_400 + high + sinks + self.crowding(place, crate)

    def stow(self, crate):
        best = min((place for place in self.places if place.crate is None), key=lambda place: self.badness(place, crate))
        best.crate = crate
        self.stowed.append(best)
        self.trim, self.heel, sinks = self.moved(crate.tons, best.x, best.y, self.hull.waterplane())
        self.lines.append(f"{crate.code} {crate.tons:6.2f} t -> {best.number:03d} trim {self.trim:+.5f} heel {self.heel:+.5f}")


class PlanFixed(Plan):
    def __init__(self, hull, places):
        super().__init__(hull, places)
        self.water = self.hull.waterplane()

    def badness(self, place, crate):
        trim, heel, sinks = self.moved(crate.tons, place.x, place.y, self.water)
        high = 0.002 * place.z * crate.tons * (1.0 if crate.stack else 1.6)
        return abs(trim) * 900 + abs(heel) * 1_400 + high + sinks + self.crowding(place, crate)


def hull(rnd):
    full = rnd.uniform(4.8, 6.0)
    shape = [full * math.sin(math.pi * (0.04 + 0.92 * at / (STATIONS - 1))) ** 0.5 for at in range(STATIONS)]
    return Hull(shape, rnd.uniform(2.2, 3.4), rnd.uniform(400, 600))


def one_pass(number, step):
    rnd = random.Random(number)
    spots = [(x, y, z) for x in range(-22, 23, 4) for y in (-3.2, 0.0, 3.2) for z in (1.2, 3.8)]
    plan = step(hull(rnd), [Place(at, *spot) for at, spot in enumerate(spots)])
    for at in range(40):
        plan.stow(Crate("C%07d" % rnd.randrange(10**7), round(rnd.uniform(2.0, 24.0), 2), rnd.random() < 0.6, rnd.random() < 0.2))
    water = [-tons for tons in (plan.heel * 1_000, plan.trim * 1_000)]
    return plan.trim, plan.heel, water, plan.lines[-2:]


if __name__ == "__main__":
    run(one_pass, Plan, PlanFixed)
