# SPDX-License-Identifier: Apache-2.0
"""Watches the vital signs of a ward's patients and writes its alarms as lines of JSON."""

import json
import math
import random
import statistics
from collections import deque

from runner import run

SIGNS = {}


def sign(name, low, high, window):
    def register(function):
        SIGNS[name] = function, low, high, window
        return function

    return register


@sign("pulse", 48, 118, 8)
def pulse(sample):
    return 60_000 / sample["rr"]


@sign("pressure", 62, 108, 12)
def pressure(sample):
    return sample["dia"] + (sample["sys"] - sample["dia"]) / 3


@sign("oxygen", 91.0, 100.5, 6)
def oxygen(sample):
    ratio = sample["red"] / sample["infrared"]
    return 110 - 25 * ratio


def level(values):
    return statistics.mean(values)


def level_fixed(values):
    return statistics.fmean(values)


class Bed:
    def __init__(self, number, typical):
        self.number = number
        self.typical = typical
        self.recent = {name: deque(maxlen=window) for name, (_, _, _, window) in SIGNS.items()}
        self.silent_until = dict.fromkeys(SIGNS, -1)

    def take(self, minute, sample):
        for name, (function, low, high, window) in SIGNS.items():
            recent = self.recent[name]
            recent.append(function(sample))
            if minute % 10 or len(recent) < window or minute < self.silent_until[name]:
                continue
            middle = self.typical(recent)
            if not low <= middle <= high:
                self.silent_until[name] = minute + window
                first, *rest = recent
                restless = math.dist(rest, [first, *rest[:-1]])
                yield {"bed": self.number, "minute": minute, "sign": name, "level": middle, "restless": restless}


def patient(rng):
    rr, sys, ratio = rng.uniform(520, 1_200), rng.uniform(105, 150), rng.uniform(0.45, 0.75)
    while True:
        rr += rng.gauss(0, 12) + 0.01 * (850 - rr)
        sys += rng.gauss(0, 2) + 0.02 * (125 - sys)
        ratio += rng.gauss(0, 0.01) + 0.02 * (0.55 - ratio)
        infrared = rng.uniform(0.8, 1.2)
        yield {"rr": rr, "sys": sys, "dia": 0.62 * sys, "red": ratio * infrared, "infrared": infrared}


def one_pass(number, typical):
    rng = random.Random(number)
    beds = [(Bed(i, typical), patient(rng)) for i in range(12)]
    log = []
    worst = 0.0
    for minute in range(1_200):
        for bed, signs in beds:
            for alarm in bed.take(minute, next(signs)):
                worst = max(worst, abs(alarm["level"]))
                log.append(json.dumps({**alarm, "level": round(alarm["level"], 3)}, sort_keys=True))
    return len(log), worst, log[:3], log[-1:]


if __name__ == "__main__":
    run(one_pass, level, level_fixed)
