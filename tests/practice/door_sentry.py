# SPDX-License-Identifier: Apache-2.0
"""A web site's sentry: requests are named by the network they come from, counted over a sliding window, let in or put off."""

import functools
import ipaddress
import random
from collections import Counter, deque
from dataclasses import dataclass

from common import run

WINDOW = 900
LIMITS = {"office": 40, "partner": 20, "hosting": 9, "anyone": 12}


@dataclass(slots=True)
class Request:
    second: int
    client: str
    path: str
    size: int


class Networks:
    """Names of networks; the narrowest that holds an address counts."""

    def __init__(self, table):
        self.table = [(ipaddress.ip_network(text), name) for text, name in table]
        self.table.sort(key=lambda row: -row[0].prefixlen)

    def kind(self, client):
        address = ipaddress.ip_address(client)
        for network, name in self.table:
            if address in network:
                return name
        return "anyone"


class NetworksFixed(Networks):
    def __init__(self, table):
        super().__init__(table)
        self.kind = functools.lru_cache(4096)(super().kind)


class Sentry:
    def __init__(self, networks):
        self.networks = networks
        self.recent = deque()
        self.counts = Counter()
        self.served = Counter()
        self.put_off = Counter()
        self.lines = []

    def expire(self, now):
        while self.recent and self.recent[0][0] <= now - WINDOW:
            _, client, weight = self.recent.popleft()
            self.counts[client] -= weight

    def weight(self, request):
        """Searches and large bodies weigh more."""
        weight = 3 if request.path.startswith("/search") else 1
        return weight + request.size // 40_000

    def log(self, request, kind, verdict):
        path, _, query = request.path.partition("?")
        self.lines.append(f"{request.second:>6} {request.client:<15} {kind:<8} {verdict} {path} {len(query)} {request.size}")

    def ask(self, request):
        self.expire(request.second)
        kind = self.networks.kind(request.client)
        weight = self.weight(request)
        if self.counts[request.client] + weight > LIMITS[kind]:
            self.put_off[kind] += 1
            self.log(request, kind, "429")
            return False
        self.counts[request.client] += weight
        self.recent.append((request.second, request.client, weight))
        self.served[kind] += 1
        self.log(request, kind, "200")
        return True


def address_plan(rnd):
    plan = [("10.0.0.0/8", "office"), ("192.168.0.0/16", "office")]
    for _ in range(7):
        first = "%d.%d" % (rnd.randint(11, 190), rnd.randint(0, 255))
        plan.append((first + ".0.0/16", "hosting"))
        plan.append((first + ".%d.0/24" % rnd.randint(0, 255), "partner"))
    return plan


def clients(rnd, plan):
    for text, _ in rnd.choices(plan, k=90):
        network = ipaddress.ip_network(text)
        yield str(network[rnd.randrange(network.num_addresses)])
    for _ in range(60):
        yield "%d.%d.%d.%d" % (rnd.randint(11, 190), rnd.randint(0, 255), rnd.randint(0, 255), rnd.randint(1, 254))


def one_pass(number, networks):
    rnd = random.Random(number)
    plan = address_plan(rnd)
    known = list(clients(rnd, plan))
    sentry = Sentry(networks(plan))
    second = 0
    for _ in range(1_500):
        second += rnd.randint(0, 2)
        path = rnd.choice(("/", "/search?q=%x" % rnd.getrandbits(40), "/item/%d" % rnd.randint(1, 9_999), "/cart"))
        sentry.ask(Request(second, rnd.choice(known), path, int(rnd.expovariate(1 / 9_000))))
    return sorted(sentry.served.items()), sorted(sentry.put_off.items()), len("\n".join(sentry.lines)), sentry.lines[-1]


if __name__ == "__main__":
    run(one_pass, Networks, NetworksFixed)
