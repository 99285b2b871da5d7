# SPDX-License-Identifier: Apache-2.0
"""A dairy's order desk: each order line takes from the lots that expire first, in a database that deliveries and other orders change in between."""

import random
import sqlite3
from collections import Counter
from contextlib import closing

from common import run

SCHEMA = """
CREATE TABLE lots (id INTEGER PRIMARY KEY, article TEXT, day INTEGER, free INTEGER);
CREATE INDEX by_article ON lots (article, day) WHERE free > 0;
CREATE TABLE taken (order_id INTEGER, lot INTEGER, crates INTEGER);
"""
FREE = "SELECT id, free FROM lots WHERE article = ? AND day > ? AND free > 0 ORDER BY day LIMIT 5"
TAKE = "UPDATE lots SET free = free - ? WHERE id = ?"
NOTE = "INSERT INTO taken VALUES (?, ?, ?)"


class Short(Exception):
    pass


class Desk:
    def __init__(self, db):
        self.db = db
        self.outcomes = Counter()

    def deliver(self, article, day, crates):
        self.db.execute("INSERT INTO lots (article, day, free) VALUES (?, ?, ?)", (article, day, crates))

    def take(self, article, crates, today):
        """Reserves for one line; what others took before is no longer free."""
        takes = []
        for lot, free in self.db.execute(FREE, (article, today)):
            part = min(free, crates)
            takes.append((part, lot))
            crates -= part
            if not crates:
                break
        else:
            raise Short(article)
        self.db.executemany(TAKE, takes)
        return takes

    def order(self, order, lines, today):
        self.db.execute("SAVEPOINT lines")
        taken = []
        try:
            for article, crates in lines:
                taken += self.take(article, crates, today)
        except Short:
            self.db.execute("ROLLBACK TO lines")
            self.outcomes["short"] += 1
        else:
            self.db.executemany(NOTE, [(order, lot, part) for part, lot in taken])
            self.outcomes["sent"] += 1
        self.db.execute("RELEASE lines")

    def left(self):
        return self.db.execute("SELECT count(*), sum(free) FROM lots WHERE free > 0").fetchone()

    def sent(self):
        return self.db.execute("SELECT sum(crates), count(DISTINCT lot) FROM taken").fetchone()


def lines(rnd, articles):
    return [(article, rnd.randint(1, 12)) for article in rnd.sample(articles, rnd.randint(1, 8))]


def one_pass(number, _):
    rnd = random.Random(number)
    articles = ["%c%05d" % (rnd.choice("BCMQY"), rnd.randrange(10**5)) for _ in range(40)]
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        db.executescript(SCHEMA)
        desk = Desk(db)
        for today in range(20):
            db.execute("BEGIN")
            for _ in range(80):
                desk.deliver(rnd.choice(articles), today + rnd.randint(3, 25), rnd.randint(5, 40))
            for order in range(60):
                desk.order(today * 100 + order, lines(rnd, articles), today)
            db.execute("COMMIT")
        return sorted(desk.outcomes.items()), desk.left(), desk.sent()


if __name__ == "__main__":
    run(one_pass)
