# SPDX-License-Identifier: Apache-2.0
"""A till that asks its database for the rate of each sale, one of twenty, and books the sale, which is another one each time.

The rates were there before, and nobody writes them. With --fixed a day's rates are asked for once.
"""
import random
import sqlite3

import round_runner


class Till:
    def __init__(self, rng):
        self.db = sqlite3.connect(":memory:")
        self.db.execute("CREATE TABLE rates (land TEXT PRIMARY KEY, rate REAL)")
        self.db.execute("CREATE TABLE sales (land TEXT, net REAL)")
        self.db.executemany("INSERT INTO rates VALUES (?, ?)", [("%02d" % land, rng.random()) for land in range(20)])

    def rate(self, land):
        cursor = self.db.cursor()
        cursor.execute("SELECT rate FROM rates WHERE land = ? AND rate >= (SELECT min(rate) FROM rates)", (land,))
        return cursor.fetchone()[0]

    def close(self):
        """The day's end: how many sales there were, which are none of the next day's."""
        count = self.db.execute("SELECT count(*) FROM sales").fetchone()[0]
        self.db.execute("DELETE FROM sales")
        return count

    def book(self, land, net):
        self.db.execute("INSERT INTO sales VALUES (?, ?)", (land, net))


TILL = Till(random.Random(7))


def sell(rng, fixed, number):
    till, rates = TILL, {}
    for _ in range(1500):
        land, net = "%02d" % rng.randrange(20), rng.random()
        rate = rates.get(land) or till.rate(land)
        if fixed:
            rates[land] = rate
        till.book(land, net * (1 + rate))
    return None if till.close() == 1500 else "sales are missing"


round_runner.run("till_rates", __doc__, sell)
