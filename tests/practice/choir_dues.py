# SPDX-License-Identifier: Apache-2.0
"""A choir's dues: what each singer has paid, and the letters that go out."""

import hashlib
import random

from common import run

VOICES = ("soprano", "alto", "tenor", "bass")


def books(number, singers, entries):
    rng = random.Random(number)
    people = [("S%04d" % i, rng.choice(VOICES), rng.choice((60, 90, 120))) for i in range(singers)]
    paid = []
    for _ in range(entries):
        who = rng.choice(people)[0]
        paid.append({"singer": who, "cents": rng.randrange(500, 4000), "day": rng.randrange(365)})
    return people, paid


def accounts(people, paid):
    for name, voice, due in people:
        own = [entry for entry in paid if entry["singer"] == name]
        yield name, voice, due, own


def accounts_fixed(people, paid):
    entries = {}
    for entry in paid:
        entries.setdefault(entry["singer"], []).append(entry)
    for name, voice, due in people:
        yield name, voice, due, entries.get(name, [])


def letter(name, voice, due, own):
    own.sort(key=lambda entry: entry["day"])
    rows = ["  day %3d %8.2f" % (entry["day"], entry["cents"] / 100) for entry in own]
    total = sum(entry["cents"] for entry in own) / 100
    text = "Dear %s (%s),\n%s\n  due %d, paid %.2f\n" % (name, voice, "\n".join(rows), due, total)
    return total, hashlib.sha256(text.encode()).hexdigest()


def one_pass(number, how):
    people, paid = books(number, 220, 1800)
    money, seals = 0.0, hashlib.md5()
    for row in how(people, paid):
        total, seal = letter(*row)
        money += total
        for _ in range(20):
            seal = hashlib.sha256(seal.encode()).hexdigest()
        seals.update(seal.encode())
    return round(money, 2), seals.hexdigest()


if __name__ == "__main__":
    run(one_pass, accounts, accounts_fixed)
