# SPDX-License-Identifier: Apache-2.0
"""A music school hires out instruments: when each is due back in working days, what a late one costs, and letters."""

import random
from collections import Counter
from datetime import date, timedelta

from runner import run

HIRES = 1200
DAY = timedelta(days=1)
TERMS = {"violin": 15, "cello": 25, "horn": 25, "harp": 40}


class School:
    def __init__(self, rnd, year):
        self.start = date(year, 9, 1) + DAY * rnd.randrange(20)
        self.closed = {self.start + DAY * rnd.randrange(120) for _ in range(12)}
        self.letters = []

    def due(self, day, length):
        """The day that is so many working days later."""
        while length:
            day += DAY
            if day.weekday() < 5 and day not in self.closed:
                length -= 1
        return day

    def fine(self, worth, late):
        weekly = worth // 200
        weeks, days = divmod(late, 7)
        return sum(weekly * (100 + 10 * week) // 100 for week in range(weeks)) + weekly * days // 7

    def back(self, pupil, instrument, worth, out, back):
        due = self.due(out, TERMS[instrument])
        late = (back - due).days
        if late <= 0:
            return None
        pence = self.fine(worth, late)
        if late <= 3:
            return due, pence
        self.letters.append(
            "To the parents of %s: the %s lent on %s was due on %s and came on %s; pounds %d.%02d are owed."
            % (pupil, instrument, out, due, back, *divmod(pence, 100))
        )
        return due, pence


class SchoolFixed(School):
    def __init__(self, rnd, year):
        super().__init__(rnd, year)
        self.dues = {}

    def due(self, day, length):
        if (day, length) not in self.dues:
            self.dues[day, length] = super().due(day, length)
        return self.dues[day, length]


def hires(rnd, start):
    for number in range(HIRES):
        instrument = rnd.choice(("violin", "violin", "violin", "cello", "horn", "harp"))
        out = start + DAY * rnd.randrange(20)
        kept = int(TERMS[instrument] * rnd.uniform(1.1, 1.8))
        yield "pupil %03d" % (number % 170), instrument, rnd.randrange(9_000, 90_000), out, out + DAY * kept


def one_pass(number, step):
    rnd = random.Random(number)
    school = step(rnd, 1950 + number % 70)
    owed, due_on = Counter(), Counter()
    for pupil, instrument, worth, out, back in hires(rnd, school.start):
        late = school.back(pupil, instrument, worth, out, back)
        if late:
            due, pence = late
            owed[pupil] += pence
            due_on[due.isoformat()] += 1
    return owed.most_common(4), due_on.most_common(3), len(school.letters), school.letters[:2]


if __name__ == "__main__":
    run(one_pass, School, SchoolFixed)
