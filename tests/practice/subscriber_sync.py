# SPDX-License-Identifier: Apache-2.0
"""A newsletter's table of subscribers follows the mail provider's events: bounces, complaints, openings and changes of address."""

import json
import random
import sqlite3
from collections import Counter

from common import run

SUBSCRIBERS, EVENTS = 1_400, 700
DOMAINS = ("example.org", "mail.example.net", "post.example.com")
TABLES = """
create table subscribers (id integer primary key, email text not null, state text not null, bounces integer not null, opened integer, score real not null);
create table journal (id integer primary key, subscriber integer, what text, at integer);
"""
TABLES_FIXED = TABLES + "create index subscribers_email on subscribers (email);\n"
UPDATES = {
    "bounce": "update subscribers set bounces = ?, state = ? where id = ?",
    "complaint": "update subscribers set state = 'off', score = 0 where id = ?",
    "move": "update subscribers set email = ?, bounces = 0 where id = ?",
    "open": "update subscribers set opened = ?, score = ?, bounces = 0 where id = ?",
}
FIND = "select id, bounces, opened, score from subscribers where email = ?"


def address(rnd):
    return "%s.%x@%s" % (rnd.choice("abcdefghijklmnop"), rnd.getrandbits(32), rnd.choice(DOMAINS))


def events(rnd, known):
    """As the provider posts them: JSON, a few of them for addresses that nobody knows."""
    for number in range(EVENTS):
        kind = rnd.choices(("open", "click", "bounce", "complaint", "move"), (50, 20, 20, 4, 6))[0]
        at = rnd.randrange(len(known))
        event = {"event": kind, "email": known[at] if rnd.random() < 0.97 else address(rnd), "at": 1_690_000_000 + 11 * number}
        if kind == "bounce":
            event["reason"] = rnd.choice(("mailbox full", "no such user", "greylisted"))
        elif kind == "move":
            event["new"] = address(rnd)
            if event["email"] == known[at]:
                known[at] = event["new"]
        yield json.dumps(event)


class Sync:
    def __init__(self, db):
        self.db = db
        self.counts = Counter()

    def find(self, email):
        return self.db.execute(FIND, (email,)).fetchone()

    def bounce(self, number, bounces, reason):
        """Five soft bounces, or a hard one, and no more mail is sent."""
        bounces += 5 if reason == "no such user" else 1
        self.db.execute(UPDATES["bounce"], (bounces, "off" if bounces >= 5 else "active", number))
        return bounces >= 5

    def handle(self, text):
        event = json.loads(text)
        kind = event["event"]
        found = self.find(event["email"])
        if found is None:
            self.counts["unknown"] += 1
            return
        number, bounces, opened, score = found
        if kind == "bounce":
            self.counts["off"] += self.bounce(number, bounces, event["reason"])
        elif kind == "complaint":
            self.db.execute(UPDATES["complaint"], (number,))
        elif kind == "move":
            self.db.execute(UPDATES["move"], (event["new"], number))
        else:
            days = (event["at"] - opened) / 86_400 if opened else 30.0
            gain = (3.0 if kind == "click" else 1.0) * min(days, 30.0) / 30.0
            self.db.execute(UPDATES["open"], (event["at"], 0.9 * score + gain, number))
        self.db.execute("insert into journal (subscriber, what, at) values (?, ?, ?)", (number, kind, event["at"]))
        self.counts[kind] += 1

    def segments(self):
        """How many of each state and score there are, and who is to be asked again."""
        rows = self.db.execute("select state, cast(score as integer), count(*) from subscribers group by 1, 2 order by 1, 2").fetchall()
        asked = self.db.execute("select count(*) from subscribers where state = 'active' and opened is null and bounces between 1 and 4").fetchone()
        busiest = self.db.execute("select max(times) from (select count(*) as times from journal group by subscriber)").fetchone()
        return rows, asked[0], busiest[0]


def one_pass(number, tables):
    rnd = random.Random(number)
    known = [address(rnd) for _ in range(SUBSCRIBERS)]
    db = sqlite3.connect(":memory:")
    db.executescript(tables)
    db.executemany("insert into subscribers values (?, ?, 'active', 0, null, ?)", [(at, email, rnd.random() * 4) for at, email in enumerate(known)])
    sync = Sync(db)
    for text in events(rnd, known):
        sync.handle(text)
    rows = sync.segments()
    db.close()
    return sorted(sync.counts.items()), rows


if __name__ == "__main__":
    run(one_pass, TABLES, TABLES_FIXED)
