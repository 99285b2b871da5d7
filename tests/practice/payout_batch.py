# SPDX-License-Identifier: Apache-2.0
"""The nightly payouts of a marketplace: sellers' sales are netted, checked, charged and written as a bank's file; traces go to the log when asked for."""

import hashlib
import json
import logging
import random
from collections import Counter
from dataclasses import dataclass, field
from decimal import ROUND_HALF_EVEN, Decimal
from typing import List
from xml.sax.saxutils import escape

from common import run

log = logging.getLogger("payouts")
log.setLevel(logging.WARNING)

CENT = Decimal("0.01")
FEES = {"basic": Decimal("0.12"), "plus": Decimal("0.09"), "pro": Decimal("0.065")}
LETTERS = {chr(55 + value): str(value) for value in range(10, 36)}


@dataclass
class Sale:
    order: str
    gross: Decimal
    returned: bool


@dataclass
class Payout:
    seller: int
    name: str
    iban: str
    plan: str
    sales: List[Sale]
    held: Decimal
    net: Decimal = Decimal(0)
    notes: List[str] = field(default_factory=list)


def describe(payout):
    """A payout as a reader of the log wants to see it."""
    return json.dumps(vars(payout), default=lambda part: str(part) if isinstance(part, Decimal) else vars(part), indent=1)


class Tracer:
    def __init__(self):
        self.step = 0

    def trace(self, stage, payout):
        self.step += 1
        log.debug("%d %s: %s", self.step, stage, describe(payout))


class TracerFixed(Tracer):
    def trace(self, stage, payout):
        self.step += 1
        if log.isEnabledFor(logging.DEBUG):
            log.debug("%d %s: %s", self.step, stage, describe(payout))


def valid_iban(iban):
    turned = iban[4:] + iban[:4]
    return int("".join(LETTERS.get(char, char) for char in turned)) % 97 == 1


class Batch:
    def __init__(self, tracer):
        self.tracer = tracer
        self.digest = hashlib.sha256()
        self.turned_down = Counter()
        self.paid = Decimal(0)
        self.fees = Counter()

    def process(self, payout):
        self.tracer.trace("received", payout)
        self.charge(payout)
        reason = self.refusal(payout)
        if reason:
            self.turned_down[reason] += 1
            return
        self.tracer.trace("accepted", payout)
        self.paid += payout.net
        self.digest.update(self.document(payout).encode())

    def charge(self, payout):
        rate = FEES[payout.plan]
        for sale in payout.sales:
            fee = (sale.gross * rate).quantize(CENT, rounding=ROUND_HALF_EVEN)
            if sale.returned:
                payout.net -= fee
                payout.notes.append("returned %s" % sale.order)
            else:
                payout.net += sale.gross - fee
            self.fees[payout.plan] += fee
        payout.net -= payout.held

    def refusal(self, payout):
        if payout.net <= 1:
            return "too little"
        if payout.net > 4_000:
            return "by hand"
        return None if valid_iban(payout.iban) else "account"

    def document(self, payout):
        parts = ["<CdtTrfTxInf><Id>%08d</Id><Amt>%s</Amt>" % (payout.seller, payout.net)]
        parts.append("<Nm>%s</Nm><IBAN>%s</IBAN>" % (escape(payout.name), payout.iban))
        for sale in payout.sales:
            sign = "-" if sale.returned else "+"
            parts.append("<Strd ref='%s' sign='%s'>%s</Strd>" % (sale.order, sign, sale.gross))
        parts.extend("<Ustrd>%s</Ustrd>" % escape(note) for note in payout.notes)
        parts.append("</CdtTrfTxInf>")
        return "".join(parts)


def iban(rnd):
    account = "%018d" % rnd.randrange(10**18)
    check = 98 - int(account + "131400") % 97
    return "DE%02d%s" % (check if rnd.random() < 0.97 else 0, account)


def payouts(rnd, many):
    plans = list(FEES)
    for at in range(many):
        sales = []
        for _ in range(rnd.randint(2, 18)):
            sales.append(Sale("%010x" % rnd.getrandbits(40), Decimal(rnd.randint(150, 30_000)) / 100, rnd.random() < 0.08))
        name = "%s & %s Ltd" % ("".join(rnd.choices("AEIOKLMN", k=6)), "".join(rnd.choices("aeioklmn", k=6)))
        yield Payout(rnd.randrange(10**8), name, iban(rnd), rnd.choice(plans), sales, Decimal(rnd.randint(0, 900)) / 100)


def one_pass(number, tracer):
    batch = Batch(tracer())
    for payout in payouts(random.Random(number), 500):
        batch.process(payout)
    return batch.digest.hexdigest(), str(batch.paid), sorted(batch.turned_down.items()), sorted(batch.fees.items()), batch.tracer.step


if __name__ == "__main__":
    run(one_pass, Tracer, TracerFixed)
