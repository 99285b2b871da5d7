# SPDX-License-Identifier: Apache-2.0
"""Day codes of a bath's lockers: each follows from a secret by many rounds of a hash, easy ones are passed over, sheets are sealed."""

import hashlib
import random
from collections import Counter

from common import run

ROUNDS = 60
EASY = {"0000", "1234", "4321", "1111", "2580"}


class Maker:
    def __init__(self, secret):
        self.secret = secret
        self.passed_over = 0

    def stretch(self, salt):
        """Every round hashes what the last one gave, so that guessing a secret takes as long as making a code."""
        state = self.secret + salt
        for _ in range(ROUNDS):
            state = hashlib.sha256(state + salt).digest()
        return state

    def code(self, locker, day):
        for attempt in range(9):
            state = self.stretch(b"%d.%d.%d" % (locker, day, attempt))
            code = "%04d" % (int.from_bytes(state[:8], "big") % 10_000)
            if code not in EASY and len(set(code)) > 2:
                return code
            self.passed_over += 1
        return code


class Sheet:
    """A day's codes as the attendants have them; each line's seal holds those before it."""

    def __init__(self, day):
        self.day = day
        self.seal = hashlib.sha256(b"day %d" % day).digest()
        self.lines = []

    def add(self, locker, row, code):
        line = "day %03d  row %s  locker %03d  %s" % (self.day, row, locker, code)
        self.seal = hashlib.sha256(self.seal + line.encode()).digest()
        self.lines.append("%s  %s" % (line, self.seal[:4].hex()))


class Bath:
    def __init__(self, rnd, maker):
        self.rnd = rnd
        self.maker = maker
        self.digits = Counter()
        self.out_of_order = set(rnd.sample(range(120), 6))

    def sheet(self, day):
        sheet = Sheet(day)
        for locker in range(120):
            if locker in self.out_of_order:
                if self.rnd.random() < 0.2:
                    self.out_of_order.discard(locker)
                continue
            code = self.maker.code(locker, day)
            self.digits.update(code)
            sheet.add(locker, "ABCDEF"[locker // 20], code)
        self.out_of_order.add(self.rnd.randrange(120))
        return sheet


def one_pass(number, _):
    rnd = random.Random(number)
    maker = Maker(rnd.randbytes(24))
    bath = Bath(rnd, maker)
    sheets = [bath.sheet(day) for day in range(3)]
    return sheets[-1].seal.hex(), sheets[0].lines[:2], maker.passed_over, sorted(bath.digits.items())[:3]


if __name__ == "__main__":
    run(one_pass, None)
