# SPDX-License-Identifier: Apache-2.0
"""A geocoder's front: addresses are normalised and looked up in a cache of limited size, misses are placed on the map's grid."""

import hashlib
import math
import random
import re
import struct
import unicodedata
from collections import Counter, OrderedDict

from common import run

STREET = re.compile(r"^\s*(?P<name>[^\d,]+?)\s+(?P<house>\d+\s?[a-z]?)\s*,\s*(?P<post>\d{5})\s+(?P<town>.+?)\s*$", re.I)
SHORT = re.compile(r"\b(str\.|strasse|av\.|pl\.)", re.I)
LONG = {"str.": "street", "strasse": "street", "av.": "avenue", "pl.": "place"}


class Recent:
    """Keeps the entries that were used last."""

    def __init__(self, room):
        self.room = room
        self.entries = {}
        self.order = []
        self.hits = self.misses = 0

    def get(self, key):
        if key not in self.entries:
            self.misses += 1
            return None
        self.hits += 1
        self.order.remove(key)
        self.order.append(key)
        return self.entries[key]

    def put(self, key, value):
        if len(self.entries) >= self.room:
            del self.entries[self.order.pop(0)]
        self.entries[key] = value
        self.order.append(key)


class RecentFixed(Recent):
    def __init__(self, room):
        super().__init__(room)
        self.entries = OrderedDict()

    def get(self, key):
        if key not in self.entries:
            self.misses += 1
            return None
        self.hits += 1
        self.entries.move_to_end(key)
        return self.entries[key]

    def put(self, key, value):
        if len(self.entries) >= self.room:
            self.entries.popitem(last=False)
        self.entries[key] = value


class Geocoder:
    def __init__(self, cache):
        self.cache = cache
        self.unread = 0

    def normal(self, text):
        """Street, house, postcode and town in one spelling, or None."""
        found = STREET.match(text)
        if found is None:
            return None
        name = SHORT.sub(lambda short: LONG[short[0].lower()], found["name"])
        plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
        return " ".join(plain.split()), found["house"].replace(" ", "").lower(), found["post"], found["town"].lower()

    def place(self, key):
        """Where the map has it: the postcode's square, the street's and the house's part of it."""
        digest = hashlib.sha256("|".join(key).encode()).digest()
        east, north, bend = struct.unpack_from(">HHH", digest)
        square, row = divmod(int(key[2]), 317)
        angle = bend / 65_536 * math.tau
        return square * 0.01 + east / 7e6 + 1e-4 * math.cos(angle), 45 + row * 0.01 + north / 7e6 + 1e-4 * math.sin(angle)

    def locate(self, text):
        key = self.normal(text)
        if key is None:
            self.unread += 1
            return None
        spot = self.cache.get(key)
        if spot is None:
            spot = self.place(key)
            self.cache.put(key, spot)
        return spot


class Rounds:
    """Lengths of the vans' ways from stop to stop."""

    def __init__(self):
        self.last = {}
        self.metres = Counter()

    def stop(self, van, spot):
        if van in self.last:
            east, north = self.last[van]
            wide = (spot[0] - east) * math.cos(math.radians((spot[1] + north) / 2))
            self.metres[van] += round(111_195 * math.hypot(wide, spot[1] - north))
        self.last[van] = spot


def addresses(rnd, many):
    for _ in range(many):
        name = "".join(rnd.choices("abdefgklmnorstuäéö", k=rnd.randint(4, 9))).title()
        house = "%d%s" % (rnd.randint(1, 200), rnd.choice(("", "", "", "a", " b")))
        town = rnd.choice(("Altstadt", "Neuburg", "Seehafen", "Waldheim"))
        yield "%s %s %s, %05d %s" % (name, rnd.choice(("str.", "Strasse", "Av.", "Pl.", "Weg")), house, rnd.randrange(10_000, 99_999), town)


def stops(rnd, known, many):
    """Some addresses get a parcel every other day, most of them seldom."""
    for _ in range(many):
        text = known[int(len(known) * rnd.random() ** 2)]
        yield rnd.randint(1, 25), text if rnd.random() > 0.01 else text[:9]


def one_pass(number, cache):
    rnd = random.Random(number)
    known = list(addresses(rnd, 1_600))
    geocoder, rounds = Geocoder(cache(1_000)), Rounds()
    for van, text in stops(rnd, known, 5_000):
        spot = geocoder.locate(text)
        if spot:
            rounds.stop(van, spot)
    return geocoder.cache.hits, geocoder.cache.misses, geocoder.unread, sorted(rounds.metres.items())


if __name__ == "__main__":
    run(one_pass, Recent, RecentFixed)
