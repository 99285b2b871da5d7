# SPDX-License-Identifier: Apache-2.0
"""The activity left in the vials of a hospital's radiopharmacy, to the becquerel."""

import hashlib
import random
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from functools import lru_cache

from common import run

HALF_LIVES = {"Tc-99m": "6.0067", "F-18": "1.8295", "I-131": "192.61", "Lu-177": "159.53", "Ga-68": "1.1285"}
WHOLE = Decimal(1)
MICROLITRE = Decimal("0.001")
ISOTOPES = list(HALF_LIVES)


@dataclass(frozen=True)
class Vial:
    serial: str
    isotope: str
    made: int
    activity: Decimal


def make_stock(rng, count):
    for n in range(count):
        isotope = rng.choice(ISOTOPES)
        yield Vial("%s/%05d" % (isotope, n), isotope, rng.randrange(12), Decimal(rng.randrange(10**11, 10**12)) / 7)


def remaining(half_life, hours):
    """The share that is left."""
    return Decimal(2) ** (-hours / half_life)


def reading(vial, hour, half_lives, share):
    left = vial.activity * share(half_lives[vial.isotope], hour - vial.made)
    return left.quantize(WHOLE, ROUND_HALF_EVEN)


def dose(left, asked):
    volume = (asked / left * 10).quantize(MICROLITRE)
    return volume if volume <= 10 else None


def round_of_doses(rng, stock, hour, half_lives, share):
    given, lines = Decimal(0), []
    for vial in stock:
        left = reading(vial, hour, half_lives, share)
        for bed in range(rng.randrange(12, 30)):
            asked = Decimal(rng.randrange(50, 900)) * 10**6
            if left <= asked:
                break
            volume = dose(left, asked)
            if volume is None:
                continue
            given += asked
            left -= asked
            line = "%s %d %s ml of %s Bq, %s left" % (vial.serial, bed, volume, format(asked, ","), format(left, ","))
            lines.append(line + " " + hashlib.sha256(line.encode()).hexdigest()[:8])
    return given, lines


def one_pass(number, make_share):
    rng = random.Random(number)
    with localcontext() as context:
        context.prec = 16
        share = make_share()
        half_lives = {name: Decimal(text) + Decimal(rng.randrange(99)) / 10**6 for name, text in HALF_LIVES.items()}
        stock = list(make_stock(rng, 250))
        totals = []
        for hour in range(12, 20, 2):
            given, lines = round_of_doses(rng, stock, hour, half_lives, share)
            totals.append([str(given), len(lines), lines[-1] if lines else ""])
    return totals


if __name__ == "__main__":
    run(one_pass, lambda: remaining, lambda: lru_cache(maxsize=None)(remaining))
