# SPDX-License-Identifier: Apache-2.0
"""A village savings bank's year end: interest on every deposit for its term, to the penny, and the book of it."""

import random
from collections import defaultdict
from decimal import ROUND_HALF_EVEN, Decimal, localcontext

from runner import run

DEPOSITS = 1100
TERMS = (30, 61, 91, 122, 182, 274, 365, 730)
CENT = Decimal("0.01")
YEAR = Decimal(365)


class Bank:
    def __init__(self, rnd):
        self.rates = {kind: Decimal(rnd.randrange(110, 480)) / 10_000 for kind in ("child", "member", "guild", "church")}
        self.paid = defaultdict(Decimal)
        self.book = []

    def growth(self, rate, days):
        """What one pound becomes."""
        return (1 + rate) ** (days / YEAR)

    def interest(self, amount, kind, days):
        return (amount * self.growth(self.rates[kind], days) - amount).quantize(CENT, ROUND_HALF_EVEN)

    def enter(self, name, kind, amount, days):
        earned = self.interest(amount, kind, days)
        tax = (earned / 5).quantize(CENT, ROUND_HALF_EVEN) if kind != "church" else Decimal(0)
        self.paid[kind] += earned - tax
        self.book.append("%-12s %-7s %12s %4d %10s %9s" % (name, kind, amount, days, earned, tax))

    def balance(self):
        total = sum(self.paid.values(), Decimal(0))
        shares = {kind: (100 * paid / total).quantize(CENT) for kind, paid in sorted(self.paid.items())}
        return str(total), {kind: str(share) for kind, share in shares.items()}


class BankFixed(Bank):
    def __init__(self, rnd):
        super().__init__(rnd)
        self.known = {}

    def growth(self, rate, days):
        if (rate, days) not in self.known:
            self.known[rate, days] = super().growth(rate, days)
        return self.known[rate, days]


def deposits(rnd):
    for number in range(DEPOSITS):
        kind = rnd.choice(("child", "member", "member", "guild", "church"))
        yield "book %05d" % number, kind, Decimal(rnd.randrange(500, 900_000)) / 100, rnd.choice(TERMS)


def one_pass(number, step):
    rnd = random.Random(number)
    with localcontext() as context:
        context.prec = 24
        bank = step(rnd)
        for deposit in deposits(rnd):
            bank.enter(*deposit)
        return bank.balance(), bank.book[:3], bank.book[-1]


if __name__ == "__main__":
    run(one_pass, Bank, BankFixed)
