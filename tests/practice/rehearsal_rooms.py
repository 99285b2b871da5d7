# SPDX-License-Identifier: Apache-2.0
"""A music school's rehearsal rooms: wishes for hours are taken room by room, put where nothing is booked, and billed."""

import random
from bisect import bisect_left, insort
from collections import Counter
from typing import NamedTuple

from common import run

ROOMS = {"booth": (500, 2), "cellar": (800, 5), "attic": (1_100, 6), "hall": (2_400, 40)}  # cents an hour, people
DAYS = 120


class Booking(NamedTuple):
    start: int
    end: int
    band: str


class Calendar:
    """Bookings of one room, in order of time and none over another."""

    def __init__(self):
        self.bookings = []

    def is_free(self, start, end):
        return not any(booking.start < end and start < booking.end for booking in self.bookings)

    def add(self, booking):
        insort(self.bookings, booking)

    def minutes(self):
        return sum(booking.end - booking.start for booking in self.bookings)


class CalendarFixed(Calendar):
    def is_free(self, start, end):
        at = bisect_left(self.bookings, (start,))
        if at and self.bookings[at - 1].end > start:
            return False
        return at == len(self.bookings) or self.bookings[at].start >= end


class School:
    def __init__(self, calendar):
        self.rooms = {name: calendar() for name in ROOMS}
        self.bills = Counter()
        self.refused = Counter()
        self.letters = []

    def rate(self, room, start):
        """Evenings are dearer, Sundays cheaper."""
        day, minute = divmod(start, 1_440)
        cents, _ = ROOMS[room]
        if minute >= 17 * 60:
            cents += cents // 4
        return cents // 2 if day % 7 == 6 else cents

    def tries(self, wish):
        """The rooms that are large enough, cheapest first, at the hour wished for and at two later ones."""
        rooms = [name for name, (_, most) in ROOMS.items() if wish["people"] <= most]
        for later in (0, 60, 120):
            for room in rooms:
                yield room, wish["start"] + later

    def ask(self, wish):
        for room, start in self.tries(wish):
            if self.rooms[room].is_free(start, start + wish["length"]):
                return self.book(room, start, wish)
        self.refused[wish["start"] // 1_440 % 7] += 1
        return None

    def book(self, room, start, wish):
        booking = Booking(start, start + wish["length"], wish["band"])
        self.rooms[room].add(booking)
        cents = self.rate(room, start) * wish["length"] // 60
        self.bills[booking.band] += cents
        day, minute = divmod(start, 1_440)
        self.letters.append(f"{booking.band}: {room} on day {day + 1} at {minute // 60:02}:{minute % 60:02}, {wish['length']} min, {cents / 100:.2f}")
        return booking


def wishes(rnd, count):
    for _ in range(count):
        start = rnd.randrange(DAYS) * 1_440 + rnd.randint(18, 40) * 30
        yield {"band": "band %02d" % rnd.randint(1, 70), "people": rnd.randint(1, 9), "start": start, "length": rnd.choice((45, 60, 90, 120))}


def one_pass(number, calendar):
    school = School(calendar)
    for wish in wishes(random.Random(number), 900):
        school.ask(wish)
    used = {name: (len(room.bookings), room.minutes()) for name, room in school.rooms.items()}
    return sorted(used.items()), sorted(school.refused.items()), school.bills.most_common(2), school.letters[-1]


if __name__ == "__main__":
    run(one_pass, Calendar, CalendarFixed)
