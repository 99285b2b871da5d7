# SPDX-License-Identifier: Apache-2.0
"""Visitors at a museum's turnstiles, minute by minute, and how hard each person's shift was."""

import random

from runner import run

GATES = 6
MINUTES = 600
STAFF = ("guard", "cashier", "cleaner", "cloakroom", "guide", "shop", "porter", "lift")


def counts(rnd):
    """Visitors of each minute at one gate: a tide for every quarter of an hour, and coaches."""
    each = []
    for _ in range(MINUTES // 15):
        most = rnd.randrange(3, 25)
        each += rnd.choices(range(most), k=15)
    for _ in range(rnd.randrange(2, 6)):
        each[rnd.randrange(MINUTES)] += rnd.randrange(25, 50)
    return each


def shifts(rnd):
    """People of one staff relieve one another, with some minutes in which two are there."""
    for staff in STAFF:
        first, last, place = 0, 0, 0
        while last < MINUTES:
            place += 1
            last = min(MINUTES, first + rnd.randrange(35, 115))
            yield "%s %d" % (staff, place), first, last
            first = last - rnd.randrange(0, 6)


def report(visitors):
    """A function that tells of the minutes from first to last, at the gate with these visitors."""

    def of(first, last):
        total = sum(visitors[minute] for minute in range(first, last))
        peak = max(visitors[minute] for minute in range(first, last))
        idle = min(visitors[minute] for minute in range(first, last))
        return total, peak, idle

    return of


def report_fixed(visitors):
    def of(first, last):
        span = visitors[first:last]
        return sum(span), max(span), min(span)

    return of


def one_pass(number, step):
    lines, hardest = [], (0.0, "")
    for gate in range(GATES):
        rnd = random.Random(100 * number + gate)
        tell = step(counts(rnd))
        for person, first, last in shifts(rnd):
            total, peak, idle = tell(first, last)
            load = total / (last - first) + 0.1 * peak
            hardest = max(hardest, (load, person))
            lines.append("gate %d %s %d-%d: %d (%d to %d)" % (gate, person, first, last, total, idle, peak))
    return hardest, len(lines), lines[:3]


if __name__ == "__main__":
    run(one_pass, report, report_fixed)
