# SPDX-License-Identifier: Apache-2.0
"""Bills a software house's support: work on tickets is rounded up, priced by the customer's contract and written into the books."""

import random
import sqlite3
from collections import Counter

from runner import run

PRIORITIES = ("low", "normal", "urgent")
SCHEMA = """
create table contracts (customer text, priority text, since integer, cents integer);
create index contracts_by_customer on contracts (customer, priority, since);
create table worklog (ticket integer, customer text, day integer, minutes integer, cents integer);
"""


class Prices:
    def __init__(self, db, today):
        self.db = db
        self.today = today

    def hourly(self, customer, priority):
        """Cents an hour by the newest contract that has begun."""
        row = self.db.execute(
            "select cents from contracts where customer = ? and priority = ? and since <= ? order by since desc limit 1",
            (customer, priority, self.today),
        ).fetchone()
        return row[0] if row else 9000


class PricesFixed(Prices):
    def __init__(self, db, today):
        super().__init__(db, today)
        self.known = {}

    def hourly(self, customer, priority):
        key = customer, priority
        if key not in self.known:
            self.known[key] = super().hourly(customer, priority)
        return self.known[key]


class Books:
    def __init__(self, db, prices):
        self.db = db
        self.prices = prices
        self.lines = []
        self.minutes = Counter()

    def book(self, ticket, customer, priority, day, minutes):
        quarter = -(-minutes // 15) * 15
        if priority == "urgent":
            quarter = max(quarter, 60)
        self.minutes[customer] += quarter
        cents = quarter * self.prices.hourly(customer, priority) // 60
        if day % 7 >= 5:
            cents += cents // 2
        self.lines.append((ticket, customer, day, quarter, cents))

    def close(self):
        self.db.executemany("insert into worklog values (?, ?, ?, ?, ?)", self.lines)
        query = "select customer, count(distinct ticket), sum(cents) from worklog group by customer order by sum(cents) desc"
        return self.db.execute(query).fetchall()


def contracts(rnd, customers):
    for customer in customers:
        for priority in PRIORITIES:
            if rnd.random() < 0.9:
                for since in rnd.sample(range(400), 4):
                    yield customer, priority, since, rnd.randint(60, 180) * 100


def work(rnd, customers):
    for ticket in range(500):
        customer, priority, day = rnd.choice(customers), rnd.choice(PRIORITIES), rnd.randrange(200, 230)
        for _ in range(rnd.randint(1, 5)):
            yield ticket, customer, priority, day, rnd.randint(2, 170)
            day += rnd.randint(0, 2)


def one_pass(number, kind):
    rnd = random.Random(number)
    customers = ["C%03d" % at for at in rnd.sample(range(1000), 25)]
    db = sqlite3.connect(":memory:")
    db.executescript(SCHEMA)
    db.executemany("insert into contracts values (?, ?, ?, ?)", contracts(rnd, customers))
    books = Books(db, kind(db, 230))
    for entry in work(rnd, customers):
        books.book(*entry)
    bills = books.close()
    db.close()
    return bills[:4], bills[-1], sum(cents for _, _, cents in bills), books.minutes.most_common(2)


if __name__ == "__main__":
    run(one_pass, Prices, PricesFixed)
