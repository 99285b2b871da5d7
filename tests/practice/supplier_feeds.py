# SPDX-License-Identifier: Apache-2.0
"""Price lists of many suppliers, each with separators of its own, are read, checked and merged into the cheapest offer of each article."""

import csv
import io
import random
from collections import Counter
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation

from common import run

CENT, BULK = Decimal("0.01"), Decimal("0.97")
SEPARATORS = (";", ",", "\t", "|")
WORDS = ("steel", "brass", "hinge", "hook", "long", "short", "zinc", "left", "right", "round", "flat", "set")


@dataclass(slots=True)
class Offer:
    supplier: str
    price: Decimal
    stock: int
    name: str


def check_digit(digits):
    """Of the first twelve digits of an article number."""
    total = sum(map(int, digits[0:12:2])) + 3 * sum(map(int, digits[1:12:2]))
    return -total % 10


def feed(rnd, articles):
    """One supplier's file: a head, then an article a line; some numbers have a slip of the pen."""
    separator = rnd.choice(SEPARATORS)
    rows = [separator.join(("ean", "name", "stock", "price", "unit"))]
    for ean in rnd.sample(articles, rnd.randint(100, 180)):
        if rnd.random() < 0.03:
            ean = ean[:-1] + str((int(ean[-1]) + 1) % 10)
        name = " ".join(rnd.sample(WORDS, 3))
        price = "n/a" if rnd.random() < 0.02 else "%d.%03d" % (rnd.randint(0, 90), rnd.randrange(1_000))
        rows.append(separator.join((ean, '"%s"' % name, str(rnd.randrange(500)), price, rnd.choice(("pc", "kg", "m")))))
    return "\r\n".join(rows) + "\r\n"


def dialect(text):
    return csv.Sniffer().sniff(text)


def dialect_fixed(text):
    return csv.Sniffer().sniff(text[:600])


class Catalogue:
    def __init__(self, dialect):
        self.dialect = dialect
        self.best = {}
        self.refused = Counter()
        self.offers = Counter()

    def price(self, text, unit):
        """Cents of one unit, with the discount for bulk goods; None when there is no price."""
        try:
            price = Decimal(text)
        except InvalidOperation:
            return None
        return (price * BULK if unit == "kg" else price).quantize(CENT, ROUND_HALF_UP)

    def offer(self, supplier, ean, name, stock, price, unit):
        if len(ean) != 13 or not ean.isdigit() or int(ean[-1]) != check_digit(ean):
            self.refused["number"] += 1
            return
        price = self.price(price, unit)
        if price is None or not price:
            self.refused["price"] += 1
            return
        self.offers[supplier] += 1
        known = self.best.get(ean)
        stock = int(stock)
        if known is None or (price, -stock) < (known.price, -known.stock):
            self.best[ean] = Offer(supplier, price, stock, name.title())

    def read(self, supplier, text):
        rows = csv.reader(io.StringIO(text, newline=""), dialect=self.dialect(text))
        next(rows)
        for row in rows:
            self.offer(supplier, *row)

    def shelf(self):
        """The list for the shop: what is in stock, by name and number, with the supplier's mark."""
        out = io.StringIO(newline="")
        writer = csv.writer(out, delimiter=";")
        for ean, offer in sorted(self.best.items(), key=lambda item: (item[1].name, item[0])):
            if offer.stock:
                writer.writerow((ean, offer.name, offer.price, offer.stock, offer.supplier))
        return out.getvalue()

    def winners(self):
        return Counter(offer.supplier for offer in self.best.values()).most_common(3)


def one_pass(number, dialect):
    rnd = random.Random(number)
    twelve = {"40%010d" % rnd.randrange(10**10) for _ in range(260)}
    articles = [digits + str(check_digit(digits)) for digits in sorted(twelve)]
    catalogue = Catalogue(dialect)
    for at in range(12):
        catalogue.read("S%02d" % at, feed(rnd, articles))
    shelf = catalogue.shelf()
    return len(catalogue.best), sorted(catalogue.refused.items()), catalogue.winners(), len(shelf), shelf[:80]


if __name__ == "__main__":
    run(one_pass, dialect, dialect_fixed)
