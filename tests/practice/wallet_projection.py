# SPDX-License-Identifier: Apache-2.0
"""Prepaid wallets: the balances are projected from the journal of events, whose lines are checked and counted on the way."""

import json
import random
import zlib
from collections import Counter
from dataclasses import dataclass

from common import run


@dataclass(frozen=True)
class Event:
    kind: str
    wallet: str
    cents: int
    other: str
    shop: int


class Reducer:
    """Makes the next balances of the ones before and an event."""

    def __init__(self):
        self.refused = Counter()
        self.handlers = {"opened": self.opened, "charged": self.charged, "spent": self.spent, "moved": self.moved}

    def __call__(self, balances, event):
        return self.handlers[event.kind](balances, event)

    def opened(self, balances, event):
        return {**balances, event.wallet: event.cents}

    def charged(self, balances, event):
        return {**balances, event.wallet: balances[event.wallet] + event.cents}

    def spent(self, balances, event):
        left = balances[event.wallet] - event.cents
        if left < 0:
            self.refused[event.shop] += 1
            return balances
        return {**balances, event.wallet: left}

    def moved(self, balances, event):
        moved = min(event.cents, balances[event.wallet])
        return {**balances, event.wallet: balances[event.wallet] - moved, event.other: balances[event.other] + moved}


class ReducerFixed(Reducer):
    def opened(self, balances, event):
        balances[event.wallet] = event.cents
        return balances

    def charged(self, balances, event):
        balances[event.wallet] += event.cents
        return balances

    def spent(self, balances, event):
        if balances[event.wallet] < event.cents:
            self.refused[event.shop] += 1
            return balances
        balances[event.wallet] -= event.cents
        return balances

    def moved(self, balances, event):
        moved = min(event.cents, balances[event.wallet])
        balances[event.wallet] -= moved
        balances[event.other] += moved
        return balances


class Journal:
    """Reads lines, each of which carries the checksum of all before it."""

    def __init__(self, lines):
        self.lines = lines
        self.sum = 0
        self.broken = 0

    def __iter__(self):
        for line in self.lines:
            told, _, text = line.partition(b" ")
            self.sum = zlib.crc32(text, self.sum)
            if int(told, 16) != self.sum:
                self.broken += 1
                self.sum = int(told, 16)
                continue
            yield Event(**json.loads(text))


class Projection:
    def __init__(self, reducer):
        self.reducer = reducer
        self.balances = {}
        self.volume = Counter()
        self.peak = 0

    def follow(self, journal):
        for event in journal:
            self.balances = self.reducer(self.balances, event)
            self.volume[event.kind] += event.cents
            if event.kind == "charged":
                self.peak = max(self.peak, self.balances[event.wallet])


def written(rnd, first, many):
    """The journal's text: first the wallets are opened, then they are used."""
    names = ["w%06x" % code for code in rnd.sample(range(1 << 24), first)]
    total = 0
    for at in range(first + many):
        opening = at < first
        wallet, other = (names[at], "") if opening else rnd.sample(names, 2)
        event = {
            "kind": "opened" if opening else rnd.choice(("charged", "spent", "spent", "spent", "moved")),
            "wallet": wallet,
            "cents": rnd.randint(0, 2_000),
            "other": other,
            "shop": rnd.randint(1, 40),
        }
        text = json.dumps(event).encode()
        total = zlib.crc32(text, total)
        yield b"%08x %b" % (total, text)


def one_pass(number, reducer):
    rnd = random.Random(number)
    journal = Journal(written(rnd, 3_000, 7_000))
    projection = Projection(reducer())
    projection.follow(journal)
    balances = projection.balances
    richest = sorted(balances, key=balances.get)[-5:]
    return len(balances), sum(balances.values()), richest, sorted(projection.volume.items()), projection.peak, journal.broken


if __name__ == "__main__":
    run(one_pass, Reducer, ReducerFixed)
