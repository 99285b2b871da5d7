# SPDX-License-Identifier: Apache-2.0
"""A day at a small ski resort, event by event: how long skiers queue at each lift, and how many runs they get."""

import heapq
import random
from collections import deque
from itertools import count

from runner import run

LIFTS = {"Gully": (4, 14, 380), "Ridge": (2, 9, 520), "Baby": (1, 7, 200)}  # seats, seconds a chair, seconds up
SKIERS = 260
CLOSES = 3600 * 3


class Lift:
    def __init__(self, name):
        self.name = name
        self.seats, self.every, self.ride = LIFTS[name]
        self.queue = deque()
        self.waited = []
        self.running = False

    def board(self, now):
        taken = []
        while self.queue and len(taken) < self.seats:
            skier, since = self.queue.popleft()
            self.waited.append(now - since)
            taken.append(skier)
        return taken


class Resort:
    def __init__(self, seed):
        self.rnd = random.Random(seed)
        self.lifts = {name: Lift(name) for name in LIFTS}
        self.open = list(self.lifts.values())
        self.events = []
        self.order = count()
        self.runs = [0] * SKIERS
        for skier in range(SKIERS):
            self.at(self.rnd.randrange(1800), self.arrive, skier)

    def at(self, when, what, whom):
        heapq.heappush(self.events, (when, next(self.order), what, whom))

    def arrive(self, now, skier):
        if self.rnd.random() < 0.6:
            lift = min(self.lifts.values(), key=lambda one: len(one.queue) / one.seats)
        else:
            lift = self.rnd.choice(self.open)
        lift.queue.append((skier, now))
        if not lift.running:
            lift.running = True
            self.at(now + lift.every, self.chair, lift)

    def chair(self, now, lift):
        for skier in lift.board(now):
            self.runs[skier] += 1
            down = lift.ride + int(self.rnd.gauss(150, 30))
            self.at(now + down, self.arrive, skier)
        lift.running = bool(lift.queue)
        if lift.running:
            self.at(now + lift.every, self.chair, lift)

    def day(self):
        handled = 0
        while self.events:
            now, _, what, whom = heapq.heappop(self.events)
            if now > CLOSES:
                break
            what(now, whom)
            handled += 1
        return handled


def one_pass(number, step):
    resort = Resort(number)
    handled = resort.day()
    waits = {name: sorted(lift.waited) for name, lift in resort.lifts.items()}
    middle = [(name, waited[len(waited) // 2], waited[-1]) for name, waited in waits.items() if waited]
    return handled, sum(resort.runs), max(resort.runs), middle


if __name__ == "__main__":
    run(one_pass)
