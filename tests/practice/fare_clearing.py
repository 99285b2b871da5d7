# SPDX-License-Identifier: Apache-2.0
"""Clearing of smart card journeys: each journey is priced by zones crossed and by the product that the card holds."""

import math
import random
from collections import Counter
from datetime import date, timedelta

from common import run

PEAK = range(7, 9)


def stops(seed):
    rnd = random.Random(seed)
    return {"S%02d" % at: (rnd.uniform(-14, 14), rnd.uniform(-14, 14)) for at in range(40)}


def products(seed):
    rnd = random.Random(seed + 77)
    names = []
    for _ in range(24):
        start = date(2030, 1, 1) + timedelta(days=rnd.randrange(200))
        names.append(f"{rnd.choice(('WEEK', 'MONTH', 'TERM'))}:{start:%d-%m-%Y}:{rnd.randint(1, 2)}-{rnd.randint(2, 3)}:{rnd.choice(('adult', 'young', 'senior'))}")
    return names


def journeys(seed):
    rnd = random.Random(-1 - seed)
    names, sold = sorted(stops(seed)), products(seed)
    for at in range(2_500):
        day = date(2030, 1, 1) + timedelta(days=rnd.randrange(230))
        yield "%010d" % rnd.randrange(10**10), rnd.choice(names), rnd.choice(names), day, rnd.randrange(5, 24), rnd.choice(sold)


class Zones:
    """A middle and two rings of districts around it; a stop is of the district whose centre is nearest."""

    def __init__(self, places):
        self.places = places
        self.centres = [(0.0, 0.0, 1, 0)]
        for ring, count in ((2, 4), (3, 6)):
            for at in range(count):
                angle = 2 * math.pi * at / count
                self.centres.append((5.0 * (ring - 1) * math.cos(angle), 5.0 * (ring - 1) * math.sin(angle), ring, at))

    def of(self, stop):
        x, y = self.places[stop]
        nearest, found = 1e9, None
        for centre_x, centre_y, ring, sector in self.centres:
            square = (x - centre_x) ** 2 + (y - centre_y) ** 2
            if square < nearest:
                nearest, found = square, (ring, sector)
        return found


class Clearing:
    def __init__(self, places):
        self.zones = Zones(places)
        self.due = Counter()
        self.lines = []

    def zone(self, stop):
        return self.zones.of(stop)

    def product(self, text):
        kind, start, span, group = text.split(":")
        day, month, year = (int(part) for part in start.split("-"))
        first = date(year, month, day)
        low, high = (int(part) for part in span.split("-"))
        length = {"WEEK": 7, "MONTH": 30, "TERM": 120}[kind]
        return first, first + timedelta(days=length), range(low, high + 1), group

    def crossed(self, entry, leave):
        ring, sector = self.zone(entry)
        other, side = self.zone(leave)
        return (abs(ring - other), ring) if sector == side else (ring + other - 2, min(ring, other))

    def price(self, entry, leave, day, hour, text):
        count, inner = self.crossed(entry, leave)
        first, last, covered, group = self.product(text)
        full = 180 + 55 * count + (40 if hour in PEAK else 0)
        if first <= day < last and inner in covered:
            return max(0, full - 300), group
        return full if group == "adult" else full * 3 // 5, group

    def clear(self, journey):
        card, entry, leave, day, hour, text = journey
        cents, group = self.price(entry, leave, day, hour, text)
        self.due[group, day.month] += cents
        self.lines.append(f"{card} {day:%Y%m%d}{hour:02d} {entry}>{leave} {cents:5d} {group}")


class ClearingFixed(Clearing):
    def __init__(self, places):
        super().__init__(places)
        self.by_stop = {stop: self.zones.of(stop) for stop in places}
        self.by_text = {}

    def zone(self, stop):
        return self.by_stop[stop]

    def product(self, text):
        if text not in self.by_text:
            self.by_text[text] = super().product(text)
        return self.by_text[text]


def one_pass(number, step):
    clearing = step(stops(number))
    for journey in journeys(number):
        clearing.clear(journey)
    return sorted(clearing.due.items()), len(clearing.lines), clearing.lines[-3:]


if __name__ == "__main__":
    run(one_pass, Clearing, ClearingFixed)
