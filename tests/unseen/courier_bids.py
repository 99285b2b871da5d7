# SPDX-License-Identifier: Apache-2.0
"""Bicycle couriers bid for the jobs of a day, the cheapest wins; every decision stands in a journal with who made it."""

import inspect
import math
import random
import sys
from dataclasses import dataclass

from runner import run

COURIERS = 300
JOBS = 90


@dataclass
class Courier:
    number: int
    x: float
    y: float
    pace: float
    fee: float
    free_at: float = 0.0
    earned: float = 0.0

    def bid(self, job):
        """Price, minute of delivery and number."""
        away = math.hypot(job.x - self.x, job.y - self.y)
        start = max(self.free_at, job.ready)
        done = start + (away + job.length) * self.pace
        return self.fee + 0.9 * job.length + 0.35 * away, done, self.number


@dataclass(frozen=True)
class Job:
    x: float
    y: float
    to_x: float
    to_y: float
    ready: float
    length: float


def couriers(rnd):
    return [
        Courier(number, rnd.uniform(0, 9), rnd.uniform(0, 7), rnd.uniform(2.6, 4.2), rnd.uniform(2.0, 4.0))
        for number in range(COURIERS)
    ]


def jobs(rnd):
    ready = 0.0
    for _ in range(JOBS):
        ready += rnd.expovariate(0.3)
        x, y, to_x, to_y = rnd.uniform(0, 9), rnd.uniform(0, 7), rnd.uniform(0, 9), rnd.uniform(0, 7)
        yield Job(x, y, to_x, to_y, ready, abs(to_x - x) + abs(to_y - y))


class Journal:
    def __init__(self):
        self.lines = []

    def note(self, text):
        self.lines.append("%s: %s" % (inspect.stack()[1].function, text))


class JournalFixed(Journal):
    def note(self, text):
        self.lines.append("%s: %s" % (sys._getframe(1).f_code.co_name, text))


def award(job, riders, journal):
    price, done, number = min(rider.bid(job) for rider in riders)
    journal.note("job of %.1f km to %d for %.2f" % (job.length, number, price))
    return price, done, riders[number]


def deliver(job, rider, done, journal):
    rider.x, rider.y, rider.free_at = job.to_x, job.to_y, done
    if done - job.ready > 30:
        journal.note("%d was late by %d minutes" % (rider.number, done - job.ready - 30))


def settle(riders, journal):
    for rider in sorted(riders, key=lambda rider: -rider.earned)[:3]:
        journal.note("%d has %.2f" % (rider.number, rider.earned))


def day(rnd, journal):
    riders = couriers(rnd)
    paid = 0.0
    for job in jobs(rnd):
        price, done, rider = award(job, riders, journal)
        deliver(job, rider, done, journal)
        rider.earned += 0.8 * price
        rider.fee *= 1.02
        paid += price
    settle(riders, journal)
    return paid


def one_pass(number, step):
    journal = step()
    paid = day(random.Random(number), journal)
    return paid, len(journal.lines), journal.lines[:2], journal.lines[-3:]


if __name__ == "__main__":
    run(one_pass, Journal, JournalFixed)
