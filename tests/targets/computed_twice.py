# SPDX-License-Identifier: Apache-2.0
"""What was there already: a record read twice, and a buffer copied to drop its head.

The data are others in each round. With --fixed each record is read once, and the buffer stays.
"""
import json

import round_runner

COUNTS = [str(count) for count in range(100)]


def counted(texts, fixed):
    found = []
    for text in texts:
        record = json.loads(text)
        if record["kind"] == "void":
            continue
        found.append(sum((record if fixed else json.loads(text))["counts"]))
    return found


class Reader:
    def __init__(self, data):
        self.data = data

    def sums(self):
        total = 0
        while self.data:
            total += self.data[0] + self.data[3]
            self.data = self.data[4:]
        return total

    def sums_in_place(self):
        return sum(self.data[0::4]) + sum(self.data[3::4])


def read(data, fixed):
    return Reader(data).sums_in_place() if fixed else Reader(data).sums()


def compute(rng, fixed, number):
    texts = ['{"kind": "sale", "counts": [%s]}' % ", ".join(rng.choices(COUNTS, k=200)) for _ in range(60)]
    data = rng.getrandbits(8 * 14000).to_bytes(14000, "little")
    for work, given in ((counted, texts), (read, data)):
        # Once: it is the same work.
        if not number and work(given, False) != work(given, True):
            return "other results of %s" % work.__name__
        work(given, fixed)
    return None


round_runner.run("computed_twice", __doc__, compute)
