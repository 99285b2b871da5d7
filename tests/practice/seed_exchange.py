# SPDX-License-Identifier: Apache-2.0
"""A seed exchange by post: members offer and ask, an ask takes the freshest offer that is enough, what is left stays on offer."""

import random
import sqlite3

from common import run

TABLES = """
CREATE TABLE member (id INTEGER PRIMARY KEY, region TEXT, credit INTEGER);
CREATE TABLE offer (id INTEGER PRIMARY KEY, member INTEGER, variety INTEGER, year INTEGER, grams REAL);
CREATE TABLE parcel (giver INTEGER, taker INTEGER, variety INTEGER, grams REAL, postage REAL);
CREATE INDEX by_variety ON offer (variety, year DESC, id);
"""
FIND = "SELECT id, member, year, grams FROM offer WHERE variety = ? AND grams >= ? AND member <> ? ORDER BY year DESC, id LIMIT 1"
REGIONS = ("coast", "hills", "moor", "valley")


class Exchange:
    def __init__(self, rnd, members):
        self.db = sqlite3.connect(":memory:", isolation_level=None)
        self.db.executescript(TABLES)
        people = ((at, rnd.choice(REGIONS), 5) for at in range(members))
        self.db.executemany("INSERT INTO member VALUES (?, ?, ?)", people)
        self.turned_down = 0
        self.db.execute("BEGIN")

    def offer(self, member, variety, year, grams):
        self.db.execute("INSERT INTO offer (member, variety, year, grams) VALUES (?, ?, ?, ?)", (member, variety, year, grams))

    def credit(self, member, change):
        self.db.execute("UPDATE member SET credit = credit + ? WHERE id = ?", (change, member))

    def ask(self, taker, variety, grams):
        """The credit and the offers are looked at anew each time: earlier asks have changed both."""
        (credit,) = self.db.execute("SELECT credit FROM member WHERE id = ?", (taker,)).fetchone()
        found = self.db.execute(FIND, (variety, grams, taker)).fetchone() if credit > 0 else None
        if found is None:
            self.turned_down += 1
            return None
        offer, giver, year, left = found
        if left - grams < 2:
            self.db.execute("DELETE FROM offer WHERE id = ?", (offer,))
        else:
            self.db.execute("UPDATE offer SET grams = ? WHERE id = ?", (left - grams, offer))
        self.credit(giver, 1)
        self.credit(taker, -1)
        postage = 1.1 if grams < 20 else 2.4 + 0.02 * grams
        self.db.execute("INSERT INTO parcel VALUES (?, ?, ?, ?, ?)", (giver, taker, variety, grams, postage))
        return year

    def report(self):
        self.db.execute("COMMIT")
        flows = self.db.execute(
            "SELECT g.region, t.region, count(*), sum(p.postage) FROM parcel p"
            " JOIN member g ON g.id = p.giver JOIN member t ON t.id = p.taker GROUP BY 1, 2 ORDER BY 1, 2"
        ).fetchall()
        left = self.db.execute("SELECT count(*), sum(grams) FROM offer").fetchone()
        self.db.close()
        return flows, left


def one_pass(number, _):
    rnd = random.Random(number)
    exchange = Exchange(rnd, 120)
    years = 0
    for at in range(1500):
        member, variety = rnd.randrange(120), int(rnd.paretovariate(1.0)) % 60
        if rnd.random() < 0.45:
            exchange.offer(member, variety, rnd.randint(2015, 2024), round(rnd.uniform(5, 80), 1))
        else:
            years += exchange.ask(member, variety, round(rnd.uniform(2, 30), 1)) or 0
    flows, left = exchange.report()
    return years, exchange.turned_down, [list(flow) for flow in flows[:5]], list(left)


if __name__ == "__main__":
    run(one_pass, None)
