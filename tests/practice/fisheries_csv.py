# SPDX-License-Identifier: Apache-2.0
"""Landings of a coast's fishing boats from a wide table of text: catches by species and harbour, quotas, doubtful rows."""

import csv
import io
import random
from collections import defaultdict

from common import run

SPECIES = ("cod", "haddock", "herring", "ling", "mackerel", "plaice", "saithe", "whiting")
HARBOURS = ("Ambleton", "Brackwick", "Cawsey", "Dunmouth")
HEADER = (
    ["trip", "form", "version", "clerk", "entered", "crew", "skipper", "hull", "engine_kw", "length_m"]
    + ["gear_%d" % at for at in range(12)]
    + ["box_%02d" % at for at in range(16)]
    + ["boat", "harbour", "species", "landed_kg", "discard_kg", "price", "day", "checked", "remark"]
)


def table(rnd, rows):
    lines = [",".join(HEADER)]
    middle = ",".join(str(rnd.randrange(100)) for _ in range(28))
    for trip in range(rows):
        start = "%d,F4,2,%s,,%d,,,%d,11.5," % (trip, "ab" if trip % 3 else "cd", trip % 7, 90 + trip % 50)
        draw = rnd.getrandbits(40)
        landed = (draw & 4095) / 4
        facts = (
            draw >> 12 & 31,
            HARBOURS[draw >> 17 & 3],
            SPECIES[draw >> 19 & 7],
            landed,
            landed * (draw >> 22 & 15) / 40,
            1.5 + (draw >> 26 & 255) / 100,
            trip * 30 // rows + 1,
            "y" if draw >> 34 & 3 else "n",
        )
        lines.append(start + middle + "," + "B%02d,%s,%s,%.2f,%.1f,%.2f,%d,%s," % facts + ("see form" if draw >> 36 == 0 else ""))
    return "\n".join(lines)


class Quotas:
    def __init__(self, rnd):
        self.left = {species: rnd.uniform(20_000, 80_000) for species in SPECIES}
        self.closed = {}

    def take(self, species, kilos, day):
        if species in self.closed:
            return False
        self.left[species] -= kilos
        if self.left[species] < 0:
            self.closed[species] = day
        return True


class Returns:
    def __init__(self, quotas):
        self.quotas = quotas
        self.value = defaultdict(float)
        self.boats = defaultdict(set)
        self.over = defaultdict(float)
        self.doubtful = []

    def landing(self, boat, harbour, species, landed, discarded, price, day):
        if landed and discarded / landed > 0.35:
            self.doubtful.append((boat, day, species))
        self.boats[harbour].add(boat)
        if self.quotas.take(species, landed, day):
            self.value[harbour, species] += landed * price
        else:
            self.over[boat] += landed

    def read(self, file):
        rows = csv.reader(file)
        header = next(rows)
        for row in rows:
            if row[header.index("checked")] != "y":
                continue
            self.landing(
                row[header.index("boat")],
                row[header.index("harbour")],
                row[header.index("species")],
                float(row[header.index("landed_kg")]),
                float(row[header.index("discard_kg")]),
                float(row[header.index("price")]),
                int(row[header.index("day")]),
            )


class ColumnReturns(Returns):
    def read(self, file):
        rows = csv.reader(file)
        header = next(rows)
        names = ("checked", "boat", "harbour", "species", "landed_kg", "discard_kg", "price", "day")
        checked, boat, harbour, species, landed, discarded, price, day = map(header.index, names)
        for row in rows:
            if row[checked] == "y":
                weights = float(row[landed]), float(row[discarded])
                self.landing(row[boat], row[harbour], row[species], *weights, float(row[price]), int(row[day]))


def one_pass(number, kind):
    rnd = random.Random(number)
    returns = kind(Quotas(rnd))
    returns.read(io.StringIO(table(rnd, 1500)))
    best = sorted(returns.value.items(), key=lambda item: -item[1])[:3]
    fleets = [len(returns.boats[harbour]) for harbour in HARBOURS]
    return best, fleets, len(returns.doubtful), sorted(returns.quotas.closed.items()), sum(returns.over.values())


if __name__ == "__main__":
    run(one_pass, Returns, ColumnReturns)
