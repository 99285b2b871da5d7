# SPDX-License-Identifier: Apache-2.0
"""Pushes the moves of an auction's prices to its watchers: each has a packed stream of its own, whose dictionary goes on from message to message."""

import json
import random
import struct
import zlib
from collections import Counter, deque

from common import run

LOTS = 30


class Watcher:
    """One end of a socket: what is packed depends on all that this watcher has been sent before."""

    def __init__(self, name, lots):
        self.name, self.lots = name, lots
        self.packer = zlib.compressobj(6, zlib.DEFLATED, -12)
        self.waiting = deque()
        self.sent = 0
        self.check = 1

    def push(self, text):
        packed = self.packer.compress(text) + self.packer.flush(zlib.Z_SYNC_FLUSH)
        self.waiting.append(self.frame(packed[:-4]))

    def frame(self, payload):
        size = len(payload)
        head = struct.pack(">BB", 0xC1, size) if size < 126 else struct.pack(">BBH", 0xC1, 126, size)
        return head + payload

    def drain(self, most):
        """Gives the network as many whole frames as it takes."""
        while self.waiting and most >= len(self.waiting[0]):
            frame = self.waiting.popleft()
            most -= len(frame)
            self.sent += len(frame)
            self.check = zlib.adler32(frame, self.check)


class Room:
    def __init__(self):
        self.watchers = {}
        self.by_lot = {lot: [] for lot in range(LOTS)}
        self.prices = {lot: 1_000 for lot in range(LOTS)}
        self.bids = Counter()

    def enter(self, watcher):
        self.watchers[watcher.name] = watcher
        for lot in watcher.lots:
            self.by_lot[lot].append(watcher)
        told = {"kind": "welcome", "prices": {str(lot): self.prices[lot] for lot in watcher.lots}}
        watcher.push(json.dumps(told).encode())

    def leave(self, name):
        watcher = self.watchers.pop(name)
        for lot in watcher.lots:
            self.by_lot[lot].remove(watcher)
        return watcher

    def bid(self, lot, bidder, more, at):
        self.prices[lot] += more
        self.bids[bidder] += 1
        told = {"kind": "bid", "lot": lot, "by": bidder, "cents": self.prices[lot], "at": at}
        text = json.dumps(told).encode()
        for watcher in self.by_lot[lot]:
            watcher.push(text)

    def ping(self):
        for watcher in self.watchers.values():
            watcher.push(b'{"kind": "ping"}')


def one_pass(number, _):
    rnd = random.Random(number)
    room, gone = Room(), []
    for at in range(400):
        if at % 10 == 0:
            room.enter(Watcher("w%d" % at, rnd.sample(range(LOTS), rnd.randint(2, 12))))
        if at % 50 == 49:
            gone.append(room.leave(rnd.choice(list(room.watchers))))
        if at % 80 == 79:
            room.ping()
        room.bid(rnd.randrange(LOTS), "b%02d" % rnd.randrange(25), rnd.randint(1, 40) * 50, at * 37)
        for watcher in rnd.sample(list(room.watchers.values()), min(4, len(room.watchers))):
            watcher.drain(rnd.randint(100, 900))
    everybody = gone + list(room.watchers.values())
    return [(one.name, one.sent, one.check, len(one.waiting)) for one in everybody], sorted(room.bids.items())


if __name__ == "__main__":
    run(one_pass)
