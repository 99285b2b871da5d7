# SPDX-License-Identifier: Apache-2.0
"""Messages of a harbour's offices come as lines of text and become records of five kinds."""

import random
from dataclasses import dataclass
from datetime import date
from functools import cache
from typing import Optional, get_type_hints

from runner import run

MESSAGES = 700


@dataclass
class Arrival:
    ship: str
    day: date
    metres: float
    draught: Optional[float]


@dataclass
class Berth:
    ship: str
    quay: int
    place: Optional[int]


@dataclass
class Cargo:
    ship: str
    goods: str
    tonnes: float
    boxes: int
    cold: bool


@dataclass
class Pilot:
    name: str
    ship: str
    day: date


@dataclass
class Departure:
    ship: str
    day: date
    next_port: Optional[str]
    tugs: int


KINDS = {"ARR": Arrival, "BER": Berth, "CAR": Cargo, "PIL": Pilot, "DEP": Departure}
READ = {
    str: str.strip,
    int: int,
    float: float,
    bool: lambda text: text == "Y",
    date: date.fromisoformat,
    Optional[str]: lambda text: text.strip() or None,
    Optional[int]: lambda text: int(text) if text else None,
    Optional[float]: lambda text: float(text) if text else None,
}


def record(kind, values):
    hints = get_type_hints(kind)
    return kind(**{name: READ[hint](text) for (name, hint), text in zip(hints.items(), values)})


hints_of = cache(get_type_hints)


def record_fixed(kind, values):
    hints = hints_of(kind)
    return kind(**{name: READ[hint](text) for (name, hint), text in zip(hints.items(), values)})


def messages(seed):
    rnd = random.Random(seed)
    ships = ["MV " + "".join(rnd.choices("AEIOUKLMNRST", k=6)) for _ in range(60)]
    for _ in range(MESSAGES):
        ship = rnd.choice(ships)
        day = "%d-%02d-%02d" % (2005 + seed % 15, rnd.randrange(1, 13), rnd.randrange(1, 29))
        some = rnd.choice(("", "7", "12"))
        sort = rnd.randrange(5)
        if sort == 0:
            yield "ARR|%s|%s|%.1f|%s" % (ship, day, rnd.uniform(60, 330), some)
        elif sort == 1:
            yield "BER|%s|%d|%s" % (ship, rnd.randrange(1, 30), some)
        elif sort == 2:
            yield "CAR|%s|%s|%.1f|%d|%s" % (
                ship,
                rnd.choice(("fruit", "ore", "paper")),
                rnd.uniform(5, 900),
                rnd.randrange(40),
                rnd.choice("YN"),
            )
        elif sort == 3:
            yield "PIL|%s|%s|%s" % (rnd.choice(("Moreau", "Li", "Aker")), ship, day)
        else:
            yield "DEP|%s|%s|%s|%d" % (ship, day, rnd.choice(("", "Oslo", "Brest")), rnd.randrange(4))


def one_pass(number, step):
    book = []
    for line in messages(number):
        sort, *values = line.split("|")
        book.append(step(KINDS[sort], values))
    tonnes = sum(entry.tonnes for entry in book if isinstance(entry, Cargo))
    days = {entry.day for entry in book if isinstance(entry, (Arrival, Departure))}
    unplaced = sum(entry.place is None for entry in book if isinstance(entry, Berth))
    return len(book), tonnes, len(days), unplaced, [repr(entry) for entry in book[:2]]


if __name__ == "__main__":
    run(one_pass, record, record_fixed)
