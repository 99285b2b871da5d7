# SPDX-License-Identifier: Apache-2.0
"""The gateway in front of a SaaS's services: rate limits by tenant, headers for the service behind, a usage record for billing."""

import hmac
import json
import random
from collections import Counter, deque
from dataclasses import asdict, dataclass
from typing import Dict

from common import run

KEY = b"not a secret"
ROUTES = {"/v1/orders": 3, "/v1/items": 1, "/v1/export": 12, "/v1/search": 5}


@dataclass(frozen=True)
class Limit:
    window: int
    cost: int


@dataclass(frozen=True)
class Policy:
    plan: str
    region: str
    limits: Dict[str, Limit]


@dataclass
class Request:
    number: int
    tenant: str
    route: str
    body: dict


class PolicyBook:
    def __init__(self, policies):
        self.policies = policies

    def claims(self, tenant):
        """The policy as the services want it: plain data."""
        return asdict(self.policies[tenant])


class PolicyBookFixed(PolicyBook):
    def __init__(self, policies):
        super().__init__(policies)
        self.plain = {}

    def claims(self, tenant):
        if tenant not in self.plain:
            self.plain[tenant] = super().claims(tenant)
        return self.plain[tenant]


class Gateway:
    def __init__(self, book):
        self.book = book
        self.recent = {}
        self.usage = Counter()
        self.refused = Counter()
        self.last = ""

    def allowed(self, request, claims):
        limit = claims["limits"][request.route]
        recent = self.recent.setdefault((request.tenant, request.route), deque())
        while recent and recent[0] <= request.number - limit["window"]:
            recent.popleft()
        if len(recent) * ROUTES[request.route] >= limit["cost"]:
            return False
        recent.append(request.number)
        return True

    def weigh(self, body):
        worth = 0.0
        for line in body["lines"]:
            worth += line["count"] * line["price"]
        return int(worth) // 10

    def sign(self, request, claims):
        head = {"n": request.number, "plan": claims["plan"], "region": claims["region"], "body": request.body}
        text = json.dumps(head).encode()
        return hmac.new(KEY, text, "sha256").hexdigest()

    def handle(self, request):
        claims = self.book.claims(request.tenant)
        if not self.allowed(request, claims):
            self.refused[request.tenant, request.route] += 1
            return 429
        self.last = self.sign(request, claims)
        self.usage[request.tenant] += ROUTES[request.route] + self.weigh(request.body)
        return 200


def policies(rnd):
    for at in range(24):
        limits = {route: Limit(rnd.randint(200, 900), rnd.randint(20, 90)) for route in ROUTES}
        yield "t%02d" % at, Policy(rnd.choice(("free", "team", "firm")), rnd.choice(("eu", "us")), limits)


def traffic(rnd, tenants):
    routes = list(ROUTES)
    for number in range(600):
        lines = [{"item": rnd.randrange(10_000), "count": rnd.randint(1, 9), "price": rnd.random()} for _ in range(rnd.randint(1, 12))]
        body = {"lines": lines, "note": "%032x" % rnd.getrandbits(128)}
        yield Request(number, rnd.choice(tenants), rnd.choice(routes), body)


def one_pass(number, book):
    rnd = random.Random(number)
    known = dict(policies(rnd))
    gateway = Gateway(book(known))
    answers = Counter(gateway.handle(request) for request in traffic(rnd, list(known)))
    return sorted(answers.items()), sorted(gateway.usage.items()), sorted(gateway.refused.items()), gateway.last


if __name__ == "__main__":
    run(one_pass, PolicyBook, PolicyBookFixed)
