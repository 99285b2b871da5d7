# SPDX-License-Identifier: Apache-2.0
"""Pay slips of a hospital's night nurses: hours stamped against hours due, overtime, tax by bands."""

import random
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import ROUND_HALF_EVEN, Decimal

from common import run

CENT = Decimal("0.01")
NOTHING, BONUS = Decimal(0), Decimal("1.25")
BANDS = ((Decimal(1200), Decimal("0")), (Decimal(2600), Decimal("0.18")), (Decimal(10**6), Decimal("0.31")))


@dataclass(frozen=True)
class Employee:
    number: int
    hourly: Decimal
    share: Decimal
    started: date


def easter(year):
    a, b, c = year % 19, year // 100, year % 100
    h = (19 * a + b - b // 4 - (b - (b + 8) // 25 + 1) // 3 + 15) % 30
    s = (32 + 2 * (b % 4) + 2 * (c // 4) - h - c % 4) % 7
    m = (a + 11 * h + 22 * s) // 451
    return date(year, (h + s - 7 * m + 114) // 31, (h + s - 7 * m + 114) % 31 + 1)


def working_days(year, month):
    sunday = easter(year)
    free = {date(year, 1, 1), date(year, 5, 1), date(year, 12, 25), date(year, 12, 26)}
    free |= {sunday + timedelta(shift) for shift in (-2, 1, 39, 50)}
    day, found = date(year, month, 1), []
    while day.month == month:
        if day.weekday() < 5 and day not in free:
            found.append(day)
        day += timedelta(1)
    return found


def hours_due(employee, year, month):
    days = working_days(year, month)
    return employee.share * 8 * sum(day >= employee.started for day in days)


def pay_of_month(staff, stamps, year, month):
    for employee in staff:
        yield slip(employee, stamps[employee.number], hours_due(employee, year, month))


def pay_of_month_fixed(staff, stamps, year, month):
    days = working_days(year, month)
    for employee in staff:
        due = employee.share * 8 * sum(day >= employee.started for day in days)
        yield slip(employee, stamps[employee.number], due)


def minutes_of(stamp):
    came, went = stamp.split("-")
    start, stop = (int(t[:2]) * 60 + int(t[3:]) for t in (came, went))
    worked = (stop - start) % 1440
    return worked - (45 if worked > 540 else 30 if worked > 360 else 0)


def slip(employee, stamps, due):
    worked = Decimal(sum(map(minutes_of, stamps))) / 60
    extra = max(worked - due, NOTHING)
    gross = employee.hourly * (min(worked, due) + extra * BONUS)
    tax, below = NOTHING, NOTHING
    for top, rate in BANDS:
        tax += max(min(gross, top) - below, NOTHING) * rate
        below = top
    net = (gross - tax).quantize(CENT, rounding=ROUND_HALF_EVEN)
    return "%05d;%s;%s;%s" % (employee.number, worked.quantize(CENT), extra.quantize(CENT), net)


def clock(rng):
    came, stay = rng.randrange(1080, 1380), rng.randrange(380, 640)
    return "%02d:%02d-%02d:%02d" % (*divmod(came, 60), *divmod((came + stay) % 1440, 60))


def one_pass(number, pay):
    rng = random.Random(number)
    months = [(2001 + (number * 3 + k) % 30, rng.randint(1, 12)) for k in range(4)]
    lines = []
    for year, month in months:
        staff = [
            Employee(n, Decimal(rng.randint(1500, 4200)) / 100, Decimal(rng.randint(20, 100)) / 100,
                     date(year, month, 1) + timedelta(rng.randint(-900, 12)))
            for n in range(120)
        ]  # fmt: skip
        stamps = {e.number: [clock(rng) for _ in range(rng.randint(6, 14))] for e in staff}
        lines.extend(pay(staff, stamps, year, month))
    return len(lines), lines[::37], sum(Decimal(line.rsplit(";", 1)[1]) for line in lines)


if __name__ == "__main__":
    run(one_pass, pay_of_month, pay_of_month_fixed)
