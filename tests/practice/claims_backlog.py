# SPDX-License-Identifier: Apache-2.0
"""An insurer's backlog: the most urgent claim is taken up next; some are settled, some wait for papers and come back changed."""

import heapq
import math
import random
from collections import Counter, defaultdict
from datetime import datetime, timedelta

from common import run

OPENED = datetime(2024, 1, 2, 8, 0)
GRAVE = frozenset(("injury", "homeless", "lawyer", "press"))
REPAIRS = {"roof": 21_000, "pipe": 9_500, "floor": 14_000, "glass": 3_200, "car": 17_500, "bike": 1_900}
KINDS = list(REPAIRS)


class Claim:
    def __init__(self, number, due, cents, flags, items):
        self.number, self.due, self.cents = number, due, cents
        self.flags, self.items = set(flags), items
        self.visits = 0

    def urgency(self):
        """Days until it is due, less what makes it press."""
        days = (datetime.fromisoformat(self.due) - OPENED).total_seconds() / 86_400
        return days - math.log1p(self.cents) / 2 - 4 * len(self.flags & GRAVE) - self.visits

    def postpone(self, days, flag):
        self.due = (datetime.fromisoformat(self.due) + timedelta(days=days)).isoformat()
        self.visits += 1
        if flag:
            self.flags.add(flag)

    def __lt__(self, other):
        return self.urgency() < other.urgency()


class ClaimFixed(Claim):
    def __init__(self, *told):
        super().__init__(*told)
        self.rank = super().urgency()

    def urgency(self):
        return self.rank

    def postpone(self, days, flag):
        super().postpone(days, flag)
        self.rank = super().urgency()


class Backlog:
    def __init__(self):
        self.heap = []

    def add(self, claim):
        heapq.heappush(self.heap, claim)

    def next(self):
        return heapq.heappop(self.heap)

    def __len__(self):
        return len(self.heap)


class Adjuster:
    """Settles a claim by its items, or asks for papers."""

    def __init__(self, rnd, backlog):
        self.rnd, self.backlog = rnd, backlog
        self.paid = defaultdict(int)
        self.order = []
        self.outcomes = Counter()

    def appraise(self, claim):
        worth, odd = 0, 0
        for kind, age, asked in claim.items:
            usual = REPAIRS[kind] * (1 - min(age, 15) / 20)
            odd += asked > 1.6 * usual
            worth += min(asked, int(1.2 * usual))
        return worth, odd

    def take_up(self, claim):
        worth, odd = self.appraise(claim)
        self.order.append(claim.number)
        if odd > 1 and claim.visits < 3:
            self.outcomes["papers"] += 1
            claim.postpone(self.rnd.randint(5, 20), self.rnd.choice((None, None, "lawyer", "press")))
            self.backlog.add(claim)
        elif worth < claim.cents // 4:
            self.outcomes["refused"] += 1
        else:
            self.outcomes["paid"] += 1
            for kind, _, asked in claim.items:
                self.paid[kind] += worth * asked // claim.cents


def arrivals(rnd, claim, first, many):
    for number in range(first, first + many):
        items = [(rnd.choice(KINDS), rnd.randint(0, 20), rnd.randint(900, 40_000)) for _ in range(rnd.randint(2, 9))]
        due = OPENED + timedelta(days=rnd.randint(3, 60), minutes=rnd.randint(0, 1_439))
        flags = [flag for flag in ("injury", "homeless", "tenant", "abroad") if rnd.random() < 0.1]
        yield claim(number, due.isoformat(), sum(item[2] for item in items), flags, items)


def one_pass(number, claim):
    rnd = random.Random(number)
    backlog = Backlog()
    adjuster = Adjuster(rnd, backlog)
    for new in arrivals(rnd, claim, 0, 400):
        backlog.add(new)
    for day in range(1, 21):
        for new in arrivals(rnd, claim, day * 1_000, 40):
            backlog.add(new)
        for _ in range(min(55, len(backlog))):
            adjuster.take_up(backlog.next())
    return adjuster.order[:20], sum(adjuster.order), sorted(adjuster.paid.items()), sorted(adjuster.outcomes.items()), len(backlog)


if __name__ == "__main__":
    run(one_pass, Claim, ClaimFixed)
