# SPDX-License-Identifier: Apache-2.0
"""A tavern's kitchen service: orders come in as lines of JSON, tickets and bills go out the same way."""

import json
import random
from collections import Counter, deque

from common import run

DISHES = {"stew": (950, 12), "pie": (780, 9), "trout": (1490, 14), "dumplings": (860, 8), "soup": (520, 4), "plums": (430, 2)}
NAMES = list(DISHES)


def orders(seed):
    rnd = random.Random(seed)
    for at in range(1_300):
        wanted = [{"dish": rnd.choice(NAMES), "count": rnd.randint(1, 4)} for _ in range(rnd.randint(1, 5))]
        yield json.dumps({"id": seed * 10_000 + at, "table": rnd.randint(1, 30), "minute": at // 4, "wanted": wanted, "note": f"guest {rnd.randrange(10**7)}"})


class Kitchen:
    def __init__(self):
        self.hearths = deque([0] * 4)
        self.bills = Counter()
        self.cooked = Counter()

    def cook(self, minute, work):
        free = max(self.hearths.popleft(), minute)
        self.hearths.append(free + work)
        return free + work

    def handle(self, line):
        order = json.loads(line)
        ready, sum_due = 0, 0
        for part in order["wanted"]:
            price, minutes = DISHES[part["dish"]]
            ready = max(ready, self.cook(order["minute"], minutes * (1 + part["count"]) // 8))
            sum_due += price * part["count"]
            self.cooked[part["dish"]] += part["count"]
        self.bills[order["table"]] += sum_due
        return json.dumps({"id": order["id"], "ready": ready, "due": sum_due, "note": order["note"]})


def one_pass(number, step):
    kitchen = Kitchen()
    written = [kitchen.handle(line) for line in orders(number)]
    return len("".join(written)), written[-1], sorted(kitchen.bills.items())[:3], sorted(kitchen.cooked.items())


if __name__ == "__main__":
    run(one_pass)
