# SPDX-License-Identifier: Apache-2.0
"""A customs office: declarations come in by several lanes, duty is put on each line, a clerk books the day."""

import asyncio
import json
import random
from decimal import ROUND_HALF_UP, Decimal

from common import run

CENT, MIL = Decimal("0.01"), Decimal("0.0001")
LEFT, FREIGHT = Decimal("0.98"), Decimal("0.35")  # of a rate after half a year; euros a kilo
CODES = {"0406": "8.5", "1806": "12.3", "4202": "5.2", "6403": "16.9", "8712": "14.0", "9403": "5.6"}
ORIGINS = {"NO": 1994, "CH": 1992, "MA": 2000, "VN": 2011}
LANES = 5


def make_declarations(rng, count):
    for number in range(count):
        lines = [
            {
                "code": rng.choice(list(CODES)),
                "origin": rng.choice(list(ORIGINS)),
                "value": "%.2f" % rng.lognormvariate(6, 1.2),
                "kilos": rng.randrange(1, 900),
                "packages": ["P%06d" % rng.randrange(10**6) for _ in range(rng.randrange(1, 4))],
            }
            for _ in range(rng.randrange(1, 5))
        ]
        yield json.dumps({"number": number, "trader": "T%04d" % rng.randrange(250), "lines": lines})


async def duty_rate(code, origin, year):
    """In per cent: what a treaty leaves of the full rate, half-year by half-year, each step rounded."""
    rate = Decimal(CODES[code])
    for _ in range(2 * (year - ORIGINS[origin])):
        rate = (rate * LEFT).quantize(MIL, ROUND_HALF_UP)
    return rate.quantize(CENT, ROUND_HALF_UP)


def kept(rate_of):
    known = {}

    async def asked(*question):
        if question not in known:
            known[question] = await rate_of(*question)
        return known[question]

    return asked


class Office:
    def __init__(self, rate_of, year):
        self.rate_of = rate_of
        self.year = year
        self.accounts = {}
        self.book = []

    async def assess(self, declaration):
        due = Decimal(0)
        for line in declaration["lines"]:
            rate = await self.rate_of(line["code"], line["origin"], self.year)
            value = Decimal(line["value"]) + line["kilos"] * FREIGHT
            due += (value * rate / 100).quantize(CENT, ROUND_HALF_UP)
        return due

    async def lane(self, waiting):
        while True:
            text = await waiting.get()
            if text is None:
                return
            declaration = json.loads(text)
            due = await self.assess(declaration)
            trader = declaration["trader"]
            self.accounts[trader] = self.accounts.get(trader, Decimal(0)) + due
            packages = sorted(name for line in declaration["lines"] for name in line["packages"])
            self.book.append((declaration["number"], str(due), "/".join(packages)))
            await asyncio.sleep(0)

    async def day(self, declarations):
        waiting = asyncio.Queue(maxsize=40)
        lanes = [asyncio.create_task(self.lane(waiting)) for _ in range(LANES)]
        for text in declarations:
            await waiting.put(text)
        for _ in lanes:
            await waiting.put(None)
        await asyncio.gather(*lanes)
        return sorted(self.book)


def one_pass(number, make_rate):
    office = Office(make_rate(), 2019 + number % 9)
    book = asyncio.run(office.day(make_declarations(random.Random(number), 700)))
    return [len(book), book[-3:], str(sum(office.accounts.values())), len(office.accounts)]


if __name__ == "__main__":
    run(one_pass, lambda: duty_rate, lambda: kept(duty_rate))
