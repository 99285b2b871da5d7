# SPDX-License-Identifier: Apache-2.0
"""Hours at plain, night and holiday rates for the staff of a clinic."""

import random
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from common import run

NIGHT = (22, 6)
HOUR = timedelta(hours=1)


@dataclass
class Shift:
    person: str
    start: datetime
    end: datetime


def easter(year):
    a, b, c = year % 19, year // 100, year % 100
    h = (19 * a + b - b // 4 - (b - (b + 8) // 25 + 1) // 3 + 15) % 30
    k = (32 + 2 * (b % 4) + 2 * (c // 4) - h - c % 4) % 7
    m = (a + 11 * h + 22 * k) // 451
    month, day = divmod(h + k - 7 * m + 114, 31)
    return date(year, month, day + 1)


def holidays(year, extra):
    sunday = easter(year)
    days = {date(year, 1, 1), date(year, 5, 1), date(year, 12, 25), date(year, 12, 26)}
    days |= {sunday + timedelta(days=n) for n in (-2, 1, 39, 50)}
    days |= {date(year, 1, 1) + timedelta(days=n) for n in extra}
    return days


def make_roster(rng, year, count):
    for _ in range(count):
        start = datetime(year, 1, 1) + timedelta(days=rng.randrange(364), hours=rng.randrange(24))
        length = timedelta(minutes=15 * rng.randrange(16, 44))
        yield Shift("nurse-%02d" % rng.randrange(40), start, start + length)


def split(shift, free):
    hours = {"plain": 0.0, "night": 0.0, "holiday": 0.0}
    now = shift.start
    while now < shift.end:
        after = min(now + HOUR, shift.end)
        if now.date() in free:
            kind = "holiday"
        elif now.hour >= NIGHT[0] or now.hour < NIGHT[1]:
            kind = "night"
        else:
            kind = "plain"
        hours[kind] += (after - now) / HOUR
        now = after
    return hours


def payroll(roster, year, extra):
    totals = {}
    for shift in roster:
        own = totals.setdefault(shift.person, {"plain": 0.0, "night": 0.0, "holiday": 0.0})
        for kind, hours in split(shift, holidays(year, extra)).items():
            own[kind] += hours
    return totals


def payroll_fixed(roster, year, extra):
    totals = {}
    free = holidays(year, extra)
    for shift in roster:
        own = totals.setdefault(shift.person, {"plain": 0.0, "night": 0.0, "holiday": 0.0})
        for kind, hours in split(shift, free).items():
            own[kind] += hours
    return totals


def one_pass(number, pay):
    rng = random.Random(number)
    year = 1990 + rng.randrange(80)
    extra = [rng.randrange(360) for _ in range(6)]
    totals = pay(make_roster(rng, year, 5000), year, extra)
    return [[name, *own.values()] for name, own in sorted(totals.items())]


if __name__ == "__main__":
    run(one_pass, payroll, payroll_fixed)
