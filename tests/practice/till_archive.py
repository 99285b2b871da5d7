# SPDX-License-Identifier: Apache-2.0
"""Keeps a supermarket's receipts, packed day by day with an index, and answers an auditor's samples out of the packed days."""

import gzip
import hashlib
import io
import json
import random
from collections import Counter

from common import run


class Day:
    """One day's receipts in one packed file, and where each of them begins."""

    def __init__(self, receipts):
        packed = io.BytesIO()
        self.index = {}
        at = 0
        with gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=6, mtime=0) as file:
            for receipt in receipts:
                line = json.dumps(receipt).encode() + b"\n"
                file.write(line)
                self.index[receipt["number"]] = at, len(line)
                at += len(line)
        self.size = packed.tell()
        packed.seek(0)
        self.file = gzip.GzipFile(fileobj=packed)

    def receipt(self, number):
        at, length = self.index[number]
        self.file.seek(at)
        return json.loads(self.file.read(length))

    def sample(self, numbers):
        return [self.receipt(number) for number in numbers]


class OrderedDay(Day):
    def sample(self, numbers):
        found = {number: self.receipt(number) for number in sorted(numbers, key=self.index.get)}
        return [found[number] for number in numbers]


class Audit:
    def __init__(self, kind):
        self.kind = kind
        self.days = {}
        self.findings = Counter()
        self.seal = hashlib.sha256()

    def close_day(self, name, receipts):
        self.days[name] = self.kind(receipts)

    def check(self, receipt):
        total = sum(row["cents"] * row["pieces"] for row in receipt["rows"])
        if total != receipt["total"]:
            self.findings["wrong total"] += 1
        if any(row["cents"] <= 0 for row in receipt["rows"]):
            self.findings["no price"] += 1
        if receipt["paid"] == "cash" and receipt["total"] > 10_000:
            self.findings["much cash"] += 1
        self.findings["till %d" % receipt["till"]] += total

    def look_into(self, name, numbers):
        for receipt in self.days[name].sample(numbers):
            self.check(receipt)
            self.seal.update(b"%d:%d;" % (receipt["number"], receipt["total"]))


def receipts(rnd, day, many):
    for serial in range(many):
        rows = [
            {"article": "A%05d" % rnd.randrange(3_000), "cents": rnd.randint(0, 2_999), "pieces": rnd.randint(1, 4)}
            for _ in range(rnd.randint(1, 12))
        ]
        total = sum(row["cents"] * row["pieces"] for row in rows) + (rnd.random() < 0.02)
        yield {"number": day * 100_000 + serial, "till": rnd.randint(1, 8), "paid": rnd.choice(("cash", "card")),
               "total": total, "rows": rows}  # fmt: skip


def one_pass(number, kind):
    rnd = random.Random(number)
    audit = Audit(kind)
    for day in range(2):
        audit.close_day(day, receipts(rnd, day, 350))
    for day in range(2):
        asked = rnd.sample(list(audit.days[day].index), 70)
        audit.look_into(day, asked)
    sizes = [day.size for day in audit.days.values()]
    return audit.seal.hexdigest(), sorted(audit.findings.items()), sizes


if __name__ == "__main__":
    run(one_pass, Day, OrderedDay)
