# SPDX-License-Identifier: Apache-2.0
"""Amounts in many currencies, each turned into euros."""
import json
import random

from rounds import rounds

RATES = json.dumps({"base": "EUR", "rates": {chr(65 + a) + chr(65 + b) + "X": 0.5 + a / 7 + b / 31
                                             for a in range(12) for b in range(12)}})


def in_euros(amount, currency):
    rates = json.loads(RATES)["rates"]
    return amount / rates[currency]


def payments(number):
    rng = random.Random(number)
    return [(rng.uniform(1, 500), chr(65 + rng.randrange(12)) + chr(65 + rng.randrange(12)) + "X")
            for _ in range(500)]


if __name__ == "__main__":
    for number in rounds():
        total = sum(in_euros(amount, currency) for amount, currency in payments(number))
