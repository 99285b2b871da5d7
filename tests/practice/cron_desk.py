# SPDX-License-Identifier: Apache-2.0
"""Plans two days of a firm's batch jobs: runs follow from crontab lines, three workers take them up, delays and clashes are noted."""

import heapq
import random
import zlib
from collections import Counter
from datetime import datetime, timedelta

from common import run

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
RANGES = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 6))


def field(text, low, high):
    found = set()
    for part in text.split(","):
        span, _, step = part.partition("/")
        first, _, last = (str(low), "", str(high)) if span == "*" else span.partition("-")
        found.update(range(int(first), int(last or first) + 1, int(step or 1)))
    return frozenset(found)


class Cron:
    def __init__(self, line):
        self.minutes, self.hours, self.days, self.months, self.weekdays = (field(text, *span) for text, span in zip(line.split(), RANGES))

    def on_day(self, moment):
        return moment.month in self.months and moment.day in self.days and moment.isoweekday() % 7 in self.weekdays

    def matches(self, moment):
        return moment.minute in self.minutes and moment.hour in self.hours and self.on_day(moment)

    def next_after(self, moment):
        moment += MINUTE
        while not self.matches(moment):
            moment += MINUTE
        return moment


class SkippingCron(Cron):
    def next_after(self, moment):
        moment += MINUTE
        while True:
            if not self.on_day(moment):
                moment = moment.replace(hour=0, minute=0) + DAY
            elif moment.hour not in self.hours:
                moment = moment.replace(minute=0) + HOUR
            else:
                left = [minute for minute in self.minutes if minute >= moment.minute]
                if left:
                    return moment.replace(minute=min(left))
                moment = moment.replace(minute=0) + HOUR


class Job:
    def __init__(self, name, cron, usual):
        self.name, self.cron, self.usual = name, cron, usual
        self.free_at, self.durations = datetime.min, []


class Planner:
    def __init__(self, jobs, start, rnd):
        self.jobs, self.rnd = jobs, rnd
        self.queue = [(job.cron.next_after(start), at) for at, job in enumerate(jobs)]
        heapq.heapify(self.queue)
        self.workers = [start] * 3
        self.counts = Counter()
        self.late, self.check = timedelta(), 0

    def note(self, job, due, begun, minutes):
        entry = "%s due=%s begun=%s worker_minutes=%.2f" % (job.name, due.isoformat(), begun.isoformat(), minutes)
        self.check = zlib.crc32(entry.encode(), self.check)

    def take_up(self, job, due):
        if job.free_at > due:
            self.counts["skipped, still running"] += 1
            return
        begun = max(due, self.workers[0])
        minutes = self.rnd.lognormvariate(0, 0.5) * job.usual
        job.free_at = begun + timedelta(minutes=minutes)
        job.durations.append(minutes)
        heapq.heapreplace(self.workers, job.free_at)
        self.late += begun - due
        self.counts["late" if begun > due else "in time"] += 1
        self.note(job, due, begun, minutes)

    def plan(self, until):
        while self.queue[0][0] < until:
            due, at = self.queue[0]
            self.take_up(self.jobs[at], due)
            heapq.heapreplace(self.queue, (self.jobs[at].cron.next_after(due), at))


def crontab(rnd):
    for _ in range(2):
        yield "*/%d * * * *" % rnd.choice((5, 10, 15)), 0.3
    for _ in range(6):
        yield "%d %d-%d * * 1-5" % (rnd.randint(0, 59), rnd.randint(5, 8), rnd.randint(16, 22)), 2.0
    for _ in range(12):
        yield "%d %d * * *" % (rnd.randint(0, 59), rnd.randint(0, 6)), 20.0
    for _ in range(4):
        yield "%d 3 * * %d" % (rnd.randint(0, 59), rnd.randint(0, 6)), 60.0


def one_pass(number, kind):
    rnd = random.Random(number)
    jobs = [Job("job%02d" % at, kind(line), usual) for at, (line, usual) in enumerate(crontab(rnd))]
    start = datetime(2025, 1, 6) + DAY * (number % 300)
    planner = Planner(jobs, start, rnd)
    planner.plan(start + 2 * DAY)
    longest = [max(job.durations, default=0) for job in jobs]
    return planner.check, sorted(planner.counts.items()), planner.late.total_seconds(), longest


if __name__ == "__main__":
    run(one_pass, Cron, SkippingCron)
