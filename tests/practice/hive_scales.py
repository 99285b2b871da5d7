# SPDX-License-Identifier: Apache-2.0
"""Writes the day's readings of the scales under an apiary's hives as a table for the beekeepers' society."""

import csv
import dataclasses
import io
import random
from dataclasses import dataclass

from common import run

HIVES = 36
HOURS = 24
COLUMNS = ("hive", "hour", "grams", "inside", "outside", "humidity", "hum_hz", "flights")


@dataclass
class Reading:
    hive: str
    hour: int
    grams: int
    inside: float
    outside: float
    humidity: float
    hum_hz: int
    flights: int

    def brooding(self):
        return 33.5 <= self.inside <= 36.2

    def swarming(self):
        return self.hum_hz > 400 and self.flights > 500


def row_of(reading):
    return dataclasses.asdict(reading)


def row_of_fixed(reading):
    return vars(reading)


def day(seed):
    rnd = random.Random(seed)
    for number in range(HIVES):
        grams = rnd.randrange(24000, 52000)
        for hour in range(HOURS):
            busy = max(0, 6 - abs(13 - hour))
            flights = busy * rnd.randrange(190)
            grams += flights // 9 - rnd.randrange(25)
            warm = 12 + busy * 1.5 + rnd.random()
            inside = round(34.8 + rnd.gauss(0, 0.8), 2)
            yield Reading(
                "H%d-%02d" % (seed, number), hour, grams, inside, round(warm, 2), round(rnd.uniform(48, 75), 1),
                rnd.randrange(180, 440), flights,
            )


class Table:
    def __init__(self):
        self.text = io.StringIO()
        self.writer = csv.DictWriter(self.text, COLUMNS)
        self.writer.writeheader()

    def add(self, row):
        self.writer.writerow(row)

    def lines(self):
        return self.text.getvalue().splitlines()


def gains(readings):
    first, last = {}, {}
    for reading in readings:
        first.setdefault(reading.hive, reading.grams)
        last[reading.hive] = reading.grams
    return {hive: last[hive] - grams for hive, grams in first.items()}


def one_pass(number, step):
    table = Table()
    readings = []
    for reading in day(number):
        table.add(step(reading))
        readings.append(reading)
    gained = gains(readings)
    lines = table.lines()
    brooding = sum(reading.brooding() for reading in readings)
    swarming = sum(reading.swarming() for reading in readings)
    return brooding, swarming, max(gained.values()), len(lines), lines[17], sum(map(len, lines))


if __name__ == "__main__":
    run(one_pass, row_of, row_of_fixed)
