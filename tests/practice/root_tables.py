# SPDX-License-Identifier: Apache-2.0
"""Prints a table of roots to sixty places, by Newton's steps, as a computing room would have."""

import random
from decimal import Decimal, localcontext

from common import run


def root(value, power, guess):
    """The root next to the guess, to the context's precision."""
    left = Decimal(0)
    steps = 0
    while abs(guess - left) > abs(guess).scaleb(-58) and steps < 60:
        left = guess
        slope = left ** (power - 1)
        guess = left - (left * slope - value) / (power * slope)
        steps += 1
    return guess, steps


def one_pass(number, step):
    rnd = random.Random(number)
    start = rnd.randrange(10**6)
    lines, steps = [], 0
    with localcontext() as context:
        context.prec = 64
        for at in range(160):
            value = Decimal(start + 7 * at) / Decimal(rnd.randrange(100, 10_000))
            row = []
            for power in (2, 3, 5):
                found, took = root(value, power, Decimal(float(value) ** (1 / power)))
                steps += took
                row.append(f"{found:.60f}")
            if at % 10 == 0:
                lines.append("-" * 190)
            lines.append("  ".join(row))
    return steps, len(lines), lines[-1]


if __name__ == "__main__":
    run(one_pass)
