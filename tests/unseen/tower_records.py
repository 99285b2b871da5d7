# SPDX-License-Identifier: Apache-2.0
"""Bells of a district: the towers' ring books, each in order of time, run together into one and are told by the day."""

import heapq
import itertools
import random
from collections import Counter, namedtuple
from datetime import datetime, timedelta

from runner import run

TOWERS = ("All Saints", "Christ Church", "Holy Cross", "St Anne", "St Botolph", "St Clement", "St Denys")
ENTRIES = 300
METHODS = ("Bob Minor", "Grandsire", "Kent", "Plain Hunt", "Stedman")

Ringing = namedtuple("Ringing", "time tower method changes ringers")


def book(rnd, tower, year):
    """The lines of one tower's book."""
    time = datetime(year, 1, 1, 9)
    for _ in range(ENTRIES):
        time += timedelta(minutes=rnd.randrange(60, 3400))
        ringers = " ".join("r%02d" % ringer for ringer in sorted(rnd.sample(range(60), 6)))
        yield "%s|%s|%d|%s" % (time.isoformat(), rnd.choice(METHODS), rnd.randrange(60, 5041), ringers)


def read(tower, lines):
    for line in lines:
        time, method, changes, ringers = line.split("|")
        yield Ringing(datetime.fromisoformat(time), tower, method, int(changes), ringers.split())


class Line:
    """A stream that one may look into before one takes from it."""

    def __init__(self, stream):
        self.stream = stream
        self.head = next(stream, None)

    def take(self):
        ringing = self.head
        self.head = next(self.stream, None)
        return ringing


def clashes(day):
    """Ringers who were written down in two towers within an hour."""
    last = {}
    for ringing in day:
        for ringer in ringing.ringers:
            if ringer in last:
                tower, time = last[ringer]
                if tower != ringing.tower and (ringing.time - time).seconds < 3600:
                    yield ringer, tower, ringing.tower
            last[ringer] = ringing.tower, ringing.time


def by_day(line):
    while line.head is not None:
        date = line.head.time.date()
        day = []
        while line.head is not None and line.head.time.date() == date:
            day.append(line.take())
        yield date, day


def one_pass(number, step):
    rnd = random.Random(number)
    year = 1900 + number % 110
    streams = [read(tower, book(rnd, tower, year)) for tower in TOWERS]
    together = Line(heapq.merge(*streams))
    methods, loud, odd = Counter(), [], []
    for date, day in by_day(together):
        methods.update(ringing.method for ringing in day)
        changes = sum(ringing.changes for ringing in day)
        heapq.heappush(loud, (changes, date.isoformat()))
        if len(loud) > 5:
            heapq.heappop(loud)
        odd.extend((date.isoformat(), *clash) for clash in clashes(day))
    return methods.most_common(), sorted(loud), list(itertools.islice(odd, 3)), len(odd)


if __name__ == "__main__":
    run(one_pass)
