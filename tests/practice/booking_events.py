# SPDX-License-Identifier: Apache-2.0
"""Changes of a hostel's bookings go out as lines of JSON: bookings move through states, each change is written with all that is known."""

import json
import random
import zlib
from collections import Counter
from dataclasses import asdict, dataclass, field
from datetime import date, timedelta

from common import run


@dataclass
class Guest:
    name: str
    country: str
    born: int
    notes: list = field(default_factory=list)


@dataclass
class Booking:
    code: str
    room: int
    arrives: str
    nights: int
    price: float
    state: str
    guests: list = field(default_factory=list)
    paid: float = 0.0
    changes: int = 0


def copied(booking):
    return asdict(booking)


def spread(booking):
    return {**vars(booking), "guests": [vars(guest) for guest in booking.guests]}


class Outlet:
    """Writes lines as a message queue takes them, with a sum that goes on from line to line."""

    def __init__(self, as_dict):
        self.as_dict = as_dict
        self.lines = 0
        self.check = 0
        self.size = 0

    def write(self, what, booking):
        event = {"what": what, "at": self.lines, "booking": self.as_dict(booking)}
        line = json.dumps(event, separators=(",", ":")).encode()
        self.lines += 1
        self.size += len(line)
        self.check = zlib.crc32(line, self.check)


class Desk:
    def __init__(self, rnd, outlet):
        self.rnd = rnd
        self.outlet = outlet
        self.open = {}
        self.income = Counter()
        self.serial = 0

    def guests(self):
        for at in range(self.rnd.choice((1, 2, 2, 4))):
            name = "Guest %d-%d" % (self.serial, at)
            yield Guest(name, self.rnd.choice(("DE", "NL", "PL", "IT")), self.rnd.randint(1940, 2010))

    def book(self, today):
        self.serial += 1
        guests = list(self.guests())
        arrives = today + timedelta(days=self.rnd.randint(0, 20))
        nights = self.rnd.randint(1, 6)
        code = "B%05d" % self.serial
        price = 24.5 * nights * len(guests)
        booking = Booking(code, self.rnd.randint(1, 40), arrives.isoformat(), nights, price, "asked", guests)
        self.open[code] = booking
        self.outlet.write("asked", booking)

    def step(self, booking, today):
        booking.changes += 1
        if booking.state == "asked":
            booking.state = "refused" if self.rnd.random() < 0.1 else "kept"
        elif booking.state == "kept":
            booking.paid = round(booking.price * 0.2, 2)
            booking.state = "deposited"
        elif booking.state == "deposited":
            booking.guests[0].notes.append("arrived %s" % today.isoformat())
            booking.state = "staying"
        else:
            booking.paid = booking.price
            booking.state = "gone"
            self.income[booking.arrives[:7]] += booking.paid
        self.outlet.write(booking.state, booking)
        if booking.state in ("refused", "gone"):
            del self.open[booking.code]

    def day(self, today):
        for _ in range(self.rnd.randint(4, 12)):
            self.book(today)
        for code in self.rnd.sample(sorted(self.open), len(self.open) // 3):
            self.step(self.open[code], today)


def one_pass(number, as_dict):
    outlet = Outlet(as_dict)
    desk = Desk(random.Random(number), outlet)
    start = date(2024, 1, 1) + timedelta(days=number % 400)
    for at in range(30):
        desk.day(start + timedelta(days=at))
    return outlet.lines, outlet.size, outlet.check, sorted(desk.income.items())


if __name__ == "__main__":
    run(one_pass, copied, spread)
