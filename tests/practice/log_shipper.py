# SPDX-License-Identifier: Apache-2.0
"""Ships a proxy's log: lines are parsed, stamps read once a second, records packed into compressed batches."""

import json
import random
import re
import zlib
from datetime import datetime, timedelta, timezone

from common import run

LINE = re.compile(r'(?P<host>\S+) \[(?P<stamp>[^\]]+)\] "(?P<verb>[A-Z]+) (?P<path>\S+)" (?P<code>\d{3}) (?P<ms>[\d.]+)')
NUMBER = re.compile(r"\d+")
ENCODER = json.JSONEncoder(separators=(",", ":"))
BATCH = 100


class Stamps:
    """Lines come in order, so that one remembered stamp serves all lines of its second."""

    def __init__(self):
        self.text, self.seconds = None, None

    def read(self, text):
        if text != self.text:
            self.text = text
            self.seconds = datetime.strptime(text, "%d/%m/%Y:%H:%M:%S").replace(tzinfo=timezone.utc).timestamp()
        return self.seconds


def traffic(rng, lines):
    now = datetime(2024, 1, 1) + timedelta(seconds=rng.randrange(30_000_000))
    text = now.strftime("%d/%m/%Y:%H:%M:%S")
    for _ in range(lines):
        if rng.random() < 0.02:
            now += timedelta(seconds=rng.randint(1, 4))
            text = now.strftime("%d/%m/%Y:%H:%M:%S")
        host = "10.%d.%d.%d" % (rng.randrange(40), rng.randrange(256), rng.randrange(256))
        path = "/%s/%d?at=%d" % (rng.choice(("item", "cart", "user")), rng.randrange(10**6), rng.randrange(10**7))
        yield '%s [%s] "%s %s" %d %.2f' % (
            host, text, rng.choice(("GET", "GET", "POST")), path, rng.choice((200, 200, 304, 404, 500)), rng.expovariate(0.02)
        )  # fmt: skip


def records(lines, stamps):
    for line in lines:
        found = LINE.match(line)
        host, stamp, verb, path, code, took = found.groups()
        yield {
            "t": stamps.read(stamp),
            "host": host,
            "call": verb + " " + path,
            "shape": NUMBER.sub("#", path),
            "code": int(code),
            "ms": float(took),
        }


class Shipper:
    def __init__(self):
        self.rows, self.sent, self.check = [], 0, 0
        self.slow = {}

    def add(self, record):
        self.rows.append(ENCODER.encode(record))
        key = record["shape"], record["code"]
        self.slow[key] = max(self.slow.get(key, 0.0), record["ms"])
        if len(self.rows) == BATCH:
            self.flush()

    def flush(self):
        packed = zlib.compress("\n".join(self.rows).encode(), 3)
        self.sent += len(packed)
        self.check = zlib.crc32(packed, self.check)
        self.rows.clear()


def one_pass(number, step):
    rng = random.Random(number + 77)
    shipper, stamps = Shipper(), Stamps()
    for record in records(traffic(rng, 2_500), stamps):
        shipper.add(record)
    return shipper.sent, shipper.check, sorted(shipper.slow.items())


if __name__ == "__main__":
    run(one_pass)
