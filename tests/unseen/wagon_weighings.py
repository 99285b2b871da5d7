# SPDX-License-Identifier: Apache-2.0
"""Weighings of goods wagons, kept in Arrow tables: wagons that are too heavy or unevenly loaded, and the tons of each train."""

import random
from collections import defaultdict

import pyarrow as pa
import pyarrow.compute as pc

from runner import run

GOODS = ("ore", "grain", "timber", "steel", "gravel", "cement")
ROWS = 2_600


def weighings(seed):
    rnd = random.Random(seed)
    trains = sorted(seed * 100 + rnd.randrange(60) for _ in range(ROWS))
    gross = [rnd.gauss(71_000, 9_000) for _ in range(ROWS)]
    return pa.table(
        {
            "train": pa.array(trains, pa.int64()),
            "wagon": pa.array(["%04d-%07d" % (rnd.randrange(10**4), rnd.randrange(10**7)) for _ in range(ROWS)]),
            "goods": pa.array([rnd.choice(GOODS) for _ in range(ROWS)]).dictionary_encode(),
            "front": pa.array([kilos * rnd.gauss(0.5, 0.02) for kilos in gross], pa.float64()),
            "gross": pa.array(gross, pa.float64()),
        }
    )


class Report:
    def __init__(self, limit):
        self.limit = limit
        self.warned = []
        self.streaks = defaultdict(int)
        self.worst = {}

    def warn(self, train, wagon, text):
        head = f"{train:06d}/{wagon} {text}"
        check = 0
        for sign in head.encode():
            check = (check * 17 + sign) % 9973
        self.warned.append(f"{head} [{check:04d}]")

    def take(self, train, wagon, front, gross):
        if gross > self.limit:
            self.streaks[train] += 1
            self.warn(train, wagon, f"{gross - self.limit:.0f} kg too heavy, {self.streaks[train]} in a row")
        else:
            self.streaks[train] = 0
        tilt = front / gross - 0.5
        if abs(tilt) > 0.035:
            self.warn(train, wagon, f"{100 * tilt:+.2f} % to the front")
        if abs(tilt) > abs(self.worst.get(train, (0.0, ""))[0]):
            self.worst[train] = tilt, wagon


def read_all(table, report):
    trains, wagons = table.column("train"), table.column("wagon")
    fronts, grosses = table.column("front"), table.column("gross")
    for at in range(table.num_rows):
        report.take(trains[at].as_py(), wagons[at].as_py(), fronts[at].as_py(), grosses[at].as_py())


def read_all_fixed(table, report):
    columns = (table.column(name).to_pylist() for name in ("train", "wagon", "front", "gross"))
    for train, wagon, front, gross in zip(*columns):
        report.take(train, wagon, front, gross)


def tons(table):
    sums = table.group_by("train").aggregate([("gross", "sum"), ("wagon", "count")]).sort_by("train")
    ore = table.filter(pc.equal(table.column("goods"), "ore"))
    return sums.column("gross_sum").to_pylist(), sums.column("wagon_count").to_pylist(), pc.sum(ore.column("gross")).as_py()


def one_pass(number, step):
    table = weighings(number)
    report = Report(limit=82_000)
    step(table, report)
    sums, counts, ore = tons(table)
    worst = sorted(report.worst.items())[:4]
    return len(report.warned), report.warned[-2:], worst, sum(sums), max(counts), ore


if __name__ == "__main__":
    run(one_pass, read_all, read_all_fixed)
