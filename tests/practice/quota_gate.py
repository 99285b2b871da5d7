# SPDX-License-Identifier: Apache-2.0
"""A gate before a public API: every tenant has quotas by method and path, from its plan, its contract and a campaign."""

import random
from collections import Counter, deque

from common import run

PLANS = {
    "free": "GET:120/60 POST:20/60 PUT:10/60 DELETE:5/60",
    "team": "GET:600/60 POST:200/60 PUT:80/60 DELETE:30/60",
    "firm": "GET:2400/60 POST:900/60 PUT:300/60 DELETE:100/60",
}
CONTRACTS = ("GET:+25% POST:+10%", "POST:+50%", "DELETE:-40% PUT:+5%", "")
CAMPAIGNS = ("", "GET:+100%", "GET:-30% POST:-30%")
PATHS = ("/orders", "/orders/lines", "/stock", "/people", "/reports")


def traffic(seed, tenants):
    rnd = random.Random(seed)
    now = 0.0
    for _ in range(6_000):
        now += rnd.expovariate(9.0)
        method = rnd.choices(("GET", "POST", "PUT", "DELETE"), (70, 20, 7, 3))[0]
        yield round(now, 3), rnd.choice(tenants), method, rnd.choice(PATHS), rnd.randrange(200, 90_000)


class Tenant:
    def __init__(self, name, plan, contract):
        self.name = name
        self.plan = plan
        self.contract = contract
        self.campaign = ""
        self.seen = {}
        self.bytes_sent = 0
        self.refused = 0

    def quotas(self):
        base = {}
        for part in PLANS[self.plan].split():
            method, amount = part.split(":")
            calls, period = amount.split("/")
            base[method] = int(calls), int(period)
        for change in (self.contract, self.campaign):
            for part in change.split():
                method, amount = part.split(":")
                calls, period = base[method]
                base[method] = int(calls * (1 + float(amount[:-1]) / 100)), period
        return base

    def remaining(self, method, now):
        calls, period = self.quotas()[method]
        window = self.seen.setdefault(method, deque())
        while window and window[0] <= now - period:
            window.popleft()
        return calls - len(window)

    def admit(self, now, method, size):
        left = self.remaining(method, now)
        if left <= 0:
            self.refused += 1
            return 0
        self.seen[method].append(now)
        self.bytes_sent += size
        return left


class TenantFixed(Tenant):
    def __init__(self, *settings):
        super().__init__(*settings)
        self.known = None, None

    def quotas(self):
        key = self.plan, self.contract, self.campaign
        if self.known[0] != key:
            self.known = key, super().quotas()
        return self.known[1]


class Gate:
    def __init__(self, tenants):
        self.tenants = {tenant.name: tenant for tenant in tenants}
        self.paths = Counter()
        self.lines = []

    def handle(self, now, name, method, path, size):
        tenant = self.tenants[name]
        left = tenant.admit(now, method, size)
        self.paths[path, left > 0] += 1
        self.lines.append("%010.3f %s %-6s %s %d left=%d" % (now, name, method, path, 200 if left else 429, left))


def one_pass(number, step):
    rnd = random.Random(-1 - number)
    names = ["t%05d" % rnd.randrange(100_000) for _ in range(12)]
    gate = Gate([step(name, rnd.choice(list(PLANS)), rnd.choice(CONTRACTS)) for name in dict.fromkeys(names)])
    for at, request in enumerate(traffic(number, list(gate.tenants))):
        if at % 1_500 == 700:
            gate.tenants[request[1]].campaign = rnd.choice(CAMPAIGNS)
        gate.handle(*request)
    sent = [(tenant.name, tenant.bytes_sent, tenant.refused) for tenant in gate.tenants.values()]
    return sent, sorted(gate.paths.items()), gate.lines[-2:]


if __name__ == "__main__":
    run(one_pass, Tenant, TenantFixed)
