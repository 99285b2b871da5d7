# SPDX-License-Identifier: Apache-2.0
"""Seals a payroll bureau's exports: each file is packed, gets a key from the bureau's secret and its own salt, and is signed piece by piece."""

import csv
import hashlib
import hmac
import io
import random
import struct
import zlib
from decimal import ROUND_HALF_EVEN, Decimal

from common import run

ROUNDS = 400
CENT = Decimal("0.01")
PER_CHILD = Decimal("12.50")
HEAD = struct.Struct(">4s16sIH")


class Sealer:
    def __init__(self, secret, rnd):
        self.secret, self.rnd = secret, rnd

    def keys(self, salt):
        both = hashlib.pbkdf2_hmac("sha256", self.secret, salt, ROUNDS, 64)
        return both[:32], both[32:]

    def veiled(self, data, key):
        """The data under a stream of digests of key and place."""
        stream = b"".join(hashlib.sha256(key + at.to_bytes(4, "big")).digest() for at in range(-(-len(data) // 32)))
        mixed = int.from_bytes(data, "big") ^ int.from_bytes(stream[: len(data)], "big")
        return mixed.to_bytes(len(data), "big")

    def seal(self, text):
        salt = self.rnd.getrandbits(128).to_bytes(16, "big")
        veil, sign = self.keys(salt)
        body = self.veiled(zlib.compress(text.encode(), 6), veil)
        pieces = [HEAD.pack(b"PAY1", salt, len(body), ROUNDS)]
        mark = hmac.new(sign, pieces[0], "sha256")
        for at in range(0, len(body), 512):
            mark.update(body[at : at + 512])
            pieces.append(body[at : at + 512] + mark.digest()[:8])
        return b"".join(pieces)


class Bureau:
    def __init__(self, sealer):
        self.sealer = sealer
        self.paid = Decimal(0)
        self.sizes = []
        self.check = hashlib.sha256()

    def net(self, gross, share, child):
        tax = (gross * share).quantize(CENT, ROUND_HALF_EVEN)
        return gross - tax + child * PER_CHILD

    def export(self, firm, staff):
        out = io.StringIO()
        sheet = csv.writer(out, delimiter=";")
        total = Decimal(0)
        for number, (gross, share, child) in enumerate(staff):
            net = self.net(gross, share, child)
            total += net
            sheet.writerow((firm, number, gross, share, net))
        sheet.writerow((firm, "total", "", "", total))
        sealed = self.sealer.seal(out.getvalue())
        self.paid += total
        self.sizes.append(len(sealed))
        self.check.update(sealed)


def staff(rnd):
    for _ in range(rnd.randint(5, 60)):
        yield Decimal(rnd.randint(150_000, 900_000)).scaleb(-2), Decimal(rnd.randint(12, 45)).scaleb(-2), rnd.randint(0, 3)


def one_pass(number, _):
    rnd = random.Random(number)
    bureau = Bureau(Sealer(b"bureau-%d" % number, rnd))
    for firm in range(40):
        bureau.export("firm%02d" % firm, staff(rnd))
    return str(bureau.paid), bureau.sizes, bureau.check.hexdigest()


if __name__ == "__main__":
    run(one_pass)
