# SPDX-License-Identifier: Apache-2.0
"""An observatory's chronometer cards: from box temperatures the error that each chronometer has gathered at sea."""

import ctypes
import random

import native
from runner import run

CHRONOMETERS = 6
WATCHES = 240

library = ctypes.CDLL(native.build("fieldkit.c"))
library.rate_at.argtypes = [ctypes.POINTER(ctypes.c_double), ctypes.POINTER(ctypes.c_double), ctypes.c_int, ctypes.c_double]
library.rate_at.restype = ctypes.c_double


class Card:
    """Seconds a day that a chronometer gains at the temperatures of its trial."""

    def __init__(self, rnd, name):
        self.name = name
        self.degrees = [float(degree) for degree in range(-4, 42, 2)]
        best = rnd.uniform(15, 22)
        self.gains = [2.2 - 0.006 * (degree - best) ** 2 + rnd.gauss(0, 0.08) for degree in self.degrees]

    def rates(self, temperatures):
        count = len(self.degrees)
        rates = []
        for temperature in temperatures:
            degrees = (ctypes.c_double * count)(*self.degrees)
            gains = (ctypes.c_double * count)(*self.gains)
            rates.append(library.rate_at(degrees, gains, count, temperature))
        return rates


class CardFixed(Card):
    def rates(self, temperatures):
        count = len(self.degrees)
        degrees = (ctypes.c_double * count)(*self.degrees)
        gains = (ctypes.c_double * count)(*self.gains)
        return [library.rate_at(degrees, gains, count, temperature) for temperature in temperatures]


def voyage(rnd):
    """Temperatures of the box by the watch: south through the tropics, with day and night."""
    air = 9.0
    for watch in range(WATCHES):
        air += rnd.gauss(0.11 if watch < WATCHES // 2 else -0.11, 0.35)
        yield round(air + (2.5, 1.0, -1.0, -2.0, -1.0, 0.5)[watch % 6], 1)


def errors(rates, start):
    """The error after each watch of four hours."""
    gathered = start
    for rate in rates:
        gathered += rate / 6
        yield gathered


def page(name, temperatures, rates, start):
    lines = ["%s, error at sailing %+.1f s" % (name, start)]
    last = 0
    for watch, (heat, rate, error) in enumerate(zip(temperatures, rates, errors(rates, start))):
        day, hour = divmod(4 * watch, 24)
        lines.append("%3d  %02dh  %5.1f  %+7.3f  %+9.2f" % (day, hour, heat, rate, error))
        last = error
    miles = abs(last) / 4
    lines.append("%.1f minutes of longitude" % miles)
    return lines


def one_pass(number, step):
    rnd = random.Random(number)
    book = []
    for chronometer in range(CHRONOMETERS):
        card = step(rnd, "No. %d" % (1800 + chronometer))
        temperatures = list(voyage(rnd))
        rates = card.rates(temperatures)
        book.append(page(card.name, temperatures, rates, rnd.uniform(-20, 20)))
    return [(lines[0], lines[-2], lines[-1]) for lines in book]


if __name__ == "__main__":
    run(one_pass, Card, CardFixed)
