# SPDX-License-Identifier: Apache-2.0
"""A bakery's till on its data base: sells what is left, bakes again when a tray runs low, and closes the day."""

import random
import sqlite3

from runner import run

BREADS = ("rye", "spelt", "baguette", "pretzel", "bun", "plait", "stollen", "focaccia")
CUSTOMERS = 500

SCHEMA = """
CREATE TABLE stock (bread TEXT PRIMARY KEY, loaves INTEGER, cents INTEGER, batch INTEGER);
CREATE TABLE sale (id INTEGER PRIMARY KEY, customer INTEGER, bread TEXT, loaves INTEGER, cents INTEGER);
CREATE TABLE baking (minute INTEGER, bread TEXT, loaves INTEGER);
"""


class Till:
    def __init__(self, seed):
        self.rnd = random.Random(seed)
        self.base = sqlite3.connect(":memory:")
        self.base.executescript(SCHEMA)
        rows = [(bread, self.rnd.randrange(10, 60), self.rnd.randrange(60, 700), 20) for bread in BREADS]
        self.base.executemany("INSERT INTO stock VALUES (?, ?, ?, ?)", rows)
        self.turned_away = 0

    def left(self, bread):
        return self.base.execute("SELECT loaves, cents FROM stock WHERE bread = ?", (bread,)).fetchone()

    def sell(self, customer, bread, wanted):
        loaves, cents = self.left(bread)
        taken = min(wanted, loaves)
        if not taken:
            self.turned_away += 1
            return 0
        price = taken * cents - (taken // 6) * cents
        self.base.execute("UPDATE stock SET loaves = loaves - ? WHERE bread = ?", (taken, bread))
        self.base.execute(
            "INSERT INTO sale (customer, bread, loaves, cents) VALUES (?, ?, ?, ?)", (customer, bread, taken, price)
        )
        return price

    def bake(self, minute):
        low = self.base.execute("SELECT bread, batch FROM stock WHERE loaves < 6 ORDER BY loaves, bread LIMIT 2").fetchall()
        for bread, batch in low:
            self.base.execute("UPDATE stock SET loaves = loaves + ?, batch = 20 + (batch + 7) % 11 WHERE bread = ?", (batch, bread))
            self.base.execute("INSERT INTO baking VALUES (?, ?, ?)", (minute, bread, batch))

    def close(self):
        best = self.base.execute(
            "SELECT bread, SUM(loaves), SUM(cents) FROM sale GROUP BY bread ORDER BY SUM(cents) DESC LIMIT 3"
        ).fetchall()
        baked = self.base.execute("SELECT COUNT(*), SUM(loaves) FROM baking").fetchone()
        self.base.close()
        return best, baked


def one_pass(number, step):
    till = Till(number)
    taken = 0
    for customer in range(CUSTOMERS):
        for _ in range(till.rnd.randrange(1, 4)):
            taken += till.sell(customer, till.rnd.choice(BREADS), till.rnd.randrange(1, 5))
        if customer % 3 == 2:
            till.bake(customer)
    best, baked = till.close()
    return taken, best, baked, till.turned_away


if __name__ == "__main__":
    run(one_pass)
