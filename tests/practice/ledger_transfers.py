# SPDX-License-Identifier: Apache-2.0
"""Transfers between a few busy accounts, each checked against the balance as it then stands."""

import random
import sqlite3

from common import run

ACCOUNTS = range(1, 30)
BANK = 0
BALANCE = "SELECT cents FROM account WHERE id = ?"
MOVE = "UPDATE account SET cents = cents + ? WHERE id = ?"
NOTE = "INSERT INTO journal (source, target, cents, fee) VALUES (?, ?, ?, ?)"


def open_bank(rng):
    conn = sqlite3.connect(":memory:", isolation_level=None)
    conn.execute("CREATE TABLE account (id INTEGER PRIMARY KEY, cents INTEGER CHECK (cents >= 0))")
    conn.execute("CREATE TABLE journal (number INTEGER PRIMARY KEY, source, target, cents, fee)")
    conn.executemany("INSERT INTO account VALUES (?, ?)", [(n, rng.randrange(10**5, 10**7)) for n in (BANK, *ACCOUNTS)])
    return conn


def fee_for(balance, cents):
    if balance > 5_000_000:
        return 0
    return 15 if balance > 1_000_000 else max(35, cents // 200)


def transfer(conn, source, target, part):
    conn.execute("BEGIN")
    (balance,) = conn.execute(BALANCE, (source,)).fetchone()
    cents = max(100, balance * part // 1000)
    fee = fee_for(balance, cents)
    if balance < cents + fee:
        conn.execute("ROLLBACK")
        return False
    conn.execute(MOVE, (-cents - fee, source))
    conn.execute(MOVE, (cents, target))
    if fee:
        conn.execute(MOVE, (fee, BANK))
    conn.execute(NOTE, (source, target, cents, fee))
    conn.execute("COMMIT")
    return True


def statements(conn):
    lines = {account: [] for account in ACCOUNTS}
    for number, source, target, cents, fee in conn.execute("SELECT * FROM journal ORDER BY number"):
        lines[source].append(f"{number:06d} {-(cents + fee) / 100:>14,.2f}")
        lines[target].append(f"{number:06d} {cents / 100:>14,.2f}")
    return lines


def one_pass(number, _):
    rng = random.Random(number)
    conn = open_bank(rng)
    done = 0
    for _ in range(4000):
        source, target = rng.sample(ACCOUNTS, 2)
        done += transfer(conn, source, target, rng.randrange(1, 1100))
    printed = sum(len(lines) for lines in statements(conn).values())
    (held,) = conn.execute("SELECT sum(cents) FROM account").fetchone()
    conn.close()
    return done, printed, held


if __name__ == "__main__":
    run(one_pass)
