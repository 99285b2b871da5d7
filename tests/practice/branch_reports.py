# SPDX-License-Identifier: Apache-2.0
"""Evening reports of a library's branches from one database: loans, late returns, wishes and money, each by a query of its own."""

import json
import random
import sqlite3
import zlib
from collections import defaultdict, namedtuple
from functools import lru_cache

from common import run

SCHEMA = """
create table loans (id integer primary key, branch text, reader integer, title integer, day integer, due integer, back integer);
create table wishes (id integer primary key, branch text, title integer, readers integer);
create table till (id integer primary key, branch text, cause text, cents integer);
create index loans_at on loans (branch);
create index wishes_at on wishes (branch);
create index till_at on till (branch);
"""
LATE = "select reader, title, due - day as term, ? - due as late from loans where branch = ? and back is null and due < ? order by late desc"
TITLES = "select title, count(*) as times, max(day) as newest from loans where branch = ? group by title order by times desc, title limit 12"
WISHES = "select title, readers from wishes where branch = ? order by readers desc, title limit 8"
MONEY = "select cause, sum(cents) as cents, count(*) as pieces from till where branch = ? group by cause order by cause"


def row_type(columns):
    return namedtuple("Row", columns)


class Database:
    def __init__(self, make_type):
        self.link = sqlite3.connect(":memory:")
        self.link.executescript(SCHEMA)
        self.make_type = make_type

    def query(self, sql, *arguments):
        cursor = self.link.execute(sql, arguments)
        row = self.make_type(tuple(column[0] for column in cursor.description))
        return [row._make(values) for values in cursor]

    def fill(self, table, rows):
        marks = ", ".join("?" * len(rows[0]))
        with self.link:
            self.link.executemany("insert into %s values (null, %s)" % (table, marks), rows)


class Report:
    def __init__(self, database, branch, today):
        self.database, self.branch, self.today = database, branch, today

    def late(self):
        by_reader = defaultdict(list)
        for row in self.database.query(LATE, self.today, self.branch, self.today):
            by_reader[row.reader].append((row.title, min(row.late * 20, 1_000)))
        return {reader: sum(fine for _, fine in titles) for reader, titles in by_reader.items()}

    def titles(self):
        return ["%06d: %d times, last on day %d" % row for row in self.database.query(TITLES, self.branch)]

    def wishes(self):
        return [{"title": row.title, "buy": 1 + row.readers // 6} for row in self.database.query(WISHES, self.branch)]

    def money(self):
        rows = self.database.query(MONEY, self.branch)
        return {row.cause: [row.cents, row.cents // row.pieces] for row in rows}

    def written(self):
        return json.dumps({"branch": self.branch, "late": self.late(), "titles": self.titles(), "wishes": self.wishes(), "money": self.money()})


def fill(database, rnd, branches):
    loans = []
    for _ in range(2_000):
        day = rnd.randint(1, 60)
        back = rnd.randint(day, 90) if rnd.random() < 0.8 else None
        loans.append((rnd.choice(branches), rnd.randrange(400), rnd.randrange(600), day, day + rnd.choice((14, 28)), back))
    database.fill("loans", loans)
    database.fill("wishes", [(rnd.choice(branches), rnd.randrange(10**6), rnd.randint(1, 30)) for _ in range(300)])
    database.fill("till", [(rnd.choice(branches), rnd.choice(("fine", "copy", "card")), rnd.randint(10, 900)) for _ in range(500)])


def one_pass(number, make_type):
    rnd = random.Random(number)
    branches = ["branch %02d" % at for at in range(40)]
    database = Database(make_type)
    fill(database, rnd, branches)
    check = size = 0
    for branch in branches:
        text = Report(database, branch, 60).written()
        check, size = zlib.crc32(text.encode(), check), size + len(text)
    database.link.close()
    return check, size


if __name__ == "__main__":
    run(one_pass, row_type, lru_cache(maxsize=64)(row_type))
