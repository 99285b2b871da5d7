# SPDX-License-Identifier: Apache-2.0
"""A job server in miniature: queues, retries, clock reads and an append-only log."""

import heapq
import random
import tempfile
import time
from collections import deque

from common import run

WORKERS = 6


class Scheduler:
    def __init__(self, seed, log):
        self.rng = random.Random(seed)
        self.log = log
        self.waiting = []
        self.done = deque(maxlen=500)
        self.serial = 0
        self.tick = 0
        self.waited = 0.0

    def submit(self, name, priority, tries=0):
        self.serial += 1
        heapq.heappush(self.waiting, (priority, self.serial, name, tries, time.perf_counter()))

    def take(self):
        priority, serial, name, tries, since = heapq.heappop(self.waiting)
        self.waited += time.perf_counter() - since
        return priority, serial, name, tries

    def work(self, name):
        effort = sum(self.rng.getrandbits(16) & 1 for _ in range(12))
        return effort % 5 != 0, "%s:%d" % (name, effort)

    def round(self):
        self.tick += 1
        for _ in range(min(WORKERS, len(self.waiting))):
            priority, serial, name, tries = self.take()
            good, note = self.work(name)
            self.log.write("%06d %s %d %s\n" % (self.tick, note, tries, "ok" if good else "again"))
            if good:
                self.done.append((serial, name))
            elif tries < 4:
                self.submit(name, priority + 1 + tries, tries + 1)
        self.log.flush()


def arrivals(rng, count):
    kinds = ("mail", "thumbnail", "invoice", "sync", "report")
    for number in range(count):
        yield "%s-%d" % (rng.choice(kinds), number), rng.randrange(10)


def drain(scheduler, jobs):
    for name, priority in jobs:
        scheduler.submit(name, priority)
        if scheduler.rng.random() < 0.25:
            scheduler.round()
    while scheduler.waiting:
        scheduler.round()


def one_pass(number, _):
    with tempfile.TemporaryFile("w+") as log:
        scheduler = Scheduler(number, log)
        drain(scheduler, arrivals(random.Random(number + 1), 16_000))
        log.seek(0)
        again = sum(line.endswith("again\n") for line in log)
    return again, scheduler.tick, list(scheduler.done)[-3:]


if __name__ == "__main__":
    run(one_pass)
