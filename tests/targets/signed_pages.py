# SPDX-License-Identifier: Apache-2.0
"""Pages of one day after the other: each is signed with one of ten keys, derived anew in C for each page, and its words are
made anew, by a property, for each of three checks.

No day's keys and pages are like another's. With --fixed keys and words are kept.
"""
import hashlib

import round_runner


class Page:
    def __init__(self, rng):
        self.text = " ".join("%03d" % rng.randrange(900) for _ in range(300))

    @property
    def words(self):
        return [int(word) ** 2 % 997 for word in self.text.split()]

    def middle(self):
        return self.words[150]

    def first(self):
        return self.words[0]

    def last(self):
        return self.words[-1]


class KeptPage(Page):
    kept = None

    @property
    def words(self):
        if self.kept is None:
            self.kept = [int(word) ** 2 % 997 for word in self.text.split()]
        return self.kept


def derived(secret, rounds):
    return hashlib.pbkdf2_hmac("sha256", secret, b"pages", rounds)


def publish(rng, fixed, number):
    secrets, keys = [b"%032x" % rng.getrandbits(128) for _ in range(10)], {}
    for _ in range(100):
        page, secret = (KeptPage if fixed else Page)(rng), rng.choice(secrets)
        key = keys.get(secret) or derived(secret, 250)
        if fixed:
            keys[secret] = key
        if len(key) != 32 or min(page.middle(), page.first(), page.last()) < 0:
            return "another page"
    return None


round_runner.run("signed_pages", __doc__, publish)
