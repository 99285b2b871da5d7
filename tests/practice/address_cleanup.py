# SPDX-License-Identifier: Apache-2.0
"""A mailing list as people typed it: towns matched to the gazetteer, labels sorted for the post."""

import difflib
import functools
import random
import re
import unicodedata

from common import run

POSTCODE = re.compile(r"\b([A-Z]{2})[ -]?(\d{4,5})\b")
HOUSE = re.compile(r"^(.*?)[ ,]+(\d+ ?[a-z]?)$")
STARTS = ("Bracken", "Holm", "Ash", "Wether", "Stan", "Mil", "Car", "Thorn", "Kirk", "Lang")
ENDS = ("field", "bury", "ton", "wick", "ham", "ford", "by", "stead")
COUNTIES = ("NO", "SO", "EA", "WE", "MI", "UP")


def make_gazetteer(rng):
    names = [start + end for start in STARTS for end in ENDS]
    return {county: tuple(sorted(rng.sample(names, 9))) for county in COUNTIES}


def mistype(rng, town):
    place = rng.randrange(1, len(town))
    how = rng.randrange(4)
    if how == 0:
        return town[:place] + town[place + 1 :]
    if how == 1:
        return town[:place] + rng.choice("aeinrst") + town[place:]
    if how == 2:
        return town[:place] + "\u00e9" + town[place + 1 :]
    return town


def make_list(seed, count):
    rng = random.Random(seed)
    gazetteer = make_gazetteer(rng)
    typed = [(county, mistype(rng, town)) for county in COUNTIES for town in gazetteer[county] for _ in range(9)]
    rows = []
    for number in range(count):
        county, town = rng.choice(typed)
        street = "%s %s %d" % (rng.choice(STARTS).upper(), rng.choice(("Road", "lane", "STREET")), rng.randrange(1, 200))
        code = "%s%s%04d" % (county, rng.choice((" ", "-", "")), rng.randrange(10_000))
        rows.append(("  %s %d" % (rng.choice(ENDS), number), street, code, town))
    return gazetteer, rows


def closest(town, known):
    found = difflib.get_close_matches(town, known, n=1, cutoff=0.6)
    return found[0] if found else town


def plain(text):
    letters = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return " ".join(letters.split()).title()


def clean(row, gazetteer, match):
    name, street, code, town = row
    county, digits = POSTCODE.match(code).groups()
    road, house = HOUSE.match(plain(street)).groups()
    return county, digits.zfill(5), match(town, gazetteer[county]), road, house, plain(name)


def labels(cleaned):
    lines, last = [], None
    for county, digits, town, road, house, name in sorted(cleaned):
        if (county, town) != last:
            lines.append("== %s, %s ==" % (town.upper(), county))
            last = (county, town)
        lines.append(f"{name:<24}{house:>5} {road:<20}{county}-{digits}")
    return lines


def one_pass(number, make_match):
    gazetteer, rows = make_list(number, 1000)
    match = make_match()
    cleaned = [clean(row, gazetteer, match) for row in rows]
    lines = labels(cleaned)
    return len(lines), lines[:3], lines[-1]


if __name__ == "__main__":
    run(one_pass, lambda: closest, lambda: functools.lru_cache(maxsize=None)(closest))
