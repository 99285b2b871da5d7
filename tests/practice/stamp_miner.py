# SPDX-License-Identifier: Apache-2.0
"""Proof-of-work stamps for a mailbox: for each header the first nonce with a small enough digest."""

import hashlib
import random

from common import run

LIMIT = 1 << 247


def headers(seed, count):
    rng = random.Random(seed)
    before = rng.randbytes(32)
    for _ in range(count):
        recipients = ",".join("%x@post.example" % rng.getrandbits(32) for _ in range(rng.randrange(1, 9)))
        header = b"stamp:2:" + before + recipients.encode() + b":"
        yield header
        before = hashlib.sha256(header).digest()


def mine(header):
    base = hashlib.sha256(header)
    nonce = 0
    while True:
        trial = base.copy()
        trial.update(b"%d" % nonce)
        digest = trial.digest()
        if int.from_bytes(digest, "big") < LIMIT:
            return nonce, digest
        nonce += 1


def check(header, nonce):
    return int.from_bytes(hashlib.sha256(header + b"%d" % nonce).digest(), "big") < LIMIT


def merkle(digests):
    level = list(digests)
    while len(level) > 1:
        if len(level) % 2:
            level.append(level[-1])
        level = [hashlib.sha256(a + b).digest() for a, b in zip(level[::2], level[1::2])]
    return level[0]


def one_pass(number, _):
    found, tried, valid = [], 0, 0
    for header in headers(number, 220):
        nonce, digest = mine(header)
        found.append(digest)
        tried += nonce + 1
        valid += check(header, nonce)
    return valid, tried, merkle(found).hex()


if __name__ == "__main__":
    run(one_pass)
