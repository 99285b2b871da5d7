# SPDX-License-Identifier: Apache-2.0
"""The intake of a mail-order house's returns: every posted form goes through the API's layers, from signature to answer."""

import hmac
import json
import random
from collections import Counter, deque

from common import run

REASONS = {"damaged": 100, "late": 100, "wrong": 100, "size": 95, "mood": 85}


class Request:
    def __init__(self, shop, signature, body):
        self.shop, self.signature, self.body = shop, signature, body

    def json(self):
        return json.loads(self.body)


class RequestFixed(Request):
    parsed = None

    def json(self):
        if self.parsed is None:
            self.parsed = super().json()
        return self.parsed


class Layer:
    """One step of the way in; it answers itself or asks the next."""

    def __init__(self, inner):
        self.inner = inner

    def __call__(self, request):
        return self.inner(request)


class Signed(Layer):
    def __init__(self, inner, keys):
        super().__init__(inner)
        self.keys = keys

    def __call__(self, request):
        if not hmac.compare_digest(hmac.digest(self.keys[request.shop], request.body, "sha256"), request.signature):
            return 401, None
        return self.inner(request)


class OnceOnly(Layer):
    def __init__(self, inner):
        super().__init__(inner)
        self.answers = {}

    def __call__(self, request):
        key = request.shop, request.json()["key"]
        if key not in self.answers:
            self.answers[key] = self.inner(request)
        return self.answers[key]


class Throttled(Layer):
    def __init__(self, inner, window, most):
        super().__init__(inner)
        self.window, self.most = window, most
        self.recent, self.sums = {}, Counter()

    def __call__(self, request):
        form = request.json()
        recent = self.recent.setdefault(request.shop, deque())
        while recent and recent[0][0] <= form["sent"] - self.window:
            self.sums[request.shop] -= recent.popleft()[1]
        cost = len(form["items"])
        if self.sums[request.shop] + cost > self.most:
            return 429, None
        recent.append((form["sent"], cost))
        self.sums[request.shop] += cost
        return self.inner(request)


class Checked(Layer):
    def __call__(self, request):
        wrong = []
        for at, item in enumerate(request.json()["items"]):
            if item["reason"] not in REASONS:
                wrong.append("%d: reason" % at)
            if not 1 <= item["pieces"] <= 20 or not isinstance(item["cents"], int):
                wrong.append("%d: figures" % at)
            if not item["sku"].isalnum() or len(item["sku"]) != 8:
                wrong.append("%d: article" % at)
        return (422, wrong) if wrong else self.inner(request)


class Audited(Layer):
    def __init__(self, inner):
        super().__init__(inner)
        self.trail = []

    def __call__(self, request):
        status, answer = self.inner(request)
        self.trail.append((request.json()["customer"]["number"], status, len(answer or ())))
        return status, answer


class Desk:
    def __init__(self):
        self.refunds = Counter()
        self.number = 0

    def __call__(self, request):
        form = request.json()
        self.number += 1
        rows = []
        for item in form["items"]:
            worth = item["cents"] * item["pieces"] * REASONS[item["reason"]]
            worth -= worth * min(item["days"], 60) // 400
            rows.append({"sku": item["sku"], "cents": worth // 100, "label": "%s-%06d" % (item["sku"][:3], self.number)})
        total = sum(row["cents"] for row in rows)
        self.refunds[request.shop] += total
        return 200, {"number": self.number, "cents": total, "rows": rows, "to": form["customer"]["iban"]}


def form(rnd, sent):
    items = []
    for _ in range(rnd.randint(1, 14)):
        reason = rnd.choice(("damaged", "late", "wrong", "size", "mood", "mood", "unknown" if rnd.random() < 0.02 else "size"))
        items.append(
            {
                "sku": "%08X" % rnd.getrandbits(32),
                "pieces": rnd.randint(1, 4),
                "cents": rnd.randint(199, 24_900),
                "days": rnd.randint(1, 90),
                "reason": reason,
                "remark": "x" * rnd.randint(0, 30),
            }
        )
    customer = {"number": rnd.randrange(10**7), "iban": "DE%020d" % rnd.randrange(10**20), "lang": rnd.choice(("de", "en", "fr"))}
    return {"key": "%016x" % rnd.getrandbits(64), "sent": sent, "customer": customer, "items": items}


def posts(rnd, keys, request, many):
    shops = list(keys)
    for sent in range(many):
        shop = rnd.choice(shops)
        body = json.dumps(form(rnd, sent)).encode()
        yield request(shop, hmac.digest(keys[shop], body, "sha256"), body)


def one_pass(number, request):
    rnd = random.Random(number)
    keys = {"shop-%02d" % at: rnd.randbytes(32) for at in range(12)}
    desk = Desk()
    audited = Audited(Checked(desk))
    intake = Signed(OnceOnly(Throttled(audited, 100, 90)), keys)
    answers = Counter()
    sizes = 0
    for post in posts(rnd, keys, request, 1_000):
        status, answer = intake(post)
        answers[status] += 1
        sizes += len(json.dumps(answer))
    return sorted(answers.items()), sorted(desk.refunds.items()), sizes, audited.trail[-3:]


if __name__ == "__main__":
    run(one_pass, Request, RequestFixed)
