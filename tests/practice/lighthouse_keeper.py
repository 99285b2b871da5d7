# SPDX-License-Identifier: Apache-2.0
"""Unmanned lighthouses: each lamp's task reads the weather, sets lamp and horn by the station's settings and logs it."""

import asyncio
import configparser
import math
import random

from common import run

LAMPS = ("Black Head", "Grey Rock", "Long Sands", "Old Mole")
HOURS = 12

TEXT = """\
[lamp]
power = {power}
dim = {dim}
flashes = {flashes}
period = {period}

[horn]
below = {below}
blasts = {blasts}

[heater]
below = {frost}
"""


class Settings:
    def __init__(self, text):
        self.text = text

    def get(self, section, key):
        parser = configparser.ConfigParser()
        parser.read_string(self.text)
        return parser.getfloat(section, key)


class SettingsFixed(Settings):
    def __init__(self, text):
        super().__init__(text)
        self.parser = configparser.ConfigParser()
        self.parser.read_string(self.text)

    def get(self, section, key):
        return self.parser.getfloat(section, key)


def station_text(rnd):
    return TEXT.format(
        power=rnd.randrange(400, 1500),
        dim=round(rnd.uniform(0.2, 0.6), 2),
        flashes=rnd.randrange(1, 5),
        period=rnd.choice([10, 15, 20, 30]),
        below=round(rnd.uniform(0.5, 2.5), 1),
        blasts=rnd.randrange(1, 4),
        frost=rnd.randrange(-2, 4),
    )


def seen_from(power, haze):
    """Nautical miles at which a light is just seen: Allard's law, solved by halving."""
    low, high = 0.01, 60.0
    for _ in range(40):
        middle = (low + high) / 2
        light = power * math.exp(-haze * middle) / (3.43e6 * middle * middle)
        if light > 2e-7:
            low = middle
        else:
            high = middle
    return low


class Lamp:
    def __init__(self, name, settings, rnd):
        self.name = name
        self.settings = settings
        self.rnd = rnd
        self.log = []
        self.charge = 100.0

    def weather(self, hour):
        haze = math.exp(self.rnd.gauss(-1.2, 0.9))
        return haze, 4 + 5 * math.sin(hour / 4) + self.rnd.gauss(0, 1)

    def flashes(self, hour, power):
        """What each flash of a quarter of an hour takes out of the battery."""
        flashes = int(self.settings.get("lamp", "flashes"))
        taken = 0.0
        for second in range(hour % 2, 900, 15):
            for flash in range(flashes):
                taken += power * 4e-7 * (1 + 0.02 * math.sin(second + flash + self.charge))
        self.charge = max(0.0, self.charge - taken)

    async def watch(self):
        for hour in range(HOURS):
            await asyncio.sleep(0)
            haze, air = self.weather(hour)
            power = self.settings.get("lamp", "power")
            miles = [seen_from(power * part, haze) for part in (1.0, 0.8, 0.6, 0.4, 0.2)]
            horn = miles[0] < self.settings.get("horn", "below")
            self.flashes(hour, power)
            self.log.append("%s %02d %.2f %.2f %s %.1f %.3f" % (self.name, hour, miles[0], miles[-1], horn, air, self.charge))
        return self.log


async def night(step, rnd):
    lamps = [Lamp(name, step(station_text(rnd)), random.Random(rnd.random())) for name in LAMPS]
    return await asyncio.gather(*(lamp.watch() for lamp in lamps))


def one_pass(number, step):
    return asyncio.run(night(step, random.Random(number)))


if __name__ == "__main__":
    run(one_pass, Settings, SettingsFixed)
