# SPDX-License-Identifier: Apache-2.0
"""A day of a delivery firm's vans, a column table from their boxes: each van's way, idling, hard braking and thirst."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from runner import run

VANS = 48
ROWS = 24_000


def day(seed):
    """Rows in the order of time, as the boxes sent them; some boxes are silent for a while."""
    rng = np.random.default_rng(seed)
    van = rng.integers(0, VANS, ROWS)
    table = pa.table(
        {
            "at": np.sort(rng.integers(0, 36_000, ROWS)),
            "van": van,
            "speed": np.clip(rng.normal(38, 22, ROWS), 0, None),
            "fuel": rng.gamma(2.0, 2.0, ROWS),
            "brake": rng.exponential(1.0, ROWS),
            "door": rng.random(ROWS) < 0.1,
        }
    )
    return table.filter(pa.array((van % 7 > 0) | (rng.random(ROWS) < 0.5)))


def by_van(table):
    for van in range(VANS):
        yield van, table.filter(pc.equal(table["van"], van))


def by_van_fixed(table):
    vans = table["van"].to_numpy()
    table = table.take(pa.array(np.argsort(vans, kind="stable")))
    edges = np.searchsorted(np.sort(vans), np.arange(VANS + 1)).tolist()
    for van, (start, end) in enumerate(zip(edges, edges[1:])):
        yield van, table.slice(start, end - start)


class Sheet:
    def __init__(self):
        self.lines = []
        self.stops = 0
        self.worst = 0.0

    def add(self, van, rows):
        at = rows["at"].to_numpy()
        if len(at) < 3:
            return
        speed = rows["speed"].to_numpy()
        hours = np.diff(at) / 3600
        way = float((speed[1:] * hours).sum())
        idle = float(hours[speed[1:] < 5].sum())
        fuel = float((rows["fuel"].to_numpy()[1:] * hours).sum())
        brakes = rows["brake"].to_numpy()
        hard = int((brakes > 3.5).sum())
        self.worst = max(self.worst, float(brakes.max()))
        self.stops += pc.sum(rows["door"]).as_py()
        self.lines.append((van, way, idle, 100 * fuel / max(way, 1.0), hard))

    def thirsty(self, count):
        return sorted(self.lines, key=lambda line: -line[3])[:count]


def one_pass(number, by_van):
    table = day(number)
    sheet = Sheet()
    for van, rows in by_van(table):
        sheet.add(van, rows)
    return len(sheet.lines), sheet.stops, sheet.worst, sheet.thirsty(4), sheet.lines[-1]


if __name__ == "__main__":
    run(one_pass, by_van, by_van_fixed)
