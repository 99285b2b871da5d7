# SPDX-License-Identifier: Apache-2.0
"""A university's print room: jobs wait in a chain, are printed in the order in which they came, and are billed."""
import random

import service

CENTS = {"plain": 4, "colour": 19, "poster": 240}


class Job:
    __slots__ = ("owner", "kind", "pages", "image", "following")

    def __init__(self, owner, kind, pages, image):
        self.owner = owner
        self.kind = kind
        self.pages = pages
        self.image = image
        self.following = None


class Chain:
    """Jobs in order: the first one that came, the one that is printed next, and the last."""

    def __init__(self):
        self.earliest = None
        self.upcoming = None
        self.latest = None
        self.waiting = 0

    def put(self, job):
        if self.latest is None:
            self.earliest = job
        else:
            self.latest.following = job
        self.latest = job
        if self.upcoming is None:
            self.upcoming = job
        self.waiting += 1

    def take(self):
        job = self.upcoming
        self.upcoming = job.following
        self.waiting -= 1
        return job


class Printer:
    def __init__(self):
        self.bills = {}

    def print(self, job):
        ink = sum(job.image[::256])
        cents = CENTS[job.kind] * job.pages + ink // 4000
        self.bills[job.owner] = self.bills.get(job.owner, 0) + cents


def job_of(rng):
    kind = rng.choice(sorted(CENTS))
    image = bytes(rng.getrandbits(8) for _ in range(512)) * 24
    return Job("reader-%d" % rng.randrange(300), kind, rng.randrange(1, 30), image)


def main():
    rng = random.Random(61)
    tray, printer = Chain(), Printer()
    for number in service.rounds(per_second=20):
        for _ in range(8):
            tray.put(job_of(rng))
        while tray.waiting:
            printer.print(tray.take())
        if number % 200 == 0:
            print("billed %d readers" % len(printer.bills))
    print("cents %d" % sum(printer.bills.values()))


if __name__ == "__main__":
    main()
