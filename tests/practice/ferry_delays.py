# SPDX-License-Identifier: Apache-2.0
"""Delays of ferry crossings by harbour and hour, from the harbour master's JSON lines."""

import json
import random
from collections import defaultdict
from datetime import datetime, timedelta

from common import run

HARBOURS = ["Fynshav", "Bojden", "Havneby", "Sjaelland", "Odden", "Aarhus"]


def make_lines(rng, count):
    when = datetime(2023, rng.randrange(1, 12), rng.randrange(1, 28), 5)
    for _ in range(count):
        when += timedelta(seconds=rng.randrange(20, 900))
        real = when + timedelta(seconds=int(rng.gammavariate(1.5, 240)) - 60)
        yield json.dumps(
            {
                "from": rng.choice(HARBOURS),
                "to": rng.choice(HARBOURS),
                "planned": when.isoformat(),
                "left": real.isoformat(),
                "load": {"cars": rng.randrange(120), "lorries": rng.randrange(14), "foot": rng.randrange(300)},
                "wind": round(rng.gammavariate(4, 2), 1),
            }
        )


def read_time(text):
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%S")


def read_time_fixed(text):
    return datetime.fromisoformat(text)


class Delays:
    def __init__(self, read):
        self.read = read
        self.by_hour = defaultdict(list)
        self.by_harbour = defaultdict(list)
        self.heavy = []

    def add(self, line):
        crossing = json.loads(line)
        planned = self.read(crossing["planned"])
        late = (self.read(crossing["left"]) - planned).total_seconds()
        self.by_hour[planned.strftime("%a %H")].append(late)
        self.by_harbour[crossing["from"]].append(late)
        length = 4.5 * crossing["load"]["cars"] + 17 * crossing["load"]["lorries"]
        if late > 600 and length > 400:
            self.heavy.append("%s %s %.0f m" % (planned.isoformat(), crossing["to"], length))

    def table(self):
        for name, late in sorted(self.by_harbour.items()):
            ranked = sorted(late)
            yield [name, len(late), ranked[len(ranked) // 2], ranked[int(0.9 * len(ranked))]]
        worst = max(self.by_hour, key=lambda hour: (sum(self.by_hour[hour]) / len(self.by_hour[hour]), hour))
        yield [worst, len(self.heavy)]


def one_pass(number, read):
    delays = Delays(read)
    for line in make_lines(random.Random(number), 1500):
        delays.add(line)
    return list(delays.table())


if __name__ == "__main__":
    run(one_pass, read_time, read_time_fixed)
