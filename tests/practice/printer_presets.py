# SPDX-License-Identifier: Apache-2.0
"""A print shop's job service: each job names a stored preset, kept as JSON text, and is priced, split and ticketed."""

import hashlib
import json
import random

from common import run

STOCKS = ("matt", "gloss", "recycled", "card", "film")


def presets(seed):
    rnd = random.Random(seed)
    rows = {}
    for at in range(14):
        name = "P%03d" % (seed * 14 + at)
        rows[name] = json.dumps(
            {
                "stock": rnd.choice(STOCKS),
                "gram": rnd.choice((80, 100, 135, 170, 250)),
                "duplex": rnd.random() < 0.5,
                "bleed": [rnd.randint(0, 5) for _ in range(4)],
                "inks": [{"name": ink, "limit": rnd.randint(200, 320), "curve": [round(rnd.random(), 3) for _ in range(9)]} for ink in "CMYK"],
                "finish": {"fold": rnd.choice(("none", "half", "z")), "staple": rnd.randint(0, 2), "trim": [rnd.randint(1, 9) for _ in range(4)]},
            }
        )
    return rows


class Store:
    """The shop's table of presets, as a database would give it out."""

    def __init__(self, rows):
        self.rows = rows
        self.reads = 0

    def text(self, name):
        self.reads += 1
        return self.rows[name]

    def rename_stock(self, name, stock):
        row = json.loads(self.rows[name])
        row["stock"] = stock
        self.rows[name] = json.dumps(row)


class Shop:
    def __init__(self, store):
        self.store = store
        self.sheets = 0
        self.tickets = []

    def decode(self, text):
        return json.loads(text)

    def preset(self, name):
        return self.decode(self.store.text(name))

    def ink_cost(self, preset, coverage):
        cost = 0.0
        for ink, share in zip(preset["inks"], coverage):
            place = min(share, 0.999) * (len(ink["curve"]) - 1)
            low = int(place)
            step = ink["curve"][low] + (ink["curve"][low + 1] - ink["curve"][low]) * (place - low)
            cost += step * ink["limit"] / 300
        return cost

    def sheets_for(self, pages, preset):
        return -(-pages // (2 if preset["duplex"] else 1))

    def take(self, job):
        preset = self.preset(job["preset"])
        sheets = self.sheets_for(job["pages"], preset) * job["copies"]
        cost = self.ink_cost(preset, job["coverage"]) * job["pages"] * job["copies"] + sheets * preset["gram"] / 40
        self.sheets += sheets
        seal = hashlib.blake2b(repr(job).encode() + preset["stock"].encode(), digest_size=6).hexdigest()
        fold = preset["finish"]["fold"]
        self.tickets.append(f"{job['id']:>9} {job['preset']} {preset['stock']:<9} {sheets:6d} {cost:10.2f} {fold} {seal}")
        return cost


class ShopFixed(Shop):
    def __init__(self, store):
        super().__init__(store)
        self.decoded = {}

    def decode(self, text):
        preset = self.decoded.get(text)
        if preset is None:
            preset = self.decoded[text] = json.loads(text)
        return preset


def jobs(seed, names):
    rnd = random.Random(-1 - seed)
    for at in range(1_500):
        coverage = [round(rnd.betavariate(2, 5), 4) for _ in range(4)]
        yield {"id": seed * 10_000 + at, "preset": rnd.choice(names), "pages": rnd.randint(1, 64), "copies": rnd.randint(1, 200), "coverage": coverage}


def one_pass(number, step):
    store = Store(presets(number))
    shop = step(store)
    names = list(store.rows)
    total = 0.0
    for at, job in enumerate(jobs(number, names)):
        if at % 400 == 399:
            store.rename_stock(job["preset"], STOCKS[at % len(STOCKS)])
        total += shop.take(job)
    return round(total, 4), shop.sheets, store.reads, shop.tickets[-3:]


if __name__ == "__main__":
    run(one_pass, Shop, ShopFixed)
