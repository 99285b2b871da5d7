# SPDX-License-Identifier: Apache-2.0
"""A copy shop's print queue: jobs come, are called off, moved up for a fee, and printed in turn by two machines."""

import random
from collections import Counter, OrderedDict, deque
from dataclasses import dataclass

from common import run

SPEED = (2.2, 1.4)  # pages a second


@dataclass(slots=True)
class Job:
    name: str
    pages: int
    colour: bool
    owner: str
    cents: int


class Line:  # names of the jobs that wait
    def __init__(self):
        self.names = deque()

    def push(self, name):
        self.names.append(name)

    def push_first(self, name):
        self.names.appendleft(name)

    def pop(self):
        return self.names.popleft()

    def drop(self, name):
        self.names.remove(name)

    def __len__(self):
        return len(self.names)


class LineFixed(Line):
    def __init__(self):
        self.names = OrderedDict()

    def push(self, name):
        self.names[name] = None

    def push_first(self, name):
        self.names[name] = None
        self.names.move_to_end(name, last=False)

    def pop(self):
        return self.names.popitem(last=False)[0]

    def drop(self, name):
        del self.names[name]


class Shop:
    def __init__(self, line):
        self.line = line()
        self.jobs = {}
        self.busy = [0.0, 0.0]
        self.accounts = Counter()
        self.slips = []
        self.waited = 0.0

    def price(self, pages, colour):
        cents = pages * (25 if colour else 6)
        return cents - cents // 10 if pages > 50 else cents

    def order(self, name, pages, colour, owner):
        self.jobs[name] = Job(name, pages, colour, owner, self.price(pages, colour))
        self.line.push(name)

    def call_off(self, name):
        job = self.jobs.pop(name)
        self.line.drop(name)
        self.accounts[job.owner] += min(50, job.cents // 4)

    def hurry(self, name):
        self.line.drop(name)
        self.line.push_first(name)
        self.jobs[name].cents += 150

    def work(self, now):
        """Free machines take the next jobs."""
        for machine, speed in enumerate(SPEED):
            while self.busy[machine] <= now and len(self.line):
                job = self.jobs.pop(self.line.pop())
                seconds = job.pages / speed * (1.6 if job.colour else 1.0) + 4
                self.busy[machine] = max(self.busy[machine], now - 30) + seconds
                self.accounts[job.owner] += job.cents
                self.waited += seconds
                self.slips.append(f"{now:>7} m{machine} {job.name} {job.pages:>3} p. {job.cents / 100:>7.2f} {job.owner}")


def one_pass(number, line):
    rnd = random.Random(number)
    shop, now, waiting = Shop(line), 0, []
    for event in range(4_000):
        now += rnd.randint(0, 6)
        draw = rnd.random()
        if event % 50 == 0:
            waiting = list(shop.jobs)
        if draw < 0.72 or len(waiting) < 40:
            shop.order("j%07x-%d" % (rnd.getrandbits(28), event), rnd.randint(1, 90), draw < 0.2, "o%02d" % rnd.randint(0, 40))
        else:
            name = rnd.choice(waiting)
            if name in shop.jobs:
                (shop.call_off if draw < 0.9 else shop.hurry)(name)
        if event % 4 == 0:
            shop.work(now)
    return len(shop.slips), shop.slips[-1], len(shop.jobs), shop.waited, sorted(shop.accounts.items())[:3]


if __name__ == "__main__":
    run(one_pass, Line, LineFixed)
