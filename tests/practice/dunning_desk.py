# SPDX-License-Identifier: Apache-2.0
"""A wholesaler's dunning run: when each bill was due by working days, what interest has come up, and which letter goes out."""

import datetime
import functools
import random
from collections import Counter
from dataclasses import dataclass

from common import run

DAY = datetime.timedelta(days=1)
TERMS = {"cash": 3, "usual": 10, "friend": 20, "state": 30}
LETTERS = ((5, "kind"), (15, "plain"), (30, "sharp"), (10_000, "court"))


@dataclass(slots=True)
class Bill:
    number: int
    customer: str
    issued: datetime.date
    terms: str
    cents: int
    paid: int


class Workdays:
    """Days on which a bank works: no week-ends, no holidays of the year."""

    def __init__(self, holidays):
        self.holidays = holidays

    def is_open(self, day):
        return day.weekday() < 5 and day not in self.holidays

    def after(self, day, count):
        while count:
            day += DAY
            if self.is_open(day):
                count -= 1
        return day


class WorkdaysFixed(Workdays):
    def __init__(self, holidays):
        super().__init__(holidays)
        self.after = functools.cache(super().after)


class Desk:
    def __init__(self, workdays, today, percent):
        self.workdays = workdays
        self.today = today
        self.percent = percent
        self.counts = Counter()
        self.owed = Counter()
        self.letters = []

    def interest(self, cents, days):
        """A hundredth of a cent exact, then rounded to the nearer cent."""
        exact = cents * self.percent * days
        return (exact + 18_250) // 36_500

    def letter(self, bill, days, rest):
        tone = next(name for most, name in LETTERS if days <= most)
        self.counts[tone] += 1
        more = self.interest(rest, days) + (400 if tone in ("sharp", "court") else 0)
        self.owed[bill.customer] += rest + more
        head = f"{bill.customer}, bill {bill.number} of {bill.issued.isoformat()}"
        body = f"{rest / 100:>10.2f} + {more / 100:>8.2f} since {days} days"
        self.letters.append(f"[{tone}] {head}: {body}")

    def look(self, bill):
        rest = bill.cents - bill.paid
        if rest <= 0:
            self.counts["paid"] += 1
            return
        due = self.workdays.after(bill.issued, TERMS[bill.terms])
        days = (self.today - due).days
        if days <= 0:
            self.counts["early"] += 1
            return
        self.letter(bill, days, rest)

    def summary(self):
        rows = ["%-5s %12.2f" % (customer, cents / 100) for customer, cents in self.owed.most_common(5)]
        return rows, sorted(self.counts.items())


def bills(rnd, first, count):
    names = list(TERMS)
    for number in range(count):
        cents = rnd.randint(500, 900_000)
        paid = rnd.choice((0, 0, 0, cents, cents // 2, cents // 3))
        yield Bill(number, "K%03d" % rnd.randint(1, 300), first + DAY * rnd.randrange(45), rnd.choice(names), cents, paid)


def one_pass(number, workdays):
    rnd = random.Random(number)
    first = datetime.date(2021, 1, 4) + DAY * (number % 900)
    holidays = {first + DAY * rnd.randrange(120) for _ in range(9)}
    desk = Desk(workdays(holidays), first + 75 * DAY, rnd.randint(4, 11))
    for bill in bills(rnd, first, 1_800):
        desk.look(bill)
    return desk.summary(), len(desk.letters), desk.letters[-1]


if __name__ == "__main__":
    run(one_pass, Workdays, WorkdaysFixed)
