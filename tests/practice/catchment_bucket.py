# SPDX-License-Identifier: Apache-2.0
"""A catchment as a snow store and two leaking buckets, fitted to a gauge by a search that moves on from its best."""

import math
import random

from common import run

DAYS = 500
LIMITS = {
    "thaw": (-1.0, 2.0),
    "melt": (1.0, 6.0),
    "field": (50.0, 400.0),
    "shape": (0.5, 4.0),
    "quick": (0.1, 0.8),
    "slow": (0.005, 0.08),
    "deep": (0.2, 3.0),
}
RANGES = list(LIMITS.values())


def thirst(warmth):
    """What the air would take, in millimetres, by day."""
    return [max(0.0, 0.16 * (degrees + 5)) for degrees in warmth]


def make_weather(rng):
    rain, warmth = [], []
    wet = False
    for day in range(DAYS):
        wet = rng.random() < (0.65 if wet else 0.25)
        rain.append(rng.expovariate(1 / 7.0) if wet else 0.0)
        warmth.append(7 - 9 * math.cos(day * 2 * math.pi / 365.25) + rng.gauss(0, 2.5))
    return rain, warmth, thirst(warmth)


def flow(values, rain, warmth, thirsty):
    """Each day's stores follow from those of the day before; they fill, spill and dry up, so no closed form is at hand."""
    thaw, melt, field, shape, quick, slow, deep = values
    snow, soil, upper, lower = 0.0, 0.5 * field, 2.0, 30.0
    flows = []
    for fallen, degrees, wanted in zip(rain, warmth, thirsty):
        if degrees < thaw:
            snow += fallen
            water = 0.0
        else:
            melted = min(snow, melt * (degrees - thaw))
            snow -= melted
            water = fallen + melted
        through = water * (soil / field) ** shape if water else 0.0
        soil += water - through
        if soil > field:
            through += soil - field
            soil = field
        soil -= min(soil, wanted * soil / field)
        upper += through
        sunk = min(upper, deep)
        upper -= sunk
        lower += sunk
        fast, steady = quick * upper, slow * lower
        upper -= fast
        lower -= steady
        flows.append(fast + steady)
    return flows


class Gauge:
    def __init__(self, heights, skip=60):
        self.seen = heights[skip:]
        self.skip = skip
        mean = sum(self.seen) / len(self.seen)
        self.varied = sum((height - mean) ** 2 for height in self.seen)

    def misfit(self, flows):
        """One less Nash and Sutcliffe's efficiency."""
        return sum((a - b) ** 2 for a, b in zip(self.seen, flows[self.skip :])) / self.varied


def moved(rng, values, chance):
    """Some of the values, at least one, by a step that is reflected at its limits."""
    fresh = list(values)
    chosen = [which for which in range(len(fresh)) if rng.random() < chance] or [rng.randrange(len(fresh))]
    for which in chosen:
        low, high = RANGES[which]
        value = fresh[which] + 0.2 * (high - low) * rng.gauss(0, 1)
        if value < low:
            value = low + (low - value)
        if value > high:
            value = high - (value - high)
        fresh[which] = min(high, max(low, value))
    return fresh


def fit(rng, weather, gauge, trials):
    best = [rng.uniform(low, high) for low, high in RANGES]
    least = gauge.misfit(flow(best, *weather))
    for trial in range(1, trials):
        values = moved(rng, best, 1 - math.log(trial) / math.log(trials))
        wrong = gauge.misfit(flow(values, *weather))
        if wrong < least:
            best, least = values, wrong
    return best, least


def one_pass(number, _):
    rng = random.Random(number)
    weather = make_weather(rng)
    truth = [rng.uniform(low, high) for low, high in RANGES]
    seen = [height * rng.gauss(1, 0.05) for height in flow(truth, *weather)]
    best, least = fit(rng, weather, Gauge(seen), 50)
    return [least, *best]


if __name__ == "__main__":
    run(one_pass)
