# SPDX-License-Identifier: Apache-2.0
"""A pawnshop's loans by the month: interest is rounded to the penny each month, payments come in or not, pledges fall due."""

import random
from collections import defaultdict
from decimal import ROUND_HALF_EVEN, Decimal

from common import run

PENNY = Decimal("0.01")
RATES = {"gold": Decimal("0.0195"), "tools": Decimal("0.0385"), "music": Decimal("0.0310")}
FEE = Decimal("4.50")


class Pledge:
    def __init__(self, number, kind, lent):
        self.number = number
        self.kind = kind
        self.balance = self.lent = lent
        self.interest = Decimal(0)
        self.missed = 0

    def accrue(self):
        grown = (self.balance * RATES[self.kind]).quantize(PENNY, ROUND_HALF_EVEN)
        self.balance += grown
        self.interest += grown
        return grown

    def pay(self, share):
        """A part of what is owed; a month without a payment costs a fee."""
        if not share:
            self.missed += 1
            self.balance += FEE
            return Decimal(0)
        paid = min(self.balance, (self.balance * share / 100).quantize(PENNY))
        self.balance -= paid
        self.missed = 0
        return paid


class Shop:
    def __init__(self):
        self.shelf = []
        self.sold = []
        self.taken = defaultdict(Decimal)
        self.earned = Decimal(0)

    def month(self, rnd, month):
        kept = []
        for pledge in self.shelf:
            self.earned += pledge.accrue()
            self.taken[month % 12] += pledge.pay(rnd.choice((0, 0, 5, 20, 35, 100)))
            if pledge.missed == 3:
                self.sold.append((pledge.number, pledge.balance - pledge.lent))
            elif pledge.balance:
                kept.append(pledge)
        self.shelf = kept


def one_pass(number, _):
    rnd = random.Random(number)
    shop = Shop()
    serial = 0
    for month in range(36):
        for _ in range(rnd.randint(30, 50)):
            lent = Decimal(rnd.randrange(2_000, 90_000)) / 100
            shop.shelf.append(Pledge(serial, rnd.choice(list(RATES)), lent))
            serial += 1
        shop.month(rnd, month)
    owed = sum((pledge.balance for pledge in shop.shelf), Decimal(0))
    return str(owed), str(shop.earned), len(shop.sold), [str(value) for _, value in sorted(shop.taken.items())]


if __name__ == "__main__":
    run(one_pass, None)
