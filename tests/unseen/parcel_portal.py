# SPDX-License-Identifier: Apache-2.0
"""A parcel shop's web portal gives its visitors sealed tokens and opens them again when they come back."""

import base64
import hashlib
import hmac
import json
import random

from runner import run

VISITS = 240
ROUNDS = 24
PLACES = ("locker", "counter", "doorstep", "neighbour")


class Seal:
    """Tokens of the form body.tag, in the letters that web addresses allow."""

    def __init__(self, secret, site):
        self.secret = secret
        self.site = site

    def key(self):
        return hashlib.pbkdf2_hmac("sha256", self.secret, self.site, ROUNDS)

    def close(self, content):
        body = base64.urlsafe_b64encode(json.dumps(content, separators=(",", ":")).encode())
        tag = hmac.digest(self.key(), body, "sha256")
        return body + b"." + base64.urlsafe_b64encode(tag)

    def open(self, token):
        body, _, tag = token.partition(b".")
        right = hmac.digest(self.key(), body, "sha256")
        if not hmac.compare_digest(right, base64.urlsafe_b64decode(tag)):
            return None
        return json.loads(base64.urlsafe_b64decode(body))


class SealFixed(Seal):
    def __init__(self, secret, site):
        super().__init__(secret, site)
        self.derived = super().key()

    def key(self):
        return self.derived


def visits(seed):
    rnd = random.Random(seed)
    for number in range(VISITS):
        yield {
            "visitor": rnd.randrange(10**9),
            "parcels": [rnd.randrange(10**12) for _ in range(rnd.randrange(1, 6))],
            "place": rnd.choice(PLACES),
            "until": 1_600_000_000 + 86_400 * seed + 311 * number,
        }


def tampered(token, rnd):
    """Now and then somebody changes a letter of his token."""
    if rnd.random() > 0.04:
        return token
    at = rnd.randrange(len(token) // 2)
    return token[:at] + (b"A" if token[at : at + 1] != b"A" else b"B") + token[at + 1 :]


def day(seal, number):
    rnd = random.Random(-number)
    tokens = [tampered(seal.close(content), rnd) for content in visits(number)]
    rnd.shuffle(tokens)
    refused, parcels, counts = 0, 0, dict.fromkeys(PLACES, 0)
    for token in tokens:
        content = seal.open(token)
        if content is None:
            refused += 1
            continue
        counts[content["place"]] += 1
        parcels += len(content["parcels"])
    return refused, parcels, sorted(counts.items())


def one_pass(number, step):
    rnd = random.Random(7 * number + 3)
    return day(step(rnd.randbytes(32), b"portal %d" % number), number)


if __name__ == "__main__":
    run(one_pass, Seal, SealFixed)
