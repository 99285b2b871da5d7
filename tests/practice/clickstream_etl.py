# SPDX-License-Identifier: Apache-2.0
"""Web server log lines to visits, and visits to a table for the marketing people."""

import random
import re
from urllib.parse import parse_qs, urlsplit

import pandas as pd

from common import run

LINE = re.compile(
    r'(?P<host>\S+) - \[(?P<second>\d+)\] "(?P<verb>[A-Z]+) (?P<url>\S+)" '
    r"(?P<status>\d{3}) (?P<size>\d+)"
)
PAGES = ("/", "/shop", "/shop/shoes", "/shop/hats", "/basket", "/pay", "/help")
GAP = 2400


def make_log(seed, hits):
    rng = random.Random(seed)
    second = 0
    for _ in range(hits):
        second += rng.randrange(4, 60)
        host = "10.0.%d.%d" % (rng.randrange(2), rng.randrange(12))
        url = rng.choice(PAGES)
        if rng.random() < 0.4:
            url += "?utm_source=%s&page=%d" % (rng.choice(["mail", "ad", "search"]), rng.randrange(9))
        yield f'{host} - [{second}] "GET {url}" {rng.choice((200, 200, 200, 304, 404))} {rng.randrange(90000)}'


def visits(lines):
    running = {}
    for line in lines:
        hit = LINE.match(line)
        if hit is None or hit["status"] == "404":
            continue
        url = urlsplit(hit["url"])
        source = parse_qs(url.query).get("utm_source", ["direct"])[0]
        second = int(hit["second"])
        visit = running.get(hit["host"])
        if visit is None or second - visit["last"] > GAP:
            if visit is not None:
                yield visit
            visit = {"host": hit["host"], "first": second, "last": second, "source": source, "pages": 0, "bytes": 0}
            visit["paid"] = False
            running[hit["host"]] = visit
        visit["last"] = second
        visit["pages"] += 1
        visit["bytes"] += int(hit["size"])
        visit["paid"] |= url.path == "/pay"
    yield from running.values()


def table(found):
    frame = pd.DataFrame()
    for visit in found:
        frame = pd.concat([frame, pd.DataFrame([visit])], ignore_index=True)
    return frame


def table_fixed(found):
    return pd.DataFrame(list(found))


def summary(frame):
    frame["length"] = frame["last"] - frame["first"]
    by_source = frame.groupby("source").agg(
        visits=("host", "size"), paid=("paid", "sum"), pages=("pages", "mean"), length=("length", "median")
    )
    return by_source.reset_index().values.tolist()


def one_pass(number, make_table):
    frame = make_table(visits(make_log(number, 6000)))
    return summary(frame), len(frame)


if __name__ == "__main__":
    run(one_pass, table, table_fixed)
