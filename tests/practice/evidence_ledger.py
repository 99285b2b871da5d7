# SPDX-License-Identifier: Apache-2.0
"""A police store's ledger: every entry closes with the digest of all that stands in the book so far."""

import hashlib
import json
import random

from common import run

PLACES = ["shelf", "safe", "cold room", "court", "laboratory"]


class Ledger:
    def __init__(self):
        self.lines = []
        self.held = {}

    def close(self):
        return hashlib.sha256(b"".join(self.lines)).hexdigest()

    def move(self, item, place, officer, minute):
        before = self.held.get(item, "found")
        self.held[item] = place
        entry = {"item": item, "from": before, "to": place, "by": officer, "at": minute}
        self.lines.append(json.dumps(entry, sort_keys=True).encode() + b"\n")
        return self.close()


class LedgerFixed(Ledger):
    def __init__(self):
        super().__init__()
        self.running = hashlib.sha256()

    def close(self):
        self.running.update(self.lines[-1])
        return self.running.hexdigest()


def check_out(held):
    away = {}
    for item, place in held.items():
        if place in ("court", "laboratory"):
            away.setdefault(place, []).append(item)
    return {place: sorted(items) for place, items in away.items()}


def one_pass(number, step):
    rnd = random.Random(number)
    seals, away = [], []
    for book in range(20):
        ledger = step()
        for minute in range(90):
            item = f"{number}/{book}/{rnd.randrange(90)}"
            seals.append(ledger.move(item, rnd.choice(PLACES), f"officer {rnd.randrange(40)}", minute))
            if minute % 5 == 0:
                away.append(check_out(ledger.held))
    return len(seals), seals[-1], sum(len(items) for report in away for items in report.values())


if __name__ == "__main__":
    run(one_pass, Ledger, LedgerFixed)
