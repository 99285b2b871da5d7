# SPDX-License-Identifier: Apache-2.0
"""Checks an insurer's claims: decodes the scanned form, adds its items up, and puts aside those that do not add up."""
import random
import struct

import service

ITEM = struct.Struct("<IIf")
ITEMS = 150


class ClaimError(Exception):
    pass


class Checker:
    def __init__(self):
        self.accepted = 0
        self.paid = 0.0
        self.put_aside = []

    def decode(self, form):
        items = [ITEM.unpack_from(form, offset) for offset in range(0, len(form), ITEM.size)]
        if not items:
            raise ClaimError("empty form")
        return items

    def check(self, number, form, stated):
        items = self.decode(form)
        total = sum(amount for _, _, amount in items)
        if abs(total - stated) > 0.01 * stated:
            raise ClaimError("claim %d: items make %.2f, stated are %.2f" % (number, total, stated))
        return total

    def take(self, number, form, stated):
        try:
            self.paid += self.check(number, form, stated)
            self.accepted += 1
        except ClaimError as error:
            self.put_aside.append(error)

    def summary(self):
        last = str(self.put_aside[-1]) if self.put_aside else "none"
        return "accepted %d, put aside %d, last: %s" % (self.accepted, len(self.put_aside), last)


def claim(rng):
    """A scanned form and the sum that the client wrote under it."""
    form = bytearray()
    total = 0.0
    for item in range(ITEMS):
        amount = rng.uniform(5.0, 900.0)
        total += amount
        form += ITEM.pack(item, rng.randrange(10000), amount)
    if rng.random() < 0.5:
        total *= rng.uniform(1.05, 1.6)
    return form, total


def main():
    rng = random.Random(19)
    checker = Checker()
    for number in service.rounds(per_second=150):
        form, stated = claim(rng)
        checker.take(number, form, stated)
        if number % 1500 == 0:
            print(checker.summary())
    print(checker.summary())


if __name__ == "__main__":
    main()
