# SPDX-License-Identifier: Apache-2.0
"""Nightly report from a shop's access log: requests a minute, slow paths, clients that knock too often."""

import random
import re
from bisect import insort
from collections import Counter, defaultdict
from datetime import datetime, timedelta

from common import run

LINE = re.compile(r'(\S+) - - \[([^\]]+)\] "([A-Z]+) (\S+) HTTP/1\.1" (\d{3}) (\d+) (\d+)ms')
NUMBER = re.compile(r"/\d+")
FORMAT = "%d/%b/%Y:%H:%M:%S"
SHELVES = ("tea", "coffee", "cups", "kettles", "tins")


class Clock:
    """Reads the time stamps of one file."""

    def read(self, text):
        return datetime.strptime(text, FORMAT)


class ClockFixed(Clock):
    def __init__(self):
        self.text = self.moment = None

    def read(self, text):
        if text != self.text:
            self.text, self.moment = text, super().read(text)
        return self.moment


def lines(seed):
    rnd = random.Random(seed)
    now = datetime(2024, 3, 1, 6) + timedelta(days=seed % 300, seconds=rnd.randrange(9000))
    for _ in range(130):
        now += timedelta(seconds=rnd.randint(1, 4))
        stamp = now.strftime(FORMAT)
        for _ in range(rnd.randint(4, 22)):
            path = "/%s/%d" % (rnd.choice(SHELVES), rnd.randrange(400)) if rnd.random() < 0.8 else "/basket"
            client = "10.0.%d.%d" % (rnd.randrange(4), rnd.randrange(200))
            status = 200 if rnd.random() < 0.93 else rnd.choice((301, 404, 500))
            spent = int(rnd.expovariate(1 / 80))
            yield '%s - - [%s] "GET %s HTTP/1.1" %d %d %dms' % (client, stamp, path, status, rnd.randrange(200, 90_000), spent)


class Report:
    def __init__(self, clock, day):
        self.clock = clock
        self.day = day
        self.minutes = Counter()
        self.spent = defaultdict(list)
        self.last_seen = {}
        self.knocks = Counter()
        self.errors = []
        self.sent = 0

    def add(self, line):
        match = LINE.match(line)
        if match is None:
            return
        client, stamp, method, path, status, size, spent = match.groups()
        moment = self.clock.read(stamp)
        self.minutes[moment.hour * 60 + moment.minute] += 1
        self.sent += int(size)
        insort(self.spent[method, NUMBER.sub("/*", path)], int(spent))
        before = self.last_seen.get(client)
        if before is not None and (moment - before).total_seconds() < 2:
            self.knocks[client] += 1
        self.last_seen[client] = moment
        if status == "500":
            self.errors.append((moment.isoformat(), path))

    def slowest(self, share):
        for key, spent in sorted(self.spent.items()):
            yield key, spent[int(share * (len(spent) - 1))], len(spent)


def one_pass(number, clock):
    report = Report(clock(), number)
    for line in lines(number):
        report.add(line)
    return report.sent, list(report.slowest(0.95)), report.minutes.most_common(3), report.knocks.most_common(5), report.errors[:3]


if __name__ == "__main__":
    run(one_pass, Clock, ClockFixed)
