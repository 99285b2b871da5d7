# SPDX-License-Identifier: Apache-2.0
"""Imports bank statements: reads the lines, guesses the purpose, books by month and finds standing orders."""

import csv
import io
import random
import re
from collections import defaultdict
from datetime import date, datetime, timedelta
from decimal import Decimal
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from common import run

PURPOSES = [
    ("rent", re.compile(r"\b(rent|flat|landlord)\b", re.I)),
    ("food", re.compile(r"\b(market|bakery|grocer\w*)\b", re.I)),
    ("travel", re.compile(r"\b(rail|fuel|tram)\b", re.I)),
    ("power", re.compile(r"\b(grid|gas|water)\s*works?\b", re.I)),
]
TEXTS = ("RAIL ticket", "City market", "Gas works", "landlord Kern", "Bakery Ost", "book club", "fuel 17", "Dr. Weiss")


class Booking(NamedTuple):
    day: date
    payee: str
    text: str
    amount: Decimal


def day_of(field):
    return datetime.strptime(field, "%Y-%m-%d").date()


def bookings(sheet, to_day):
    for row in csv.DictReader(sheet, delimiter=";"):
        amount = Decimal(row["amount"].replace(",", "."))
        yield Booking(to_day(row["day"]), row["payee"], row["text"], -amount if row["side"] == "D" else amount)


def purpose(booking):
    return next((name for name, pattern in PURPOSES if pattern.search(booking.text)), "other")


def monthly(found):
    sums = defaultdict(Decimal)
    for booking in found:
        sums[booking.day.year, booking.day.month, purpose(booking)] += booking.amount
    return dict(sums)


def standing(found):
    """Payees that took the same sum at about monthly distances."""
    ordered = sorted(found, key=lambda b: (b.payee, b.amount, b.day))
    for (payee, amount), group in groupby(ordered, key=lambda b: (b.payee, b.amount)):
        days = [booking.day for booking in group]
        gaps = [(after - before).days for before, after in zip(days, days[1:])]
        if len(gaps) > 2 and all(25 <= gap <= 35 for gap in gaps):
            yield payee, amount


def statement(rng):
    start = date(2015, 1, 1) + timedelta(rng.randrange(3000))
    lines = []
    for k in range(6):
        cents = rng.randint(900, 90_000)
        lines += [(start + timedelta(30 * m + rng.randint(-2, 2)), "P%d" % k, "D", cents) for m in range(1, 12)]
    for _ in range(400):
        day = start + timedelta(rng.randrange(365))
        lines.append((day, "Q%d" % rng.randrange(60), rng.choice("DDDC"), rng.randint(120, 20_000)))
    lines.sort(key=itemgetter(0, 1))
    out = io.StringIO()
    out.write("day;payee;side;amount;text\n")
    for day, payee, side, cents in lines:
        text = "%s ref %08x" % (rng.choice(TEXTS), rng.getrandbits(32))
        out.write("%s;%s;%s;%d,%02d;%s\n" % (day, payee, side, *divmod(cents, 100), text))
    return out.getvalue()


def one_pass(number, to_day):
    rng = random.Random(number + 31)
    result = []
    for _ in range(5):
        found = list(bookings(io.StringIO(statement(rng)), to_day))
        result.append((sorted(monthly(found).items()), sorted(standing(found))))
    return result


if __name__ == "__main__":
    run(one_pass, day_of, date.fromisoformat)
