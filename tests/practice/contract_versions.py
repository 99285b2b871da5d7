# SPDX-License-Identifier: Apache-2.0
"""Supply contracts and their amendments: every version is sealed, stays readable as at a day, and is what deliveries are paid by."""

import bisect
import hashlib
import json
import random
from collections import Counter

from common import run

ARTICLES = ["%s %d" % (name, size) for name in ("beam", "board", "bolt", "clamp", "hinge", "panel", "pipe", "plate", "sheet", "strut") for size in range(1, 11)]


class Contract:
    """Versions are only added; readers hold on to the ones they were given."""

    def __init__(self, number, terms):
        self.number = number
        self.days = [0]
        self.versions = [terms]
        self.seals = [self.seal(terms, "%d" % number)]

    def seal(self, terms, before):
        text = json.dumps({"before": before, "terms": terms}, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def amend(self, day, changes, dropped):
        terms = {**self.versions[-1], **changes}
        for name in dropped:
            terms.pop(name, None)
        self.days.append(day)
        self.versions.append(terms)
        self.seals.append(self.seal(terms, self.seals[-1]))

    @property
    def terms(self):
        return self.versions[-1]

    def as_at(self, day):
        return self.versions[bisect.bisect_right(self.days, day) - 1]


class Register:
    def __init__(self):
        self.contracts = {}
        self.unpriced = Counter()

    def sign(self, number, terms):
        self.contracts[number] = Contract(number, terms)

    def owed(self, number, day, delivery):
        """By the terms of the day on which it was ordered."""
        terms = self.contracts[number].as_at(day)
        total = 0
        for article, pieces in delivery:
            if article in terms:
                total += terms[article] * pieces
            else:
                self.unpriced[article] += 1
        return total

    def compare(self, number, first, last):
        """What an auditor sees of two days: the articles whose price isn't the same."""
        old, new = self.contracts[number].as_at(first), self.contracts[number].as_at(last)
        return dict(old.items() ^ new.items())


def prices(rnd, many):
    return {article: rnd.randint(100, 90_000) for article in rnd.sample(ARTICLES, many)}


def amendment(rnd, terms):
    changes = prices(rnd, rnd.randint(1, 6))
    dropped = rnd.sample(list(terms), 1) if rnd.random() < 0.3 else []
    return changes, [name for name in dropped if name not in changes]


def one_pass(number, _):
    rnd = random.Random(number)
    register = Register()
    for contract in range(30):
        register.sign(contract, prices(rnd, 80))
    for day in range(1, 801):
        contract = register.contracts[rnd.randrange(30)]
        contract.amend(day, *amendment(rnd, contract.terms))
    owed = 0
    for _ in range(1_500):
        delivery = [(rnd.choice(ARTICLES), rnd.randint(1, 99)) for _ in range(rnd.randint(1, 9))]
        owed += register.owed(rnd.randrange(30), rnd.randint(0, 800), delivery)
    changed = sum(len(register.compare(rnd.randrange(30), *sorted(rnd.sample(range(800), 2)))) for _ in range(200))
    seals = hashlib.sha256("".join(contract.seals[-1] for contract in register.contracts.values()).encode())
    return seals.hexdigest(), owed, changed, sum(register.unpriced.values())


if __name__ == "__main__":
    run(one_pass)
