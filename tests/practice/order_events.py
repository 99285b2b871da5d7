# SPDX-License-Identifier: Apache-2.0
"""A shop's bus of events: parts of the shop subscribe with functions that may take the event's envelope too, and orders run through them."""

import hashlib
import inspect
import json
import random
from collections import Counter, defaultdict, deque
from dataclasses import dataclass

from common import run


@dataclass(slots=True)
class Envelope:
    serial: int
    cause: int | None


@dataclass(slots=True)
class Order:
    number: int
    customer: str
    lines: list
    state: str = "new"


def wants_envelope(handler):
    return len(inspect.signature(handler).parameters) > 1


class Bus:
    def __init__(self):
        self.handlers = defaultdict(list)
        self.waiting = deque()
        self.serial = 0
        self.wants = wants_envelope

    def subscribe(self, event, handler):
        self.handlers[event].append(handler)

    def publish(self, event, order, cause=None):
        self.serial += 1
        self.waiting.append((event, order, Envelope(self.serial, cause and cause.serial)))

    def run(self):
        while self.waiting:
            event, order, envelope = self.waiting.popleft()
            for handler in self.handlers[event]:
                if self.wants(handler):
                    handler(order, envelope)
                else:
                    handler(order)


class BusFixed(Bus):
    def __init__(self):
        super().__init__()
        self.known = {}
        self.wants = self.known.__getitem__

    def subscribe(self, event, handler):
        super().subscribe(event, handler)
        self.known[handler] = wants_envelope(handler)


class Stock:
    def __init__(self, bus, rnd):
        self.bus = bus
        self.pieces = {article: rnd.randint(20, 900) for article in range(80)}
        bus.subscribe("placed", self.reserve)
        bus.subscribe("cancelled", self.release)

    def reserve(self, order, envelope):
        short = [article for article, count, _ in order.lines if self.pieces[article] < count]
        if short:
            self.bus.publish("refused", order, envelope)
            return
        for article, count, _ in order.lines:
            self.pieces[article] -= count
        self.bus.publish("reserved", order, envelope)

    def release(self, order):
        for article, count, _ in order.lines:
            self.pieces[article] += count


class Till:
    def __init__(self, bus):
        self.bus = bus
        self.taken = 0
        bus.subscribe("reserved", self.charge)

    def charge(self, order, envelope):
        """Postage is free above sixty; every eleventh customer thinks better of it."""
        net = sum(count * cents for _, count, cents in order.lines)
        self.taken += net + (0 if net > 6_000 else 490)
        self.bus.publish("cancelled" if order.number % 11 == 0 else "paid", order, envelope)


class Outbox:
    """What other systems are told, chained by digest so that nothing can be left out."""

    def __init__(self, bus):
        self.head = hashlib.sha256()
        for event in ("reserved", "paid", "cancelled"):
            bus.subscribe(event, self.tell)

    def tell(self, order, envelope):
        goods = [{"article": article, "count": count, "cents": cents} for article, count, cents in order.lines]
        told = {"serial": envelope.serial, "cause": envelope.cause, "order": order.number, "state": order.state, "lines": goods}
        self.head.update(json.dumps(told).encode())


class Journal:
    """Follows every event: the order's states, and a line for the file."""

    def __init__(self, bus):
        self.lines = []
        self.counts = Counter()
        for event in ("placed", "reserved", "refused", "paid", "cancelled"):
            bus.subscribe(event, self.entry(event))

    def entry(self, event):
        def note(order):
            order.state = event
            self.counts[event] += 1
            goods = ",".join("%d*%d" % (count, article) for article, count, _ in order.lines)
            self.lines.append("%06d %-9s %-6s %s" % (order.number, event, order.customer, goods))

        return note


def one_pass(number, make):
    rnd = random.Random(number)
    bus = make()
    stock, till, outbox, journal = Stock(bus, rnd), Till(bus), Outbox(bus), Journal(bus)
    orders = []
    for at in range(400):
        lines = [(article, rnd.randint(1, 5), rnd.randint(90, 9_000)) for article in rnd.sample(range(80), rnd.randint(1, 5))]
        orders.append(Order(at, "K%03d" % rnd.randrange(150), lines))
        bus.publish("placed", orders[-1])
        if at % 20 == 19:
            bus.run()
    states = Counter(order.state for order in orders)
    return sorted(states.items()), outbox.head.hexdigest()[:12], till.taken, sum(stock.pieces.values()), journal.lines[-1]


if __name__ == "__main__":
    run(one_pass, Bus, BusFixed)
