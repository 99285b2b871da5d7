# SPDX-License-Identifier: Apache-2.0
"""A glacier's summer from its stakes: degree days, melt, what the firn keeps, and the balance by height."""

import csv
import io

import numpy as np

from common import run

STAKES, DAYS = 30, 150
HOURS = 24 * DAYS
SNOW, ICE = 4.1, 7.3  # mm of water for each degree and day
NOTES = [" Snow", "ice ", "slush", "drilled anew"]


def make_season(seed):
    rng = np.random.default_rng(seed)
    height = np.sort(rng.uniform(2300, 3350, STAKES))
    hour = np.arange(HOURS)
    season = 6 * np.sin(np.pi * hour / HOURS) - 3 * np.cos(hour * np.pi / 12) + rng.normal(0, 0.05, HOURS).cumsum()
    air = season + (2700 - height[:, None]) * 0.0062 + rng.normal(0, 0.4, (STAKES, HOURS))
    winter = rng.normal(1450, 120, STAKES) + (height - 2700) * 0.7
    return height, air, winter


def degree_days(air, stake, first, last):
    return sum(air[stake, hour] for hour in range(24 * first, 24 * last) if air[stake, hour] > 0) / 24


def degree_days_fixed(air, stake, first, last):
    hours = air[stake, 24 * first : 24 * last]
    return hours[hours > 0].sum() / 24


def read_diary(text):
    """The days on which the guide went by: stake, day, and what she wrote."""
    visits = {}
    for row in csv.DictReader(io.StringIO(text)):
        visits.setdefault(int(row["stake"]), []).append((int(row["day"]), row["note"].strip().lower()))
    return visits


def write_diary(rng):
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["stake", "day", "note"])
    for day in range(24, DAYS, 25):
        for stake in range(STAKES):
            writer.writerow([stake, day + int(rng.integers(0, 4)), NOTES[rng.integers(0, 4)]])
    return out.getvalue()


def refreeze(layers, water):
    """Melt water runs down the firn and freezes where it is cold enough."""
    kept = 0.0
    for n, (mass, cold) in enumerate(layers):
        takes = min(water, 0.0063 * mass * cold)
        layers[n] = (mass + takes, cold - 159 * takes / mass)
        kept += takes
        water -= takes
        if water <= 0:
            break
    return kept


def balance(stake, air, winter, visits, degrees):
    layers = [(60.0 + 9 * n, 2.0 + 0.4 * n) for n in range(8)]
    left, before, ran_off = winter[stake], 0, 0.0
    wet = 0
    for day, note in sorted(visits):
        day = min(day, DAYS)
        melt = degrees(air, stake, before, day) * (SNOW if left > 0 else ICE)
        share = melt / max(day - before, 1)
        for _ in range(before, day):
            ran_off += share - refreeze(layers, share)
        left = max(left - melt, 0.0)
        wet += note == "slush"
        before = day
    density = sum(mass for mass, _ in layers) / len(layers)
    return winter[stake] - ran_off, density, wet


def one_pass(number, degrees):
    height, air, winter = make_season(number)
    visits = read_diary(write_diary(np.random.default_rng(number + 7)))
    table = [balance(stake, air, winter, visits[stake], degrees) for stake in range(STAKES)]
    net = np.array([row[0] for row in table])
    slope, _ = np.polyfit(height, net, 1)
    line = float(np.interp(0.0, np.sort(net), height))
    return float(net.mean()), float(slope), line, float(sum(row[1] for row in table)), int(sum(row[2] for row in table))


if __name__ == "__main__":
    run(one_pass, degree_days, degree_days_fixed)
