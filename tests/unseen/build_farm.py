# SPDX-License-Identifier: Apache-2.0
"""A build farm: jobs wait for free machines, and how urgent each is changes all the time with its wait and its project's share."""

import random
from collections import Counter

from runner import run

PROJECTS = ("kernel", "website", "tools", "docs", "images")
KINDS = {"build": 9, "test": 5, "lint": 2, "package": 4}


class Job:
    __slots__ = ("number", "project", "kind", "since", "left", "needs")

    def __init__(self, number, project, kind, since, left, needs):
        self.number = number
        self.project = project
        self.kind = kind
        self.since = since
        self.left = left
        self.needs = needs


def commits(rnd, minutes):
    """Each commit brings a build, and what can only begin after it."""
    number = 0
    for minute in range(minutes):
        fresh = []
        if rnd.random() < 0.55:
            project = rnd.choice(PROJECTS)
            first = number
            for kind, typical in KINDS.items():
                left = max(1, round(rnd.gauss(typical, 1.5)))
                fresh.append(Job(number, project, kind, minute, left, None if number == first else first))
                number += 1
        yield minute, fresh


class Farm:
    def __init__(self, machines):
        self.free = machines
        self.waiting = []
        self.running = []
        self.done = set()
        self.used = Counter()
        self.waits = []

    def urgency(self, job, minute):
        wait = minute - job.since
        return wait * wait / 40 - self.used[job.project] / 6 - job.left + (4 if job.kind == "lint" else 0)

    def assign(self, minute):
        """The wait of each job and the share of each project have changed since the minute before."""
        if not self.free:
            return
        ready = [job for job in self.waiting if job.needs is None or job.needs in self.done]
        order = sorted(ready, key=lambda job: (-self.urgency(job, minute), job.number))
        for job in order[: self.free]:
            self.free -= 1
            self.waiting.remove(job)
            self.running.append(job)
            self.waits.append(minute - job.since)

    def work(self):
        still = []
        for job in self.running:
            job.left -= 1
            self.used[job.project] += 1
            if job.left > 0:
                still.append(job)
            else:
                self.free += 1
                self.done.add(job.number)
        self.running = still
        for project in self.used:
            self.used[project] *= 0.98

    def minute(self, minute, fresh):
        self.waiting.extend(fresh)
        self.assign(minute)
        self.work()


def one_pass(number, step):
    rnd = random.Random(number)
    farm = Farm(rnd.randint(10, 13))
    longest = 0
    for minute, fresh in commits(rnd, 320):
        farm.minute(minute, fresh)
        longest = max(longest, len(farm.waiting))
    return len(farm.done), longest, max(farm.waits), sum(farm.waits), sorted(farm.used.items())


if __name__ == "__main__":
    run(one_pass)
