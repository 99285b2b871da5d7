# SPDX-License-Identifier: Apache-2.0
"""A valley of mill ponds, one below the other: each hour's level comes of the hour before, by sluice, wheel and weir."""

import math
import random

from runner import run

HOURS = 900
PONDS = 5


class Pond:
    def __init__(self, rnd):
        self.area = rnd.uniform(2000, 9000)
        self.crest = rnd.uniform(1.4, 2.2)
        self.wheel = rnd.uniform(0.15, 0.4)
        self.least = 0.6 * self.crest
        self.sill = 0.4 * self.crest
        self.weir = 1.7 * rnd.uniform(2, 6)
        self.open_at = rnd.randrange(5, 8)
        self.shut_at = self.open_at + rnd.randrange(8, 12)

    def wheel_flow(self, hour, level):
        if not self.open_at <= hour % 24 < self.shut_at or level < self.least:
            return 0.0
        return self.wheel * math.sqrt(level - self.sill)

    def run(self, inflow):
        """The levels by the hour, the flow below and the hours that the wheel turned."""
        levels = [0.8 * self.crest]
        below = [0.0]
        turned = 0
        for hour in range(1, len(inflow)):
            level = levels[hour - 1] + 1800 * (inflow[hour - 1] + inflow[hour] - 2 * below[hour - 1]) / self.area
            level = max(level, 0.0)
            wheel = self.wheel_flow(hour, level)
            over = max(level - self.crest, 0.0)
            weir = self.weir * over * math.sqrt(over)
            room = level * self.area / 3600
            flow = min(wheel + weir, 0.5 * room)
            if wheel:
                turned += 1
            levels.append(level)
            below.append(0.7 * below[hour - 1] + 0.3 * flow)
        return levels, below, turned


def rain(rnd):
    """The stream at the valley's head: floods that fall off and a little that is always there."""
    stream, flood = [], 0.0
    for _ in range(HOURS):
        if rnd.random() < 0.012:
            flood += rnd.expovariate(1.4)
        flood *= 0.965
        stream.append(0.06 + flood)
    return stream


def one_pass(number, step):
    rnd = random.Random(number)
    flow = rain(rnd)
    sheet = []
    for _ in range(PONDS):
        pond = Pond(rnd)
        levels, flow, turned = pond.run(flow)
        flow = [passed + abs(rnd.gauss(0, 0.01)) for passed in flow]
        brim = pond.crest + 0.3
        flooded = sum(level > brim for level in levels)
        sheet.append((max(levels), min(levels[24:]), turned, flooded, sum(flow)))
    return sheet


if __name__ == "__main__":
    run(one_pass)
