# SPDX-License-Identifier: Apache-2.0
"""A shop's watchman: reads the proxy's log of today and scores slow answers against what each path took yesterday."""

import random
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from operator import attrgetter
from statistics import NormalDist

from common import run

PATHS = ["/cart", "/pay", "/search", "/login", "/item", "/stock", "/ship", "/vouchers"]
HISTORY, LINES = 110, 2400
SUSPECT = 1.9


@dataclass
class Hit:
    path: str
    status: int
    millis: float
    region: str


@dataclass
class Alert:
    path: str
    region: str
    score: float
    millis: float


@dataclass
class Summary:
    seen: int = 0
    failed: int = 0
    regions: Counter = field(default_factory=Counter)
    slowest: float = 0.0


def make_log(rnd):
    for _ in range(LINES):
        path = rnd.choice(PATHS)
        millis = rnd.lognormvariate(4.2 + len(path) / 20, 0.5)
        status = 200 if rnd.random() < 0.97 else rnd.choice((500, 502, 504))
        yield f'{rnd.randint(1, 223)}.{rnd.randint(0, 255)}.7.9 {rnd.choice(("eu", "us", "ap"))} "GET {path}?q={rnd.getrandbits(32):x}" {status} {millis:.3f}ms'


def read_log(lines):
    for line in lines:
        address, region, rest = line.split(" ", 2)
        request, tail = rest[1:].rsplit('" ', 1)
        status, took = tail.split()
        path = request.split(" ", 1)[1].partition("?")[0]
        yield Hit(path, int(status), float(took[:-2]), region)


def summarise(hits):
    table, by_path = defaultdict(Summary), defaultdict(list)
    for hit in hits:
        by_path[hit.path].append(hit)
        entry = table[hit.path]
        entry.seen += 1
        entry.failed += hit.status >= 500
        entry.regions[hit.region] += 1
        entry.slowest = max(entry.slowest, hit.millis)
    return table, by_path


def slow_answers(hits, limit):
    return [hit for hit in hits if hit.status < 500 and hit.millis > limit]


class Watch:
    def __init__(self, history):
        self.history = history

    def alerts(self, path, hits):
        """Answers that are rare by yesterday's measure, the rarest first."""
        found = []
        yesterday = self.history[path]
        for hit in hits:
            score = NormalDist.from_samples(yesterday).zscore(hit.millis)
            if score > SUSPECT:
                found.append(Alert(path, hit.region, round(score, 4), hit.millis))
        return sorted(found, key=attrgetter("score"), reverse=True)


class WatchFix(Watch):
    def alerts(self, path, hits):
        found = []
        usual = NormalDist.from_samples(self.history[path])
        for hit in hits:
            score = usual.zscore(hit.millis)
            if score > SUSPECT:
                found.append(Alert(path, hit.region, round(score, 4), hit.millis))
        return sorted(found, key=attrgetter("score"), reverse=True)


def one_pass(number, watch_of):
    rnd = random.Random(number)
    history = {path: [rnd.lognormvariate(4.2 + len(path) / 20, 0.5) for _ in range(HISTORY)] for path in PATHS}
    watch = watch_of(history)
    table, by_path = summarise(read_log(make_log(rnd)))
    report = []
    for path in sorted(table):
        slow = slow_answers(by_path[path], 0.62 * table[path].slowest)
        report.append((path, table[path].seen, table[path].failed, [alert.score for alert in watch.alerts(path, slow)][:3]))
    return report


if __name__ == "__main__":
    run(one_pass, Watch, WatchFix)
