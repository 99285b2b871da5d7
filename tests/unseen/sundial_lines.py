# SPDX-License-Identifier: Apache-2.0
"""Hour lines of a sundial to thirty digits, for a mason who cuts them with a machine that wants them so."""

import random
from decimal import Decimal, getcontext

from runner import run

getcontext().prec = 34
QUARTERS = 48
TINY = Decimal("1e-35")
UPRIGHT = Decimal("0.001")


def pi():
    """The constant to the current precision."""
    getcontext().prec += 2
    three = Decimal(3)
    last, term, total, n, na, d, da = 0, three, 3, 1, 0, 0, 24
    while total != last:
        last = total
        n, na = n + na, na + 8
        d, da = d + da, da + 32
        term = (term * n) / d
        total += term
    getcontext().prec -= 2
    return +total


def cosine_and_sine(angle):
    getcontext().prec += 2
    term, power = Decimal(1), 0
    sums = [Decimal(0), Decimal(0)]
    while abs(term) > TINY:
        sums[power % 2] += term if power % 4 < 2 else -term
        power += 1
        term *= angle / power
    getcontext().prec -= 2
    return +sums[0], +sums[1]


class Dial:
    def __init__(self, latitude, longitude, zone):
        self.style = cosine_and_sine(self.radians(latitude))[1]
        self.shift = longitude - 15 * zone

    def radians(self, degrees):
        return degrees * pi() / 180

    def line(self, quarter):
        """Slope of the shadow on a level plate at a quarter of an hour after six."""
        hour_angle = Decimal(15 * quarter) / 4 - 90 + self.shift
        cosine, sine = cosine_and_sine(self.radians(hour_angle))
        return self.style * sine / cosine if abs(cosine) > UPRIGHT else None


class DialFixed(Dial):
    def __init__(self, latitude, longitude, zone):
        self.half_turn = pi()
        super().__init__(latitude, longitude, zone)

    def radians(self, degrees):
        return degrees * self.half_turn / 180


def cut(dial, radius):
    """Where each line meets the rim of the plate's square."""
    ends = []
    for quarter in range(QUARTERS + 1):
        slope = dial.line(quarter)
        if slope is None:
            continue
        over, up = (radius * slope, radius) if abs(slope) < 1 else (radius, radius / slope)
        ends.append((quarter, over, up))
    return ends


def one_pass(number, step):
    rnd = random.Random(number)
    plates = []
    for _ in range(2):
        latitude, longitude = Decimal(rnd.randrange(35000, 62000)) / 1000, Decimal(rnd.randrange(-9000, 28000)) / 1000
        dial = step(latitude, longitude, int(longitude // 15))
        ends = cut(dial, Decimal(rnd.randrange(120, 480)))
        plates.append((len(ends), str(ends[9][1]), sum(up for _, _, up in ends)))
    return plates


if __name__ == "__main__":
    run(one_pass, Dial, DialFixed)
