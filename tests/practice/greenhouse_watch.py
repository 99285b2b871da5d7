# SPDX-License-Identifier: Apache-2.0
"""A day in a greenhouse: vents and heating follow what the simulated climate's sensors say."""

import native
from common import run

smallkit = native.load("smallkit.c")

SETTLE = 60.0


class Median:
    """The sensors jitter, so three readings are taken and the middle one is believed."""

    def __init__(self, read):
        self.read = read

    def __call__(self):
        return sorted((self.read(), self.read(), self.read()))[1]


def schedule():
    for minute in range(24 * 60):
        hour = minute // 60
        yield minute, 21.0 if 6 <= hour < 20 else 15.5


def keeper(climate):
    air, soil = Median(climate.air), Median(climate.soil)
    vent = heat = 0.0

    def keep(wanted):
        nonlocal vent, heat
        off = air() - wanted
        vent = min(max(vent + 0.05 * off, 0.0), 1.0)
        heat = min(max(heat - 0.08 * off + (0.1 if soil() < 12 else 0.0), 0.0), 1.0)
        if climate.damp() > 0.8:
            vent = max(vent, 0.2)
        climate.set(vent, heat)
        return vent, heat

    return keep


def day(seed):
    climate = smallkit.Climate(seed)
    keep = keeper(climate)
    fuel = aired = 0.0
    coldest = hottest = climate.air()
    for minute, wanted in schedule():
        climate.advance(SETTLE)
        vent, heat = keep(wanted)
        fuel += heat
        aired += vent
        now = climate.air()
        coldest, hottest = min(coldest, now), max(hottest, now)
    return round(fuel, 3), round(aired, 3), coldest, hottest, climate.soil()


def one_pass(number, step):
    return [day(20 * number + bed) for bed in range(20)]


if __name__ == "__main__":
    run(one_pass)
