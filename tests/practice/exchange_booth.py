# SPDX-License-Identifier: Apache-2.0
"""A bureau de change: rates move with every deal in the market, and the board is worked out from them each time."""

import bisect
import random
import zlib

from common import run

CURRENCIES = ["CHF", "CZK", "DKK", "GBP", "HUF", "NOK", "PLN", "SEK", "TRY", "USD"]
STEPS = [0, 100, 500, 2_000, 10_000]
RATES = {}
SPREAD = [0.05, 0.04, 0.03, 0.022, 0.018]


def open_market(rng):
    RATES.clear()
    for name in CURRENCIES:
        RATES[name] = rng.uniform(0.02, 1.3)
    SPREAD[:] = [0.05, 0.04, 0.03, 0.022, 0.018]


def trade(rng):
    """Others deal: the euro moves against all, one of them by more, and sometimes the spreads."""
    euro = 1 + rng.gauss(0, 0.001)
    for name in RATES:
        RATES[name] *= euro
    name = rng.choice(CURRENCIES)
    RATES[name] *= 1 + rng.gauss(0, 0.002)
    if rng.random() < 0.3:
        step = rng.randrange(len(SPREAD))
        SPREAD[step] = min(max(SPREAD[step] + rng.gauss(0, 0.001), 0.01), 0.07)
    return name


def board():
    """Buying and selling rates by size of the deal, as they stand now."""
    table = {}
    for name, rate in RATES.items():
        table[name] = [(round(rate * (1 - part), 5), round(rate * (1 + part), 5)) for part in SPREAD]
    return table


def tightest():
    return min(SPREAD) + 0.0004 * sum(rate > 0.5 for rate in RATES.values())


class Booth:
    def __init__(self):
        self.till = dict.fromkeys(CURRENCIES, 20_000.0)
        self.euros = 100_000.0
        self.slips = []
        self.refused = 0

    def deal(self, name, amount, buys):
        now = board()
        shown = zlib.crc32(repr(now).encode())
        step = bisect.bisect_right(STEPS, amount) - 1
        buy, sell = now[name][step]
        if buys:
            euros = round(amount * sell, 2)
            if self.till[name] < amount:
                self.refused += 1
                return
            self.till[name] -= amount
            self.euros += euros
        else:
            euros = round(amount * buy, 2)
            if self.euros < euros:
                self.refused += 1
                return
            self.till[name] += amount
            self.euros -= euros
        text = "%s %s %.0f = %.2f EUR" % ("sold" if buys else "bought", name, amount, euros)
        self.slips.append("%s, board %08x" % (text, shown))

    def worth(self):
        """All tills at the middle rates, less what the tightest spread would take."""
        return self.euros + sum(self.till[name] * RATES[name] for name in CURRENCIES) * (1 - tightest())


def one_pass(number, _):
    rng = random.Random(number)
    open_market(rng)
    booth = Booth()
    low = high = booth.worth()
    for _ in range(700):
        name = trade(rng)
        if rng.random() < 0.5:
            name = rng.choice(CURRENCIES)
        booth.deal(name, float(rng.randrange(10, 4_000)), rng.random() < 0.5)
        worth = booth.worth()
        low, high = min(low, worth), max(high, worth)
    return [low, high, booth.refused, booth.slips[-2:], tightest()]


if __name__ == "__main__":
    run(one_pass)
