# SPDX-License-Identifier: Apache-2.0
"""Month-end: orders of a web shop converted to the book currency."""

import random
import sqlite3

from common import run

CURRENCIES = ("EUR", "USD", "GBP", "CHF", "SEK", "PLN")
WEEKS = 5
RATE_SQL = "SELECT rate FROM fx WHERE code = ? AND week <= ? ORDER BY week DESC LIMIT 1"


def open_books(seed, orders):
    rng = random.Random(seed)
    conn = sqlite3.connect(":memory:")
    conn.execute("CREATE TABLE fx (code TEXT, week INTEGER, rate REAL)")
    conn.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER, code TEXT, week INTEGER, net REAL)")
    conn.executemany(
        "INSERT INTO fx VALUES (?, ?, ?)",
        [(code, week, rng.uniform(0.1, 1.4)) for code in CURRENCIES for week in range(WEEKS)],
    )
    conn.executemany(
        "INSERT INTO orders (customer, code, week, net) VALUES (?, ?, ?, ?)",
        [
            (rng.randrange(400), rng.choice(CURRENCIES), rng.randrange(WEEKS), round(rng.expovariate(1 / 80), 2))
            for _ in range(orders)
        ],
    )
    return conn


def rate_on(conn, code, week):
    return conn.execute(RATE_SQL, (code, week)).fetchone()[0]


def remembered(lookup):
    known = {}

    def rate(conn, code, week):
        if (code, week) not in known:
            known[code, week] = lookup(conn, code, week)
        return known[code, week]

    return rate


def shipping(net):
    for limit, price in ((20, 6.9), (60, 4.9), (150, 2.9)):
        if net < limit:
            return price
    return 0.0


def book(conn, lookup):
    totals = {}
    rows = conn.execute("SELECT id, customer, code, week, net FROM orders ORDER BY id").fetchall()
    for number, customer, code, week, net in rows:
        gross = (net + shipping(net)) * lookup(conn, code, week)
        spent, count = totals.get(customer, (0.0, 0))
        totals[customer] = (spent + round(gross, 2), count + 1)
    return totals


def discount_letters(totals):
    letters = []
    for customer, (spent, count) in sorted(totals.items(), key=lambda item: -item[1][0]):
        grade = "gold" if spent > 900 else "silver" if spent > 400 else "none"
        letters.append("%d;%s;%.2f;%d" % (customer, grade, spent, count))
    return letters


def one_pass(number, make_lookup):
    conn = open_books(number, 12000)
    totals = book(conn, make_lookup())
    letters = discount_letters(totals)
    conn.close()
    return len(letters), "\n".join(letters)


if __name__ == "__main__":
    run(one_pass, lambda: rate_on, lambda: remembered(rate_on))
