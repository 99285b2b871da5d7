# SPDX-License-Identifier: Apache-2.0
"""Merges the time-ordered CSV feeds of a wind farm's turbines and reports each minute."""

import base64
import csv
import heapq
import io
import itertools
import random

from common import run


def make_feed(rng, turbine, rows):
    text = io.StringIO()
    writer = csv.writer(text, delimiter=";")
    second = rng.randrange(5)
    for _ in range(rows):
        state = base64.b64encode(rng.randbytes(6)).decode()
        writer.writerow([second, turbine, "%.2f" % rng.uniform(0, 25), "%.1f" % rng.uniform(-5, 2100), state])
        second += rng.randrange(1, 9)
    text.seek(0)
    return text


class Feed:
    def __init__(self, text):
        self.rows = csv.reader(text, delimiter=";")
        self.read = 0

    def __iter__(self):
        return self

    def __next__(self):
        row = next(self.rows)
        self.read += 1
        return int(row[0]), row[1], float(row[2]), float(row[3]), row[4]


def faults(state):
    return sum(bin(byte).count("1") > 6 for byte in base64.b64decode(state))


def minutes(feeds):
    merged = heapq.merge(*feeds)
    for minute, rows in itertools.groupby(merged, key=lambda row: row[0] // 60):
        power, gust, alarms = {}, 0.0, 0
        for second, turbine, wind, watts, state in rows:
            power[turbine] = watts
            gust = max(gust, wind)
            alarms += faults(state)
        yield minute, sum(power.values()), gust, alarms


def steepest(reports, width=5):
    """The fastest rise of power over some minutes, and when."""
    best = 0.0, None
    window = []
    reports = iter(reports)
    while True:
        report = next(reports, None)
        if report is None:
            return best
        window.append(report)
        if len(window) > width:
            window.pop(0)
        rise = window[-1][1] - window[0][1]
        best = max(best, (rise, report[0]), key=lambda pair: pair[0])


def one_pass(number, _):
    rng = random.Random(number)
    feeds = [Feed(make_feed(rng, "T%02d" % turbine, 400)) for turbine in range(10)]
    for_rise, for_alarms = itertools.tee(minutes(feeds))
    rise, minute = steepest(for_rise)
    alarms = sum(report[3] for report in for_alarms)
    return [rise, minute, alarms, sum(feed.read for feed in feeds)]


if __name__ == "__main__":
    run(one_pass)
