# SPDX-License-Identifier: Apache-2.0
"""The list of an operating theatre: referrals come in, the most urgent is called when a slot opens, some are withdrawn."""

import random
from collections import Counter
from bisect import insort
from dataclasses import dataclass

from common import run

WARDS = ("hand", "knee", "hip", "eye", "ear", "heart")


@dataclass
class Referral:
    number: int
    ward: str
    urgency: int
    arrived: int
    minutes: int
    fasting: bool

    def rank(self):
        return self.urgency, self.arrived, self.number


class TheatreList:
    def __init__(self):
        self.waiting = []
        self.withdrawn = set()
        self.waits = Counter()
        self.done = []
        self.clock = 0

    def arrive(self, referral):
        self.waiting.append(referral)
        self.waiting.sort(key=Referral.rank, reverse=True)

    def withdraw(self, number):
        self.withdrawn.add(number)

    def call(self):
        while self.waiting:
            referral = self.waiting.pop()
            if referral.number in self.withdrawn:
                self.withdrawn.discard(referral.number)
                continue
            return referral
        return None

    def operate(self, until):
        while self.clock < until:
            referral = self.call()
            if referral is None:
                self.clock = until
                return
            self.waits[referral.ward] += until - referral.arrived
            self.clock += referral.minutes + (0 if referral.fasting else 20)
            self.done.append(self.protocol(referral))

    def protocol(self, referral):
        day, minute = divmod(self.clock, 24 * 60)
        head = f"{referral.number:07d}/{referral.ward.upper():<6} day {day:03d} {minute // 60:02d}:{minute % 60:02d}"
        check = sum((at % 7 + 1) * ord(sign) for at, sign in enumerate(head)) % 97
        return f"{head} urgency {referral.urgency} after {self.clock - referral.arrived:6d} min [{check:02d}]"


class TheatreListFixed(TheatreList):
    def arrive(self, referral):
        insort(self.waiting, referral, key=lambda waiting: tuple(-part for part in waiting.rank()))


def referrals(seed):
    rnd = random.Random(seed)
    now = 0
    for at in range(900):
        now += rnd.randrange(40)
        urgency = rnd.choices((1, 2, 3, 4), (5, 15, 40, 40))[0]
        yield Referral(seed * 1000 + at, rnd.choice(WARDS), urgency, now, rnd.randint(20, 90), rnd.random() < 0.8)


def season(seed, theatre):
    rnd = random.Random(-1 - seed)
    for referral in referrals(seed):
        theatre.arrive(referral)
        if rnd.random() < 0.05:
            theatre.withdraw(referral.number - rnd.randrange(1, 20))
        if referral.number % 9 == 0:
            theatre.operate(referral.arrived)


def review(lines):
    """How long each ward's protocols say that people waited, and their checks."""
    found = {}
    for line in lines:
        fields = line.split()
        ward = fields[0].partition("/")[2]
        minutes = int(fields[-3])
        count, total, longest = found.get(ward, (0, 0, 0))
        found[ward] = count + 1, total + minutes, max(longest, minutes)
    return sorted(found.items())


def one_pass(number, step):
    theatre = step()
    season(number, theatre)
    return len(theatre.waiting), review(theatre.done), sorted(theatre.waits.items()), theatre.done[-2:]


if __name__ == "__main__":
    run(one_pass, TheatreList, TheatreListFixed)
