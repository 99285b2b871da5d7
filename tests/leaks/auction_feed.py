# SPDX-License-Identifier: Apache-2.0
"""An auction house's live feed: bidders connect, follow a few lots, bid, and go; their last bids are kept in a ledger."""
import random
import weakref

import service

LOTS = ["lot %03d" % number for number in range(80)]


class Ledger:
    def __init__(self):
        self.highest = dict.fromkeys(LOTS, 0)
        self.closed = 0

    def bid(self, lot, amount):
        if amount > self.highest[lot]:
            self.highest[lot] = amount
            return True
        return False


class Follower:
    """A bidder's connection. When it goes away, the ledger is told so."""

    def __init__(self, ledger, paddle, lots):
        self.ledger = ledger
        self.paddle = paddle
        self.lots = lots
        self.screen = {lot: [] for lot in lots}
        self.outbox = bytearray()
        weakref.finalize(self, self.hang_up)

    def show(self, lot, amount):
        self.screen[lot].append(amount)
        self.outbox += ("%s: %s is at %d\n" % (self.paddle, lot, amount)).encode()

    def bid(self, rng):
        lot = rng.choice(self.lots)
        amount = self.ledger.highest[lot] + rng.randrange(-20, 60)
        if self.ledger.bid(lot, amount):
            self.show(lot, amount)

    def hang_up(self):
        self.ledger.closed += 1
        self.outbox.clear()


def visit(ledger, paddle, rng):
    """One bidder from coming to going."""
    follower = Follower(ledger, "paddle %d" % paddle, rng.sample(LOTS, 12))
    for lot in follower.lots:
        for before in range(20):
            follower.show(lot, ledger.highest[lot] - before)
    for _ in range(25):
        follower.bid(rng)
    return len(follower.outbox)


def main():
    rng = random.Random(53)
    ledger = Ledger()
    sent = 0
    for number in service.rounds(per_second=120):
        sent += visit(ledger, number, rng)
    print("sent %d bytes, highest %d" % (sent, max(ledger.highest.values())))


if __name__ == "__main__":
    main()
