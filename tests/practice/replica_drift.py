# SPDX-License-Identifier: Apache-2.0
"""Compares what runs on a cluster with what should: replicas answer in turn, and what drifted is listed for the one on duty."""

import asyncio
import hashlib
import json
import random
from collections import Counter

from common import run

NAMES = ("api", "worker", "mailer", "search", "ledger")
DEFAULTS = {"cpu": 500, "memory": 256, "probes": {"path": "/health", "period": 10}}
PHASES = ("pull", "start", "ready", "probe", "drain")


def digest(document):
    text = json.dumps(document, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


class Service:
    """What the repository wants of it; `published` is what the cluster was given."""

    def __init__(self, rnd, name):
        self.name = name
        variables = {"VAR_%02d" % at: "%012x" % rnd.getrandbits(48) for at in range(rnd.randint(8, 20))}
        mounts = [{"name": "vol%d" % at, "path": "/srv/%x" % rnd.getrandbits(20), "size": rnd.randint(1, 64)} for at in range(4)]
        self.wanted = {"image": name, "tag": "v1", **DEFAULTS, "env": variables, "mounts": mounts}
        self.published = digest(self.wanted)

    def release(self, tag):
        self.wanted = {**self.wanted, "tag": tag}
        self.published = digest(self.wanted)


class Replica:
    def __init__(self, rnd, service, at):
        self.rnd = rnd
        self.service = service
        self.name = "%s-%d" % (service.name, at)
        self.config = service.published

    async def describe(self):
        await asyncio.sleep(0)
        rnd = self.rnd
        if rnd.random() < 0.1:
            self.config = self.service.published
        elif rnd.random() < 0.05:
            self.config = "%064x" % rnd.getrandbits(256)
        events = [{"phase": rnd.choice(PHASES), "at": rnd.randrange(10**6), "took": rnd.random()} for _ in range(rnd.randint(1, 6))]
        return json.dumps({"name": self.name, "config": self.config, "load": rnd.random(), "events": events})


class Watch:
    def __init__(self, services, replicas):
        self.services = services
        self.replicas = replicas
        self.drifted = {}
        self.took = Counter()
        self.busiest = 0.0

    def wanted(self, service):
        return digest(service.wanted)

    async def look(self, replica):
        status = json.loads(await replica.describe())
        self.busiest = max(self.busiest, status["load"])
        for event in sorted(status["events"], key=lambda event: event["at"]):
            self.took[event["phase"]] += round(1000 * event["took"])
        if status["config"] == self.wanted(replica.service):
            self.drifted.pop(status["name"], None)
            return 0
        self.drifted[status["name"]] = status["config"][:12]
        return 1

    async def round(self):
        return sum(await asyncio.gather(*(self.look(replica) for replica in self.replicas)))


class WatchFixed(Watch):
    def __init__(self, services, replicas):
        super().__init__(services, replicas)
        self.digests = {}

    def wanted(self, service):
        known = self.digests.get(service.name)
        if known is None or known[0] is not service.wanted:
            known = self.digests[service.name] = service.wanted, super().wanted(service)
        return known[1]


async def shift(number, kind):
    rnd = random.Random(number)
    services = [Service(rnd, name) for name in NAMES]
    watch = kind(services, [Replica(rnd, service, at) for service in services for at in range(12)])
    counts = []
    for turn in range(9):
        counts.append(await watch.round())
        if turn % 3 == 2:
            rnd.choice(services).release("v%d.%d" % (turn, rnd.randint(0, 30)))
    return counts, sorted(watch.drifted.items()), sorted(watch.took.items()), watch.busiest


def one_pass(number, kind):
    return asyncio.run(shift(number, kind))


if __name__ == "__main__":
    run(one_pass, Watch, WatchFixed)
