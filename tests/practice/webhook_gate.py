# SPDX-License-Identifier: Apache-2.0
"""A gate for shops' webhooks: each call's signature is verified, its body read and its event routed."""

import hashlib
import hmac
import json
import random
from collections import Counter, defaultdict
from functools import lru_cache

from common import run

ROUNDS = 150
EVENTS = ("order.created", "order.paid", "order.refunded", "stock.changed", "customer.updated")


def signing_key(secret, version):
    return hashlib.pbkdf2_hmac("sha256", secret, b"hooks/%d" % version, ROUNDS)


class Gate:
    def __init__(self, secrets, key_for):
        self.secrets, self.key_for = secrets, key_for
        self.seen = set()
        self.counts = Counter()
        self.turnover = defaultdict(int)
        self.handlers = {"order.paid": self.paid, "order.refunded": self.refunded}

    def receive(self, headers, body):
        shop, version = headers["X-Shop"], int(headers["X-Key-Version"])
        key = self.key_for(self.secrets[shop], version)
        expected = hmac.new(key, headers["X-Time"].encode() + b"." + body, "sha256").hexdigest()
        if not hmac.compare_digest(expected, headers["X-Signature"]):
            self.counts["forged"] += 1
            return 401
        event = json.loads(body)
        if (shop, event["id"]) in self.seen:
            self.counts["again"] += 1
            return 200
        self.seen.add((shop, event["id"]))
        self.counts[event["type"]] += 1
        self.handlers.get(event["type"], self.ignored)(shop, event)
        return 202

    def paid(self, shop, event):
        self.turnover[shop] += sum(row["cents"] * row["pieces"] for row in event["rows"])

    def refunded(self, shop, event):
        self.turnover[shop] -= sum(row["cents"] * row["pieces"] for row in event["rows"])

    def ignored(self, shop, event):
        pass


def sent(rng, serial):
    rows = [
        {"sku": "%06x" % rng.getrandbits(24), "cents": rng.randint(99, 9999), "pieces": rng.randint(1, 5)}
        for _ in range(rng.randint(1, 6))
    ]
    body = {"id": "ev_%d" % serial, "type": rng.choice(EVENTS), "rows": rows, "note": "n" * rng.randint(0, 200)}
    return json.dumps(body).encode()


def calls(rng, keys, many):
    shops = list(keys)
    for serial in range(many):
        shop, body = rng.choice(shops), sent(rng, serial)
        version = rng.randint(0, 1)
        time = str(1_700_000_000 + serial * 3)
        signature = hmac.new(keys[shop][version], time.encode() + b"." + body, "sha256").hexdigest()
        if rng.random() < 0.02:
            signature = signature[::-1]
        yield {"X-Shop": shop, "X-Key-Version": str(version), "X-Time": time, "X-Signature": signature}, body


def one_pass(number, key_for):
    rng = random.Random(number * 7 + 1)
    secrets = {"shop%d" % k: rng.randbytes(24) for k in range(15)}
    keys = {shop: [signing_key(secret, version) for version in (0, 1)] for shop, secret in secrets.items()}
    gate = Gate(secrets, key_for)
    answers = Counter(gate.receive(*call) for call in calls(rng, keys, 1_500))
    return sorted(answers.items()), sorted(gate.counts.items()), sorted(gate.turnover.items())


if __name__ == "__main__":
    run(one_pass, signing_key, lru_cache(maxsize=64)(signing_key))
