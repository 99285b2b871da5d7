# SPDX-License-Identifier: Apache-2.0
"""A pharmacy's till: prices, rebates and the patient's own share for the day's prescriptions."""

import json
import random

from common import run


def rules(rnd):
    return json.dumps({
        "share": {"low": rnd.randint(300, 500), "high": rnd.randint(900, 1100), "percent": 10},
        "groups": {f"G{i}": {"rebate": rnd.randint(0, 12), "fee": rnd.randint(20, 90)} for i in range(8)},
        "free": [f"P{rnd.randint(0, 99):02}" for _ in range(10)],
        "rounding": 5,
    })


class Till:
    def __init__(self, text):
        self.text = text
        self.takings = 0
        self.slips = []

    def rule(self, *path):
        found = json.loads(self.text)
        for name in path:
            found = found[name]
        return found

    def price(self, item):
        cents = item["cents"] * item["count"]
        group = self.rule("groups", item["group"])
        return cents - cents * group["rebate"] // 100 + group["fee"]

    def own_share(self, patient, cents):
        if patient in self.rule("free"):
            return 0
        share = self.rule("share")
        return min(max(cents * share["percent"] // 100, share["low"]), share["high"], cents)

    def sell(self, patient, items):
        prices = [self.price(item) for item in items]
        own = sum(self.own_share(patient, cents) for cents in prices)
        step = self.rule("rounding")
        own = (own + step // 2) // step * step
        self.takings += own
        rows = [f"{item['name']:<18}{item['count']:>3} x {item['cents'] / 100:>8.2f}{cents / 100:>10.2f}" for item, cents in zip(items, prices)]
        rows.append(f"{'own share':<32}{own / 100:>10.2f}")
        self.slips.append("\n".join(rows))


class TillFixed(Till):
    def __init__(self, text):
        super().__init__(text)
        self.read = json.loads(text)

    def rule(self, *path):
        found = self.read
        for name in path:
            found = found[name]
        return found


def one_pass(number, step):
    rnd = random.Random(number)
    till = step(rules(rnd))
    for sale in range(600):
        items = []
        for _ in range(rnd.randint(1, 4)):
            items.append({"name": f"item {rnd.randrange(10**6)}", "cents": rnd.randint(150, 20_000), "count": rnd.randint(1, 3), "group": f"G{rnd.randrange(8)}"})
        till.sell(f"P{rnd.randrange(100):02}", items)
    return till.takings, len("".join(till.slips)), till.slips[-1]


if __name__ == "__main__":
    run(one_pass, Till, TillFixed)
