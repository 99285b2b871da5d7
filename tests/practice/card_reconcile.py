# SPDX-License-Identifier: Apache-2.0
"""A shop's card payments against the bank's statement: matched by reference, then by sum and day, and what is left over is listed."""

import csv
import io
import random
from collections import defaultdict, deque
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import ROUND_HALF_EVEN, Decimal

from common import run

CENT, LEAST = Decimal("0.01"), Decimal("0.05")
FEES = {"V": Decimal("0.0145"), "M": Decimal("0.0165"), "A": Decimal("0.0280")}
LATE = timedelta(days=4)


@dataclass(slots=True)
class Payment:
    reference: str
    day: date
    scheme: str
    gross: Decimal
    net: Decimal = field(init=False)

    def __post_init__(self):
        fee = (self.gross * FEES[self.scheme]).quantize(CENT, ROUND_HALF_EVEN)
        self.net = self.gross - max(fee, LEAST)


@dataclass(slots=True)
class Booking:
    day: date
    amount: Decimal
    text: str
    reference: str | None


def till(rnd, first, count):
    for number in range(count):
        gross = Decimal(rnd.randint(150, 60_000)) * CENT
        yield Payment("R%07d" % rnd.randrange(10**7), first + timedelta(days=number * 28 // count), rnd.choice("VVVMMA"), gross)


def statement(rnd, payments):
    """The bank's file: most payments, some days late, a few without their reference, sums turned around by storno."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=";")
    writer.writerow(("booked", "amount", "text"))
    for payment in payments:
        draw = rnd.random()
        if draw < 0.02:
            continue
        day = payment.day + timedelta(days=rnd.choice((1, 1, 2, 3)))
        text = "CARD %s %s" % (payment.scheme, payment.reference if draw < 0.9 else "COLLECTIVE")
        writer.writerow((day.isoformat(), str(payment.net).replace(".", ","), text))
        if draw < 0.03:
            writer.writerow((day.isoformat(), "%d,%02d" % (rnd.randrange(900), rnd.randrange(100)), "TRANSFER %d" % rnd.randrange(10**6)))
        if draw > 0.985:
            writer.writerow((day.isoformat(), str(-payment.net).replace(".", ","), "STORNO " + text))
    return out.getvalue()


def bookings(text):
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=";")
    next(rows)
    for booked, amount, words in rows:
        last = words.rsplit(" ", 1)[1]
        yield Booking(date.fromisoformat(booked), Decimal(amount.replace(",", ".")), words, last if last.startswith("R") else None)


class Reconciliation:
    def __init__(self, payments):
        self.open = {payment.reference: payment for payment in payments}
        self.by_sum = defaultdict(deque)
        for payment in payments:
            self.by_sum[payment.net].append(payment)
        self.matched = []
        self.left = []
        self.storno = Decimal(0)

    def settle(self, booking, payment):
        del self.open[payment.reference]
        self.matched.append((payment, (booking.day - payment.day).days))

    def by_amount(self, booking):
        """The oldest payment of this sum that is not settled and lies within the days allowed."""
        waiting = self.by_sum.get(booking.amount, ())
        while waiting and waiting[0].reference not in self.open:
            waiting.popleft()
        if waiting and timedelta(0) <= booking.day - waiting[0].day <= LATE:
            return waiting.popleft()
        return None

    def book(self, booking):
        if booking.amount < 0:
            self.storno += booking.amount
            return
        payment = self.open.get(booking.reference) if booking.reference else self.by_amount(booking)
        if payment is None:
            self.left.append(booking)
        else:
            self.settle(booking, payment)

    def report(self):
        waits = defaultdict(int)
        fees = defaultdict(Decimal)
        for payment, days in self.matched:
            waits[days] += 1
            fees[payment.scheme] += payment.gross - payment.net
        missing = sum((payment.gross for payment in self.open.values()), Decimal(0))
        return dict(sorted(waits.items())), {scheme: str(fee) for scheme, fee in sorted(fees.items())}, str(missing), str(self.storno), len(self.left)


def one_pass(number, step):
    rnd = random.Random(number)
    payments = list(till(rnd, date(2022, 1, 1) + timedelta(days=number % 600), 1_500))
    reconciliation = Reconciliation(payments)
    for booking in bookings(statement(rnd, payments)):
        reconciliation.book(booking)
    return reconciliation.report()


if __name__ == "__main__":
    run(one_pass)
