# SPDX-License-Identifier: Apache-2.0
"""A hosting firm rolls up its customers' usage for the bill: hours by plan from the database, free parts and steps of price, one line each."""

import random
import sqlite3
from collections import Counter
from textwrap import dedent

from common import run

PLANS = ("small", "large", "burst")
STEPS = ((100, 0), (1_000, 9), (10_000, 7), (None, 5))
SCHEMA = """
create table usage (customer integer, day integer, plan text, hours integer, bytes integer);
create index by_customer on usage (customer, day);
create table notes (customer integer primary key, note text);
"""


def usage(rnd, customers, days):
    for customer in range(customers):
        for day in range(days):
            for plan in rnd.sample(PLANS, rnd.randint(0, 2)):
                yield customer, day, plan, rnd.randint(1, 48), rnd.randrange(10**9)


class Meter:
    def __init__(self, db):
        self.db = db

    def hours(self, customer, first, last):
        query = dedent(
            """
            select plan,
                   sum(hours),
                   sum(bytes),
                   count(distinct day)
              from usage
             where customer = ?
               and day between ? and ?
             group by plan
             order by plan
            """
        )
        return self.db.execute(query, (customer, first, last)).fetchall()

    def note(self, customer):
        found = self.db.execute("select note from notes where customer = ?", (customer,)).fetchone()
        return found[0] if found else ""


class MeterFixed(Meter):
    QUERY = dedent(
        """
        select plan,
               sum(hours),
               sum(bytes),
               count(distinct day)
          from usage
         where customer = ?
           and day between ? and ?
         group by plan
         order by plan
        """
    )

    def hours(self, customer, first, last):
        return self.db.execute(self.QUERY, (customer, first, last)).fetchall()


def price(hours):
    """Tenths of a cent for so many hours, by steps; the first hundred are free."""
    total, below = 0, 0
    for upto, each in STEPS:
        part = hours - below if upto is None else min(hours, upto) - below
        if part <= 0:
            break
        total += part * each
        below = upto
    return total


class Rollup:
    def __init__(self, meter):
        self.meter = meter
        self.plans = Counter()
        self.lines = []
        self.flags = []

    def week(self, customer, first):
        """The customer's lines of one week, and what they come to."""
        due = 0
        for plan, hours, count, days in self.meter.hours(customer, first, first + 6):
            tenths = price(hours * (4 if plan == "large" else 1)) + count // 50_000_000
            self.plans[plan] += hours
            self.lines.append(f"{customer:05d} {plan:<6} {hours:>5} h {count / 1e9:>7.2f} GB on {days} d {tenths / 1_000:>8.3f}")
            due += tenths
        return due

    def customer(self, customer, weeks):
        sums = [self.week(customer, 7 * week) for week in range(weeks)]
        note = self.meter.note(customer)
        if note == "watch" or any(after > 3 * before + 500 for before, after in zip(sums, sums[1:])):
            self.flags.append(customer)
        return sum(sums)


def one_pass(number, make):
    rnd = random.Random(number)
    db = sqlite3.connect(":memory:")
    db.executescript(SCHEMA)
    db.executemany("insert into usage values (?, ?, ?, ?, ?)", usage(rnd, 60, 42))
    db.executemany("insert into notes values (?, ?)", [(customer, rnd.choice(("watch", "friend", ""))) for customer in rnd.sample(range(60), 12)])
    rollup = Rollup(make(db))
    due = {customer: rollup.customer(customer, 6) for customer in range(60)}
    db.close()
    return sum(due.values()), max(due, key=due.get), rollup.plans.most_common(), rollup.flags[:6], rollup.lines[-1]


if __name__ == "__main__":
    run(one_pass, Meter, MeterFixed)
