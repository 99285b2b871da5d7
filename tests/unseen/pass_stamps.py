# SPDX-License-Identifier: Apache-2.0
"""Visitor passes of a works site: stamped anew at each use, shown at inner doors, extended, taken back; the log is sealed line by line."""

import base64
import hashlib
import hmac
import random
from collections import Counter
from dataclasses import dataclass

from runner import run

DOORS = ("canteen", "hall 1", "hall 2", "paint shop", "office", "yard")
RIGHTS = {"driver": 0b100001, "fitter": 0b100110, "guest": 0b110001, "auditor": 0b111111}


@dataclass
class Pass:
    serial: int
    kind: str
    until: int
    host: str
    uses: int = 0

    def body(self):
        return b"%08d|%s|%06d|%s|%04d" % (self.serial, self.kind.encode(), self.until, self.host.encode(), self.uses)


class Signer:
    """Keys are derived once a day and kept; a stamp is of the pass as it is at the moment."""

    def __init__(self, secret):
        self.secret = secret
        self.keys = {}

    def key(self, day):
        if day not in self.keys:
            self.keys[day] = hashlib.pbkdf2_hmac("sha256", self.secret, b"day %d" % day, 200)
        return self.keys[day]

    def stamp(self, day, body):
        digest = hmac.digest(self.key(day), body, "sha512")
        return base64.b32encode(digest[:20]).decode()

    def seal(self, day, before, line):
        return hmac.new(self.key(day), before.encode() + line.encode(), "sha512").hexdigest()


class Site:
    def __init__(self, secret):
        self.signer = Signer(secret)
        self.stamps = {}
        self.revoked = set()
        self.outcome = Counter()
        self.log = []
        self.seal = ""

    def issue(self, now, card):
        self.stamps[card.serial] = self.signer.stamp(now // 1440, card.body())

    def show(self, now, card, door, stamp):
        if not hmac.compare_digest(self.stamps[card.serial], stamp):
            return self.note(now, card, door, "forged")
        if card.serial in self.revoked:
            return self.note(now, card, door, "revoked")
        if now > card.until:
            return self.note(now, card, door, "late")
        if not RIGHTS[card.kind] >> DOORS.index(door) & 1:
            return self.note(now, card, door, "no right")
        card.uses += 1
        self.issue(now, card)
        return self.note(now, card, door, "open")

    def note(self, now, card, door, what):
        self.outcome[what] += 1
        line = f"{now:06d} {card.serial:08d} {card.kind:<7} {door:<10} {what} {card.uses}"
        self.seal = self.signer.seal(now // 1440, self.seal, line)
        self.log.append(line)
        return what == "open"

    def extend(self, now, card, minutes):
        card.until += minutes
        self.issue(now, card)


def one_pass(number, step):
    rnd = random.Random(number)
    site = Site(rnd.randbytes(24))
    cards, now = [], number * 1440 + 360
    for _ in range(60):
        card = Pass(rnd.randrange(10**8), rnd.choice(list(RIGHTS)), now + rnd.randint(60, 600), rnd.choice(("Marr", "Oyelaran", "Szabo", "Quist")))
        cards.append(card)
        site.issue(now, card)
    for at in range(2_000):
        now += rnd.random() < 0.3
        card = rnd.choice(cards)
        stamp = site.stamps[card.serial]
        site.show(now, card, rnd.choice(DOORS), stamp if rnd.random() < 0.97 else stamp[::-1])
        if at % 90 == 0:
            site.extend(now, rnd.choice(cards), 30)
        if at % 300 == 299:
            site.revoked.add(rnd.choice(cards).serial)
    return sorted(site.outcome.items()), site.log[-2:], site.seal[:20], max(card.uses for card in cards)


if __name__ == "__main__":
    run(one_pass)
