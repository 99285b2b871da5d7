# SPDX-License-Identifier: Apache-2.0
"""Takes in suppliers' electronic invoices: checks the seller, the sums and the tax, and books them."""

import hashlib
import random
import xml.etree.ElementTree as ET
from decimal import ROUND_HALF_UP, Decimal

from runner import run

CENT = Decimal("0.01")
RATES = {"S": Decimal("0.19"), "R": Decimal("0.07"), "Z": Decimal("0")}
GOODS = ("paper", "toner", "chairs", "coffee", "cables", "lamps", "cleaning", "screws")


def cents(amount):
    return amount.quantize(CENT, rounding=ROUND_HALF_UP)


class Invoice:
    def __init__(self, text):
        self.text = text

    def document(self):
        return ET.fromstring(self.text)

    def seller(self):
        party = self.document().find("Seller")
        return party.findtext("TaxNumber"), party.findtext("Name").strip()

    def positions(self):
        for line in self.document().iter("Line"):
            yield (
                line.findtext("Item"),
                int(line.findtext("Quantity")),
                Decimal(line.findtext("Price")),
                line.get("rate"),
            )

    def claimed(self):
        totals = self.document().find("Totals")
        return Decimal(totals.get("net")), Decimal(totals.get("tax"))


class ReadInvoice(Invoice):
    def __init__(self, text):
        super().__init__(text)
        self.root = ET.fromstring(text)

    def document(self):
        return self.root


def write(rng, serial):
    lines, net, tax = [], Decimal(0), Decimal(0)
    for _ in range(rng.randint(6, 18)):
        quantity, price = rng.randint(1, 40), Decimal(rng.randint(99, 20_000)) / 100
        rate = rng.choice("SSSRZ")
        net += quantity * price
        tax += cents(quantity * price * RATES[rate])
        lines.append(
            '<Line rate="%s"><Item>%s</Item><Quantity>%d</Quantity><Price>%s</Price></Line>'
            % (rate, rng.choice(GOODS), quantity, price)
        )
    if rng.random() < 0.05:
        tax += CENT
    seller = "<Seller><Name> Firm %d </Name><TaxNumber>DE%09d</TaxNumber></Seller>" % (serial, serial)
    return '<Invoice number="%d">%s<Lines>%s</Lines><Totals net="%s" tax="%s"/></Invoice>' % (
        serial,
        seller,
        "".join(lines),
        net,
        tax,
    )


class Ledger:
    def __init__(self):
        self.accounts = {}
        self.refused = []
        self.seal = hashlib.sha256()

    def book(self, invoice):
        number, name = invoice.seller()
        net = tax = Decimal(0)
        by_item = {}
        for item, quantity, price, rate in invoice.positions():
            amount = quantity * price
            net += amount
            tax += cents(amount * RATES[rate])
            by_item[item] = by_item.get(item, 0) + amount
        if (net, tax) != invoice.claimed():
            self.refused.append(number)
            return
        for item, amount in by_item.items():
            self.accounts[item] = self.accounts.get(item, 0) + amount
        self.seal.update(("%s|%s|%s|%s" % (number, name, net, tax)).encode())


def one_pass(number, kind):
    rng = random.Random(number)
    ledger = Ledger()
    for serial in range(500):
        ledger.book(kind(write(rng, number * 500 + serial)))
    totals = sorted((item, str(amount)) for item, amount in ledger.accounts.items())
    return totals, len(ledger.refused), ledger.seal.hexdigest()


if __name__ == "__main__":
    run(one_pass, Invoice, ReadInvoice)
