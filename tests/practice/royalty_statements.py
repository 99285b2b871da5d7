# SPDX-License-Identifier: Apache-2.0
"""A music publisher's quarter: plays from the shops are matched to works, money is parted among the writers to the penny, statements are written."""

import csv
import io
import random
from collections import defaultdict
from dataclasses import dataclass, field
from decimal import ROUND_DOWN, Decimal
from itertools import groupby
from operator import itemgetter

from common import run

SHOPS = {"tune": Decimal("0.0031"), "wave": Decimal("0.0044"), "loop": Decimal("0.0019")}
PENNY = Decimal("0.01")
WORKS, WRITERS, ROWS = 120, 45, 1500


@dataclass(frozen=True)
class Share:
    writer: str
    hundredths: int


@dataclass
class Statement:
    writer: str
    lines: list = field(default_factory=list)
    total: Decimal = Decimal(0)

    def add(self, work, shop, plays, money):
        self.lines.append((work, shop, plays, money))
        self.total += money

    def text(self):
        out = [f"Statement for {self.writer}", "-" * 40]
        for work, shop, plays, money in self.lines:
            out.append(f"{work:<14}{shop:<6}{plays:>9}{money:>11}")
        out.append(f"{'total':<29}{self.total:>11}")
        return "\n".join(out)


def catalogue(rnd):
    """Works by their code, each with one to four writers whose shares make a hundred."""
    works = {}
    for at in range(WORKS):
        writers = rnd.sample(range(WRITERS), rnd.randint(1, 4))
        cuts = sorted(rnd.sample(range(1, 100), len(writers) - 1))
        parts = [high - low for low, high in zip([0, *cuts], [*cuts, 100])]
        works[f"T{at:05}"] = [Share(f"writer{writer:02}", part) for writer, part in zip(writers, parts)]
    return works


def shop_report(rnd):
    rows, shops = io.StringIO(), list(SHOPS)
    table = csv.writer(rows)
    table.writerow(["shop", "work", "country", "plays"])
    for _ in range(ROWS):
        table.writerow([rnd.choice(shops), f"T{min(int(rnd.expovariate(0.03)), 140):05}", rnd.choice(("de", "fr", "us")), rnd.randint(1, 90_000)])
    rows.seek(0)
    return rows


def read_plays(file, works):
    """Plays by work and shop, in order; what nobody knows is kept apart."""
    plays, unknown = defaultdict(int), defaultdict(int)
    for row in csv.DictReader(file):
        known = plays if row["work"] in works else unknown
        known[row["work"], row["shop"]] += int(row["plays"])
    return sorted(plays.items()), sum(unknown.values())


def parted(money, shares):
    """Whole pennies for each; those left over go where the most was cut off."""
    exact = [(money * share.hundredths / 100, share.writer) for share in shares]
    cut = [(value.quantize(PENNY, ROUND_DOWN), value, writer) for value, writer in exact]
    spare = int((money - sum(down for down, _, _ in cut)) / PENNY)
    cut.sort(key=lambda row: row[1] - row[0], reverse=True)
    for at, (down, _, writer) in enumerate(cut):
        yield writer, down + PENNY if at < spare else down


def settle(plays, works):
    statements = {}
    for work, rows in groupby(plays, key=lambda item: item[0][0]):
        shares = works[work]
        for (_, shop), count in rows:
            money = (count * SHOPS[shop]).quantize(PENNY)
            for writer, part in parted(money, shares):
                if writer not in statements:
                    statements[writer] = Statement(writer)
                statements[writer].add(work, shop, count, part)
    return statements


def one_pass(number, step):
    rnd = random.Random(number)
    works = catalogue(rnd)
    plays, unknown = read_plays(shop_report(rnd), works)
    statements = settle(plays, works)
    texts = [statement.text() for _, statement in sorted(statements.items(), key=itemgetter(0))]
    best = max(statements.values(), key=lambda statement: statement.total)
    return unknown, sum(map(len, texts)), best.writer, str(best.total), str(sum(statement.total for statement in statements.values()))


if __name__ == "__main__":
    run(one_pass)
