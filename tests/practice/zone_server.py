# SPDX-License-Identifier: Apache-2.0
"""A zone of an online game: systems move wolves and heroes, settle bites and blows, and send each player what has changed nearby."""

import json
import math
import random
import zlib

from common import run

SYSTEMS = []
SIDE, REACH, TICKS = 240.0, 22.0, 10


def system(every=1):
    """Registers what is done to a zone at every so many ticks, in the order of the source."""

    def enter(function):
        SYSTEMS.append((every, function))
        return function

    return enter


class Entity:
    __slots__ = ("number", "kind", "x", "y", "turn", "speed", "health", "told")

    def __init__(self, number, kind, rnd):
        self.number, self.kind = number, kind
        self.x, self.y = rnd.uniform(0, SIDE), rnd.uniform(0, SIDE)
        self.turn, self.speed = rnd.uniform(0, 2 * math.pi), rnd.uniform(0.5, 3.0)
        self.health = 100
        self.told = {}

    def state(self):
        return [self.kind, round(self.x, 1), round(self.y, 1), self.health]


class Zone:
    def __init__(self, rnd, heroes, wolves):
        self.rnd = rnd
        kinds = ["hero"] * heroes + ["wolf"] * wolves
        self.entities = {at: Entity(at, kind, rnd) for at, kind in enumerate(kinds)}
        self.sent = 0
        self.checksum = 0
        self.fallen = 0

    def of_kind(self, kind):
        return [entity for entity in self.entities.values() if entity.kind == kind]

    def settle(self):
        """Called when all have moved."""

    def near(self, me):
        """Who is within reach, in the order of numbers."""
        return [other for other in self.entities.values() if other is not me and math.hypot(other.x - me.x, other.y - me.y) <= REACH]

    def tick(self, number):
        for every, work in SYSTEMS:
            if number % every == 0:
                work(self)


class ZoneFixed(Zone):
    def settle(self):
        self.cells = {}
        for entity in self.entities.values():
            self.cells.setdefault((entity.x // REACH, entity.y // REACH), []).append(entity)

    def near(self, me):
        column, row = me.x // REACH, me.y // REACH
        found = []
        for across in (column - 1, column, column + 1):
            for down in (row - 1, row, row + 1):
                for other in self.cells.get((across, down), ()):
                    if other is not me and math.hypot(other.x - me.x, other.y - me.y) <= REACH:
                        found.append(other)
        found.sort(key=lambda other: other.number)
        return found


@system()
def movement(zone):
    for entity in zone.entities.values():
        entity.turn += zone.rnd.gauss(0, 0.3)
        entity.x = (entity.x + math.cos(entity.turn) * entity.speed) % SIDE
        entity.y = (entity.y + math.sin(entity.turn) * entity.speed) % SIDE
    zone.settle()


@system()
def bites(zone):
    for wolf in zone.of_kind("wolf"):
        prey = [other for other in zone.near(wolf) if other.kind == "hero"]
        if prey:
            chosen = min(prey, key=lambda hero: math.hypot(hero.x - wolf.x, hero.y - wolf.y))
            wolf.turn = math.atan2(chosen.y - wolf.y, chosen.x - wolf.x)
            chosen.health -= zone.rnd.randrange(3)


@system(every=3)
def rest(zone):
    for hero in zone.of_kind("hero"):
        if hero.health <= 0:
            zone.fallen += 1
            hero.health, hero.x, hero.y = 100, SIDE / 2, SIDE / 2
        hero.health = min(100, hero.health + 2)
    zone.settle()


@system()
def snapshots(zone):
    """Each player is told only what has changed since the last time."""
    for hero in zone.of_kind("hero"):
        seen = {other.number: other.state() for other in zone.near(hero)}
        news = {number: state for number, state in seen.items() if hero.told.get(number) != state}
        gone = [number for number in hero.told if number not in seen]
        hero.told = seen
        packet = json.dumps({"you": hero.state(), "news": news, "gone": gone}, separators=(",", ":")).encode()
        zone.sent += len(packet)
        zone.checksum = zlib.crc32(packet, zone.checksum)


def one_pass(number, kind):
    zone = kind(random.Random(number), 50, 90)
    for tick in range(TICKS):
        zone.tick(tick)
    return zone.sent, zone.checksum, zone.fallen, sum(entity.health for entity in zone.entities.values())


if __name__ == "__main__":
    run(one_pass, Zone, ZoneFixed)
