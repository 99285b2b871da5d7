# SPDX-License-Identifier: Apache-2.0
"""A herbarium's sheets are typed up: names and collectors get numbers as they turn up, sheets are packed."""

import random
import re
import struct

from common import run

SHEETS = 1_500
LABEL = re.compile(
    r"(?P<name>[A-Z][a-z]+ [a-z-]+)(?: (?P<author>[A-Z][\w.]*))?; leg\. (?P<who>[^;]+); (?P<when>[\d.]+)"
)
SHEET = struct.Struct("<HHHBBh")
STARTS = "Alch Bet Car Des Epi Fest Gal Hier Jun Luz Myos Orch Pot Ran Sal Tri Ver Vic Pru Gen".split()
ENDS = "alis ensis atum oides ifolia ulus ella escens aria inum".split()


def make_labels(rng):
    species = ["%s%s %s%s" % (rng.choice(STARTS), e, rng.choice(STARTS).lower(), rng.choice(ENDS)) for e in ENDS * 90]
    people = ["%s. %s%s" % (rng.choice("ABDEFGHJ"), rng.choice(STARTS), rng.choice(ENDS)) for _ in range(60)]
    for _ in range(SHEETS):
        name = rng.choice(species)
        author = rng.choice(["", " L.", " Mill.", " Scop."])
        when = "%d.%d.%d" % (rng.randrange(1, 29), rng.randrange(4, 11), rng.randrange(1840, 1990))
        yield "%s%s; leg. %s; %s" % (name, author, rng.choice(people), when)


def number_of(name, names):
    if name not in names:
        names.append(name)
    return names.index(name)


def number_of_fixed(name, names):
    return names.setdefault(name, len(names))


class Herbarium:
    def __init__(self, number, table):
        self.number = number
        self.names = table()
        self.people = {}
        self.archive = bytearray()
        self.by_decade = {}
        self.unread = 0

    def enter(self, label):
        found = LABEL.match(label)
        if found is None:
            self.unread += 1
            return
        day, month, year = map(int, found["when"].split("."))
        name = self.number(found["name"], self.names)
        who = self.people.setdefault(found["who"], len(self.people))
        flags = len(found["author"] or "") | (len(found["name"]) % 8) << 4
        self.archive += SHEET.pack(name, who, year, month, day, flags)
        decade = self.by_decade.setdefault(year // 10 * 10, {})
        genus = found["name"].partition(" ")[0]
        decade[genus] = decade.get(genus, 0) + 1

    def season(self):
        """The middle day of the year on which each name was found, as a check of the archive."""
        days = {}
        for name, _, _, month, day, _ in SHEET.iter_unpack(bytes(self.archive)):
            days.setdefault(name, []).append(31 * month + day)
        return {name: sorted(found)[len(found) // 2] for name, found in days.items()}


def one_pass(number, step):
    numbering, table = step
    herbarium = Herbarium(numbering, table)
    for label in make_labels(random.Random(number)):
        herbarium.enter(label)
    season = herbarium.season()
    richest = max(herbarium.by_decade, key=lambda decade: (len(herbarium.by_decade[decade]), decade))
    names = list(herbarium.names)
    return [len(names), names[-2:], len(herbarium.people), richest, sum(season.values()), herbarium.unread]


if __name__ == "__main__":
    run(one_pass, (number_of, list), (number_of_fixed, dict))
