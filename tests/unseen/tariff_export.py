# SPDX-License-Identifier: Apache-2.0
"""Writes a telephone company's call records as signed lines of CSV, through one buffer."""

import csv
import hashlib
import io
import random
from datetime import datetime, timedelta
from decimal import Decimal

from runner import run

FIELDS = ("serial", "from", "to", "began", "lasted", "price", "note")
NOTES = ("", "", "", 'said "busy"', "roaming, partner network", "test")


def calls(seed, count):
    rng = random.Random(seed)
    at = datetime(2024, 1, 1) + timedelta(days=seed % 3_000)
    for i in range(count):
        at += timedelta(seconds=rng.randrange(20))
        lasted = int(rng.expovariate(1 / 180))
        yield {
            "serial": seed * count + i,
            "from": "0%09d" % rng.randrange(10**9),
            "to": "0%09d" % rng.randrange(10**9),
            "began": at.isoformat(),
            "lasted": lasted,
            "price": Decimal(lasted // 60 + 1) * 9 / 100,
            "note": rng.choice(NOTES),
        }


class LineWriter:
    """Gives each record's line as text, so that it can be signed before it is sent."""

    def __init__(self):
        self.buffer = io.StringIO(newline="")
        self.out = csv.DictWriter(self.buffer, FIELDS)

    def take(self):
        line = self.buffer.getvalue()
        self.buffer.seek(0)
        self.buffer.truncate(0)
        return line

    def header(self):
        self.out.writeheader()
        return self.take()

    def line(self, record):
        self.out.writerow(record)
        return self.take()


def signed(lines, key):
    chain = hashlib.blake2b(key=key, digest_size=8)
    for line in lines:
        chain.update(line.encode())
        yield "%s#%s\r\n" % (line.rstrip("\r\n"), chain.hexdigest())


def lines(records):
    writer = LineWriter()
    yield writer.header()
    for record in records:
        yield writer.line(record)


def unsigned(stream):
    while line := stream.readline():
        text, _, seal = line.rpartition("#")
        if len(seal.strip()) != 16:
            raise ValueError(line)
        yield text


def total(stream):
    prices = [Decimal(row["price"]) for row in csv.DictReader(unsigned(stream))]
    return sum(prices), len(prices)


def one_pass(number, step):
    sent = io.StringIO(newline="")
    sent.writelines(signed(lines(calls(number, 8_000)), b"key %d" % number))
    size = sent.tell()
    sent.seek(0)
    due, count = total(sent)
    return size, str(due), count


if __name__ == "__main__":
    run(one_pass)
