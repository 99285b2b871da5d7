# SPDX-License-Identifier: Apache-2.0
"""Repayment plans for a book of mortgages, in exact decimal money."""

import random
from decimal import ROUND_HALF_EVEN, Decimal

from common import run

CENT = Decimal("0.01")
TERMS = (120, 180, 240, 300, 360)


def make_book(seed, size):
    rng = random.Random(seed)
    book = []
    for number in range(size):
        book.append(
            {
                "id": "L%05d" % number,
                "principal": Decimal(rng.randrange(40_000, 900_000)),
                "rate": Decimal(rng.randrange(110, 690)) / Decimal(10_000),
                "months": rng.choice(TERMS),
            }
        )
    return book


def plan(loan):
    principal, months = loan["principal"], loan["months"]
    monthly = loan["rate"] / 12
    balance = principal
    rows = []
    for month in range(1, months + 1):
        payment = (principal * monthly / (1 - (1 + monthly) ** -months)).quantize(CENT)
        interest = (balance * monthly).quantize(CENT, ROUND_HALF_EVEN)
        repaid = min(payment - interest, balance)
        balance -= repaid
        rows.append((month, interest, repaid, balance))
    return rows


def plan_fixed(loan):
    principal, months = loan["principal"], loan["months"]
    monthly = loan["rate"] / 12
    balance = principal
    payment = (principal * monthly / (1 - (1 + monthly) ** -months)).quantize(CENT)
    rows = []
    for month in range(1, months + 1):
        interest = (balance * monthly).quantize(CENT, ROUND_HALF_EVEN)
        repaid = min(payment - interest, balance)
        balance -= repaid
        rows.append((month, interest, repaid, balance))
    return rows


def statement(loan, rows):
    lines = ["loan %s over %d months" % (loan["id"], loan["months"])]
    for month, interest, repaid, balance in rows:
        lines.append(f"{month:4d} {interest:>12,.2f} {repaid:>12,.2f} {balance:>14,.2f}")
    return "\n".join(lines)


def yearly_interest(rows):
    years = {}
    for month, interest, _, _ in rows:
        year = (month - 1) // 12
        years[year] = years.get(year, Decimal(0)) + interest
    return years


def one_pass(number, make_plan):
    total = Decimal(0)
    letters = 0
    for loan in make_book(number, 160):
        rows = make_plan(loan)
        letters += len(statement(loan, rows))
        total += max(yearly_interest(rows).values())
    return str(total), letters


if __name__ == "__main__":
    run(one_pass, plan, plan_fixed)
