# SPDX-License-Identifier: Apache-2.0
"""A wholesaler's prices: resolved through group, customer and campaign rules, kept until a price change touches the article, then used in quotes."""

import heapq
import random
from collections import Counter, defaultdict
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from common import run

CENT = Decimal("0.01")
SCALES = [(500, Decimal("0.88")), (100, Decimal("0.94")), (24, Decimal("0.97"))]
WHOLE = Decimal(1)


@dataclass(frozen=True)
class Rule:
    order: int
    segment: str
    least: int
    factor: Decimal


class PriceBook:
    """Prices by article and segment; a resolved one is kept as long as it is right."""

    def __init__(self, lists, rules):
        self.lists, self.rules = lists, rules
        self.kept = defaultdict(dict)
        self.counts = Counter()

    def change(self, article, price):
        self.lists[article] = price
        self.kept.pop(article, None)

    def price(self, article, segment):
        kept = self.kept[article]
        if segment not in kept:
            self.counts["resolved"] += 1
            kept[segment] = self.resolve(article, segment)
        return kept[segment]

    def resolve(self, article, segment):
        price = self.lists[article]
        for rule in self.rules[article[0]]:
            if price >= rule.least and rule.segment in ("", segment):
                price *= rule.factor
        return price.quantize(CENT, rounding=ROUND_HALF_UP)


@dataclass
class Quote:
    number: int
    lines: int
    net: Decimal
    best: list


class Seller:
    def __init__(self, book):
        self.book = book
        self.turnover = defaultdict(Decimal)

    def scale(self, count):
        return next((factor for least, factor in SCALES if count >= least), WHOLE)

    def quote(self, number, segment, wanted):
        net, rows = Decimal(0), []
        for article, count in wanted:
            row = (self.book.price(article, segment) * count * self.scale(count)).quantize(CENT, rounding=ROUND_HALF_UP)
            rows.append((row, article))
            net += row
        self.turnover[segment] += net
        return Quote(number, len(rows), net, heapq.nlargest(3, rows))

    def letter(self, quote):
        best = ", ".join("%s %s" % (article, row) for row, article in quote.best)
        return "Quote %06d: %d lines, %s net, chiefly %s" % (quote.number, quote.lines, quote.net, best)


def one_pass(number, _):
    rnd = random.Random(number)
    articles = ["%c-%05d" % (rnd.choice("ABCDEF"), at) for at in range(250)]
    segments = ["bakers", "cafes", "shops", "schools", "fairs"]
    whom = ["", *segments]
    rules = {
        group: [Rule(at, rnd.choice(whom), rnd.randint(0, 400), Decimal(rnd.randint(80, 104)).scaleb(-2)) for at in range(6)]
        for group in "ABCDEF"
    }
    book = PriceBook({article: Decimal(rnd.randint(90, 90_000)).scaleb(-2) for article in articles}, rules)
    seller = Seller(book)
    written = 0
    for quote in range(900):
        if rnd.random() < 0.2:
            book.change(rnd.choice(articles), Decimal(rnd.randint(90, 90_000)).scaleb(-2))
        wanted = [(article, rnd.randint(1, 150)) for article in rnd.sample(articles, rnd.randint(2, 14))]
        written += len(seller.letter(seller.quote(quote, rnd.choice(segments), wanted)))
    return written, book.counts["resolved"], sorted((name, str(sum_)) for name, sum_ in seller.turnover.items())


if __name__ == "__main__":
    run(one_pass)
