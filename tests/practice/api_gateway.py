# SPDX-License-Identifier: Apache-2.0
"""A little gateway: signed JSON requests in, routed JSON answers out."""

import hashlib
import hmac
import json
import random

from common import run

SETTINGS_TEXT = json.dumps(
    {
        "version": 7,
        "clients": {"client-%02d" % n: {"secret": "s3cr%dt" % (n * 7919), "quota": 40 + n} for n in range(24)},
        "routes": {
            "/orders": {"backend": "orders.internal", "timeout": 2.5, "fields": ["id", "sku", "qty"]},
            "/users": {"backend": "users.internal", "timeout": 1.0, "fields": ["id", "name"]},
            "/search": {"backend": "search.internal", "timeout": 4.0, "fields": ["q", "page", "sort"]},
        },
        "headers": {"Server": "gw", "Cache-Control": "no-store", "X-Frame-Options": "DENY"},
    },
    indent=2,
)


def load_settings():
    return json.loads(SETTINGS_TEXT)


class Gateway:
    def __init__(self, settings):
        self.settings = settings
        self.used = {}

    def authenticate(self, client, body, signature):
        known = self.settings()["clients"].get(client)
        if known is None:
            return False
        expect = hmac.new(known["secret"].encode(), body, hashlib.sha256).hexdigest()
        self.used[client] = self.used.get(client, 0) + 1
        return hmac.compare_digest(expect, signature) and self.used[client] <= known["quota"]

    def route(self, path):
        for prefix, target in self.settings()["routes"].items():
            if path.startswith(prefix):
                return target
        return None

    def answer(self, status, payload):
        text = json.dumps(payload, sort_keys=True)
        lines = ["HTTP/1.1 %d" % status]
        lines += ["%s: %s" % pair for pair in self.settings()["headers"].items()]
        lines += ["ETag: " + hashlib.md5(text.encode()).hexdigest(), "", text]
        return "\r\n".join(lines)

    def handle(self, request):
        if not self.authenticate(request["client"], request["body"], request["signature"]):
            return self.answer(403, {"error": "signature or quota"})
        target = self.route(request["path"])
        if target is None:
            return self.answer(404, {"error": request["path"]})
        rows = json.loads(request["body"])
        picked = [{key: row.get(key) for key in target["fields"]} for row in rows]
        return self.answer(200, {"backend": target["backend"], "rows": picked})


def cached(load):
    settings = load()
    return lambda: settings


def make_requests(seed, count):
    rng = random.Random(seed)
    for _ in range(count):
        n = rng.randrange(26)
        rows = [
            {
                "id": rng.randrange(10**6),
                "sku": "%x" % rng.getrandbits(32),
                "qty": rng.randrange(9),
                "q": "x" * rng.randrange(20),
            }
            for _ in range(rng.randrange(8, 30))
        ]
        body = json.dumps(rows).encode()
        secret = "s3cr%dt" % (n * 7919)
        yield {
            "client": "client-%02d" % n,
            "path": rng.choice(["/orders/open", "/users", "/search?x=1", "/nowhere"]),
            "body": body,
            "signature": hmac.new(secret.encode(), body, hashlib.sha256).hexdigest(),
        }


def one_pass(number, settings_of):
    gateway = Gateway(settings_of())
    sent = hashlib.sha1()
    for request in make_requests(number, 1500):
        sent.update(gateway.handle(request).encode())
    return sent.hexdigest()


if __name__ == "__main__":
    run(one_pass, lambda: load_settings, lambda: cached(load_settings))
