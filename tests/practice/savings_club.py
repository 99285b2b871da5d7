# SPDX-License-Identifier: Apache-2.0
"""A savings club's books: accounts in Decimal, with monthly interest and a statement each quarter."""

import random
from decimal import ROUND_DOWN, Decimal

from common import run

CENT = Decimal("0.01")
FEE = Decimal("1.20")


class Account:
    __slots__ = ("owner", "balance", "accrued", "postings", "fees")

    def __init__(self, owner, balance):
        self.owner = owner
        self.balance = balance
        self.accrued = Decimal(0)
        self.postings = 0
        self.fees = Decimal(0)

    def post(self, amount):
        self.balance += amount
        self.postings += 1

    def add_interest(self, rates):
        rate = next(rate for floor, rate in rates if self.balance >= floor)
        self.accrued += self.balance * rate / 12
        whole = self.accrued.quantize(CENT, ROUND_DOWN)
        self.accrued -= whole
        self.post(whole)

    def charge(self, fee):
        taken = min(fee, self.balance)
        self.fees += taken
        self.post(-taken)


class Club:
    def __init__(self, accounts, rates):
        self.accounts = accounts
        self.rates = rates
        self.rows = []

    def total(self):
        return sum((account.balance for account in self.accounts.values()), Decimal(0))

    def month_end(self):
        for account in self.accounts.values():
            account.add_interest(self.rates)
            if account.postings > 30:
                account.charge(FEE)

    def statement(self, month):
        poorest = min(self.accounts.values(), key=lambda account: (account.balance, account.owner))
        self.rows.append("%02d %s %s" % (month, self.total(), poorest.owner))


def transfers(rng, club, count):
    names = list(club.accounts)
    for _ in range(count):
        payer, payee = rng.sample(names, 2)
        amount = Decimal(rng.randrange(1, 20_000)) / 100
        if club.accounts[payer].balance < amount:
            continue
        club.accounts[payer].post(-amount)
        club.accounts[payee].post(amount)


def one_pass(number, _):
    rng = random.Random(number)
    accounts = {
        "member-%03d" % n: Account("member-%03d" % n, Decimal(rng.randrange(10**4, 10**6)) / 100) for n in range(250)
    }
    base = Decimal(rng.randrange(10, 30)) / 1000
    club = Club(accounts, [(Decimal(5000), base + CENT), (Decimal(500), base), (Decimal(-1), base / 2)])
    for month in range(24):
        transfers(rng, club, 300)
        club.month_end()
        if month % 3 == 2:
            club.statement(month)
    return [club.rows[-1], str(sum(account.fees for account in accounts.values()))]


if __name__ == "__main__":
    run(one_pass)
