# SPDX-License-Identifier: Apache-2.0
"""Schedules of repayment for a savings bank's book of loans, to the cent."""

import random
from collections import defaultdict
from decimal import ROUND_HALF_EVEN, Decimal

from common import run

CENT = Decimal("0.01")


def book(seed):
    rnd = random.Random(seed)
    for _ in range(90):
        amount = Decimal(rnd.randrange(400_000, 30_000_000)) / 100
        yearly = Decimal(rnd.randrange(150, 900)) / 10_000
        yield amount, yearly / 12, rnd.randrange(60, 240)


def schedule(amount, rate, term):
    left = amount
    for month in range(1, term + 1):
        due = amount * rate / (1 - (1 + rate) ** -term)
        interest = (left * rate).quantize(CENT, ROUND_HALF_EVEN)
        repaid = min((due - interest).quantize(CENT, ROUND_HALF_EVEN), left)
        left -= repaid
        yield month, interest, repaid, left


def schedule_fixed(amount, rate, term):
    left = amount
    due = amount * rate / (1 - (1 + rate) ** -term)
    for month in range(1, term + 1):
        interest = (left * rate).quantize(CENT, ROUND_HALF_EVEN)
        repaid = min((due - interest).quantize(CENT, ROUND_HALF_EVEN), left)
        left -= repaid
        yield month, interest, repaid, left


def one_pass(number, step):
    by_year = defaultdict(Decimal)
    rests = Decimal(0)
    longest = ""
    for amount, rate, term in book(number):
        left = amount
        for month, interest, repaid, left in step(amount, rate, term):
            by_year[(month - 1) // 12] += interest
            line = f"{month:>4}{interest:>14,}{repaid:>14,}{left:>16,}"
            if len(line) > len(longest):
                longest = line
        rests += left
    return [str(by_year[year]) for year in sorted(by_year)], str(rests), longest


if __name__ == "__main__":
    run(one_pass, schedule, schedule_fixed)
