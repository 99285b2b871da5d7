# SPDX-License-Identifier: Apache-2.0
"""Delivers messages to partners that often fail: retries wait in a heap for longer each time, circuits open and close, leases run out."""

import heapq
import itertools
import random
import zlib
from collections import Counter, deque

from common import run

CLOSED, OPEN, TRYING = "closed", "open", "trying"


class Circuit:
    __slots__ = ("state", "failures", "until", "recent")

    def __init__(self):
        self.state, self.failures, self.until = CLOSED, 0, 0.0
        self.recent = deque(maxlen=20)

    def admits(self, now):
        if self.state is OPEN and now >= self.until:
            self.state = TRYING
        return self.state is not OPEN

    def tell(self, worked, now):
        if len(self.recent) == self.recent.maxlen:
            self.failures -= not self.recent[0]
        self.recent.append(worked)
        self.failures += not worked
        if worked:
            self.state = CLOSED
        elif self.state is TRYING or self.failures > 12:
            self.state, self.until = OPEN, now + 20.0


class Message:
    __slots__ = ("serial", "partner", "tries", "ticket")

    def __init__(self, serial, partner):
        self.serial, self.partner, self.tries, self.ticket = serial, partner, 0, None


class Wheel:
    """Timers by time; one that is called off stays in the heap and is passed over when its time comes."""

    def __init__(self):
        self.heap = []
        self.numbers = itertools.count()
        self.live = {}

    def add(self, at, message):
        message.ticket = next(self.numbers)
        self.live[message.ticket] = message
        heapq.heappush(self.heap, (at, message.ticket))

    def call_off(self, message):
        self.live.pop(message.ticket, None)

    def next(self):
        while self.heap:
            at, ticket = heapq.heappop(self.heap)
            message = self.live.pop(ticket, None)
            if message is not None:
                return at, message
        return None


class Courier:
    def __init__(self, rnd, partners):
        self.rnd = rnd
        self.wheel = Wheel()
        self.circuits = {partner: Circuit() for partner in partners}
        self.moods = dict.fromkeys(partners, 0.75)
        self.counts, self.check = Counter(), 0

    def pause(self, tries):
        return self.rnd.uniform(0.5, 1.0) * min(60.0, 2.0**tries)

    def deliver(self, partner):
        mood = self.moods[partner] = min(0.95, max(0.05, self.moods[partner] + self.rnd.gauss(0.0, 0.05)))
        return self.rnd.random() < mood

    def handle(self, now, message):
        circuit = self.circuits[message.partner]
        if not circuit.admits(now):
            self.counts["held back"] += 1
            self.wheel.add(circuit.until + self.rnd.uniform(0.0, 120.0), message)
            return
        message.tries += 1
        worked = self.deliver(message.partner)
        circuit.tell(worked, now)
        self.counts["delivered" if worked else "failed"] += 1
        self.check = zlib.crc32(b"%d:%d:%d" % (message.serial, message.tries, worked), self.check)
        if not worked and message.tries < 9:
            self.wheel.add(now + self.pause(message.tries), message)
        elif not worked:
            self.counts["given up"] += 1


def one_pass(number, _):
    rnd = random.Random(number)
    partners = ["partner%02d" % at for at in range(25)]
    courier = Courier(rnd, partners)
    messages = [Message(serial, rnd.choice(partners)) for serial in range(1_500)]
    for message in messages:
        courier.wheel.add(rnd.uniform(0.0, 300.0), message)
    for message in rnd.sample(messages, 60):
        courier.wheel.call_off(message)
    while True:
        due = courier.wheel.next()
        if due is None:
            break
        courier.handle(*due)
    return sorted(courier.counts.items()), courier.check, [circuit.state for circuit in courier.circuits.values()]


if __name__ == "__main__":
    run(one_pass)
