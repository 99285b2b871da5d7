# SPDX-License-Identifier: Apache-2.0
"""The badge desk of a fair: issues visitors' badges, checks them at the gates, takes some back."""

import hashlib
import hmac
import json
import random

from common import run

HALLS = ["north", "south", "yard", "press", "loft"]


class Fair:
    def __init__(self, name, secret):
        self.name = name
        self.secret = secret
        self.void = set()
        self.entries = {hall: 0 for hall in HALLS}

    def key(self):
        return hashlib.pbkdf2_hmac("sha256", self.secret, self.name.encode(), 10)

    def issue(self, visitor, halls, day):
        body = json.dumps({"v": visitor, "h": halls, "d": day}, separators=(",", ":")).encode()
        return body, hashlib.blake2b(body, key=self.key(), digest_size=12).hexdigest()

    def admit(self, badge, hall, day):
        body, tag = badge
        if not hmac.compare_digest(hashlib.blake2b(body, key=self.key(), digest_size=12).hexdigest(), tag):
            return False
        fields = json.loads(body)
        if fields["v"] in self.void or fields["d"] != day or hall not in fields["h"]:
            return False
        self.entries[hall] += 1
        return True

    def withdraw(self, badge):
        body, tag = badge
        if hashlib.blake2b(body, key=self.key(), digest_size=12).hexdigest() == tag:
            self.void.add(json.loads(body)["v"])


class FairFixed(Fair):
    def __init__(self, name, secret):
        super().__init__(name, secret)
        self.kept = super().key()

    def key(self):
        return self.kept


def one_pass(number, step):
    rnd = random.Random(number)
    fair = step(f"fair {number}", rnd.randbytes(24))
    badges = []
    refused = 0
    for visitor in range(900):
        badges.append(fair.issue(f"{number}-{visitor}", rnd.sample(HALLS, 3), rnd.randint(1, 3)))
        if visitor % 11 == 10:
            fair.withdraw(rnd.choice(badges))
        for _ in range(2):
            refused += not fair.admit(rnd.choice(badges), rnd.choice(HALLS), rnd.randint(1, 3))
    return refused, fair.entries, badges[-1][1]


if __name__ == "__main__":
    run(one_pass, Fair, FairFixed)
