# SPDX-License-Identifier: Apache-2.0
"""A ticket office's outbox: orders become events, which are checked, grouped by subscriber and written as lines to a spool."""

import io
import json
import random
import zlib
from collections import Counter

from common import run

SUBSCRIBERS = {"billing": ("paid", "refunded"), "doors": ("paid", "moved"), "mail": ("paid", "moved", "refunded"), "stats": ("paid",)}
KINDS = ["paid", "paid", "paid", "moved", "refunded"]


def orders(rnd, count):
    for number in range(count):
        seats = [{"row": rnd.choice("ABCDEFGH"), "place": rnd.randint(1, 40), "cents": rnd.randint(900, 9_900)} for _ in range(rnd.randint(1, 5))]
        yield {
            "order": "%08x-%d" % (rnd.getrandbits(32), number),
            "kind": rnd.choice(KINDS),
            "show": rnd.randint(1, 60),
            "buyer": {"name": "%c. %s" % (rnd.choice("ABCDEFG"), "".join(rnd.choices("aeionrst", k=7))), "card": "%04d" % rnd.randint(0, 9_999)},
            "seats": seats,
        }


class Spool:
    """What a subscriber fetches: one document a line, each with its checksum."""

    def __init__(self):
        self.out = io.StringIO()
        self.lines = 0

    def write(self, document):
        json.dump(document, self.out)
        self.end_line()

    def end_line(self):
        self.out.write("\n")
        self.lines += 1

    def digest(self):
        return zlib.crc32(self.out.getvalue().encode())


class SpoolFixed(Spool):
    def write(self, document):
        self.out.write(json.dumps(document))
        self.end_line()


class Outbox:
    def __init__(self, spool):
        self.spools = {name: spool() for name in SUBSCRIBERS}
        self.sequence = 0
        self.taken = set()
        self.sums = Counter()
        self.refused = []

    def check(self, order):
        """A seat is sold once a show; refunds give it back."""
        places = [(order["show"], seat["row"], seat["place"]) for seat in order["seats"]]
        if order["kind"] == "refunded":
            self.taken.difference_update(places)
            return True
        if len(set(places)) < len(places) or not self.taken.isdisjoint(places):
            self.refused.append(order["order"])
            return False
        self.taken.update(places)
        return True

    def event(self, order):
        self.sequence += 1
        cents = sum(seat["cents"] for seat in order["seats"])
        tax = cents * 7 // 107
        self.sums[order["kind"]] += cents
        rows = sorted({seat["row"] for seat in order["seats"]})
        return {"sequence": self.sequence, "total": cents, "tax": tax, "rows": "".join(rows), **order}

    def masked(self, event, name):
        if name in ("doors", "stats"):
            return {**event, "buyer": {"name": event["buyer"]["name"], "card": None}}
        return event

    def publish(self, order):
        if not self.check(order):
            return
        event = self.event(order)
        for name, kinds in SUBSCRIBERS.items():
            if event["kind"] in kinds:
                self.spools[name].write(self.masked(event, name))


def one_pass(number, spool):
    outbox = Outbox(spool)
    for order in orders(random.Random(number), 400):
        outbox.publish(order)
    written = {name: (spool.lines, spool.digest()) for name, spool in outbox.spools.items()}
    return sorted(written.items()), sorted(outbox.sums.items()), len(outbox.refused), len(outbox.taken)


if __name__ == "__main__":
    run(one_pass, Spool, SpoolFixed)
