# SPDX-License-Identifier: Apache-2.0
"""A warehouse's command bus: commands come in as messages, each handler is guarded by a check of its arguments, a trail is kept."""

import functools
import inspect
import json
import random
import zlib
from collections import Counter, defaultdict

from common import run


class Refused(Exception):
    pass


def sku(value):
    if len(value) != 7 or not value[1:].isdigit():
        raise Refused("sku")
    return value


def pieces(value):
    if not isinstance(value, int) or not 0 < value <= 500:
        raise Refused("pieces")
    return value


def shelf(value):
    aisle, _, place = value.partition("-")
    if not aisle.isalpha() or not place.isdigit():
        raise Refused("shelf")
    return aisle, int(place)


def guard(func):
    """Has each argument checked by the checker its parameter is annotated with."""

    @functools.wraps(func)
    def checked(*args, **kwargs):
        signature = inspect.signature(func)
        bound = signature.bind(*args, **kwargs)
        for name, value in bound.arguments.items():
            checker = signature.parameters[name].annotation
            if checker is not inspect.Parameter.empty:
                bound.arguments[name] = checker(value)
        return func(*bound.args, **bound.kwargs)

    return checked


def guard_fixed(func):
    signature = inspect.signature(func)

    @functools.wraps(func)
    def checked(*args, **kwargs):
        bound = signature.bind(*args, **kwargs)
        for name, value in bound.arguments.items():
            checker = signature.parameters[name].annotation
            if checker is not inspect.Parameter.empty:
                bound.arguments[name] = checker(value)
        return func(*bound.args, **bound.kwargs)

    return checked


class Stock:
    def __init__(self):
        self.places = defaultdict(Counter)
        self.reserved = Counter()
        self.moves = 0

    def put(self, item: sku, place: shelf, count: pieces):
        self.places[item][place] += count
        return self.places[item][place]

    def move(self, item: sku, source: shelf, target: shelf, count: pieces):
        moved = min(count, self.places[item][source])
        self.places[item][source] -= moved
        self.places[item][target] += moved
        self.moves += moved
        return moved

    def pick(self, item: sku, count: pieces, order: str, partly=True):
        """Takes from the fullest shelves first."""
        shelves = self.places[item]
        if not partly and shelves.total() < count:
            raise Refused("too few")
        left = count
        for place, held in shelves.most_common():
            taken = min(left, held)
            shelves[place] -= taken
            left -= taken
            if not left:
                break
        self.reserved[order] += count - left
        return count - left


class Bus:
    def __init__(self, guarding, stock):
        self.handlers = {name: guarding(getattr(stock, name)) for name in ("put", "move", "pick")}
        self.trail = 0
        self.refused = Counter()
        self.answers = Counter()

    def receive(self, message):
        command = json.loads(message)
        try:
            answer = self.handlers[command["do"]](**command["with"])
        except Refused as error:
            self.refused[command["do"], str(error)] += 1
            return
        self.answers[command["do"]] += answer
        entry = {"id": command["id"], "by": command["by"], "answer": answer, "at": command["at"]}
        self.trail = zlib.crc32(json.dumps(entry, sort_keys=True).encode(), self.trail)


def messages(rnd, many):
    items = ["%s%06d" % (rnd.choice("ABC"), rnd.randrange(10**6)) for _ in range(60)]
    shelves = ["%s-%d" % (aisle, place) for aisle in ("A", "B", "C", "D") for place in range(1, 9)]
    shelves.append("floor")
    for at in range(many):
        kind = rnd.choice(("put", "put", "move", "pick", "pick", "pick"))
        told = {"item": rnd.choice(items), "count": rnd.randint(0, 60)}
        if kind == "put":
            told["place"] = rnd.choice(shelves)
        elif kind == "move":
            told["source"], told["target"] = rnd.choice(shelves), rnd.choice(shelves)
        else:
            told["order"] = "o%07d" % rnd.randrange(10**7)
            if rnd.random() < 0.2:
                told["partly"] = False
        command = {"id": "%016x" % rnd.getrandbits(64), "do": kind, "by": "pda-%d" % rnd.randint(1, 30), "at": at, "with": told}
        yield json.dumps(command)


def one_pass(number, guarding):
    stock = Stock()
    bus = Bus(guarding, stock)
    for message in messages(random.Random(number), 3_000):
        bus.receive(message)
    held = sum(places.total() for places in stock.places.values())
    return bus.trail, held, stock.moves, sorted(bus.refused.items()), sorted(bus.answers.items()), sum(stock.reserved.values())


if __name__ == "__main__":
    run(one_pass, guard, guard_fixed)
