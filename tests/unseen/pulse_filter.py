# SPDX-License-Identifier: Apache-2.0
"""Pulse of runners from chest straps: a chain of generators drops artefacts, smooths by a running median and finds efforts."""

import random
from bisect import bisect_left, insort
from collections import Counter, deque
from dataclasses import dataclass

from runner import run

WINDOW = 61


@dataclass
class Beat:
    second: float
    rate: float
    strap: int


def strap(seed, number):
    """Beats of one runner: rest, slope and sprints, with a jump when the strap slips."""
    rnd = random.Random(seed * 100 + number)
    second, level = 0.0, rnd.uniform(90, 120)
    for at in range(1_000):
        level += rnd.gauss(0, 1.2) + (0.5 if at // 150 % 2 else -0.4)
        level = min(max(level, 70), 195)
        rate = level * rnd.choice((0.5, 2.0)) if rnd.random() < 0.03 else level + rnd.gauss(0, 2)
        second += 60.0 / level
        yield Beat(round(second, 3), round(rate, 1), number)


def plausible(beats):
    last = None
    for beat in beats:
        if last is not None and abs(beat.rate - last) > 0.9 * last:
            last = 0.8 * last + 0.2 * min(beat.rate, 220)
            continue
        last = beat.rate
        yield beat


def smooth(beats):
    recent = deque(maxlen=WINDOW)
    for beat in beats:
        recent.append(beat.rate)
        ordered = sorted(recent)
        yield beat, ordered[len(ordered) // 2]


def smooth_fixed(beats):
    recent, ordered = deque(), []
    for beat in beats:
        if len(recent) == WINDOW:
            del ordered[bisect_left(ordered, recent.popleft())]
        recent.append(beat.rate)
        insort(ordered, beat.rate)
        yield beat, ordered[len(ordered) // 2]


class Efforts:
    """Stretches above a share of the runner's top, with their load."""

    def __init__(self, top, share=0.8):
        self.limit = top * share
        self.start = None
        self.load = 0.0
        self.found = []
        self.zones = Counter()

    def zone(self, rate):
        return min(5, max(1, int(rate / 20) - 3))

    def take(self, beat, rate):
        self.zones[self.zone(rate)] += 1
        if rate >= self.limit:
            if self.start is None:
                self.start, self.load = beat.second, 0.0
            self.load += (rate - self.limit) / 60
        elif self.start is not None:
            if beat.second - self.start > 20:
                self.found.append((self.start, round(beat.second - self.start, 3), round(self.load, 4)))
            self.start = None

    def line(self, number):
        zones = " ".join(f"z{zone}={count}" for zone, count in sorted(self.zones.items()))
        return f"{number:02d} efforts {len(self.found):3d} load {sum(load for *_, load in self.found):8.3f} {zones}"


def one_pass(number, step):
    lines, efforts = [], []
    for runner in range(8):
        watch = Efforts(top=150 + runner * 4)
        for beat, rate in step(plausible(strap(number, runner))):
            watch.take(beat, rate)
        lines.append(watch.line(runner))
        efforts += watch.found
    return len(efforts), efforts[:3], lines


if __name__ == "__main__":
    run(one_pass, smooth, smooth_fixed)
