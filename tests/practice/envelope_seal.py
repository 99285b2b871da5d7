# SPDX-License-Identifier: Apache-2.0
"""A letter box for several tenants: each letter packed, enciphered and signed with its tenant's key."""

import base64
import hashlib
import hmac
import json
import random
import zlib

from common import run

ROUNDS = 400
TENANTS = 14


def make_tenants(seed):
    rng = random.Random(seed)
    tenants = {}
    for number in range(TENANTS):
        phrase = "-".join("%05d" % rng.randrange(100_000) for _ in range(4))
        tenants["tenant%02d" % number] = (phrase.encode(), rng.randbytes(16))
    return tenants


def letters(seed, tenants, count):
    rng = random.Random(seed * 31 + 7)
    names = sorted(tenants)
    for number in range(count):
        lines = ["item %d costs %d" % (rng.randrange(500), rng.randrange(9_000)) for _ in range(rng.randrange(8, 40))]
        yield rng.choice(names), {"number": number, "subject": "%x" % rng.getrandbits(40), "lines": lines}


def derive_key(phrase, salt):
    return hashlib.pbkdf2_hmac("sha256", phrase, salt, ROUNDS)


def remembering(derive):
    keys = {}

    def key(phrase, salt):
        if (phrase, salt) not in keys:
            keys[phrase, salt] = derive(phrase, salt)
        return keys[phrase, salt]

    return key


def keystream(key, nonce, length):
    blocks = []
    for counter in range((length + 31) // 32):
        blocks.append(hashlib.sha256(key + nonce + counter.to_bytes(4, "big")).digest())
    return b"".join(blocks)[:length]


def seal(tenant, letter, derive):
    phrase, salt = tenant
    key = derive(phrase, salt)
    packed = zlib.compress(json.dumps(letter, sort_keys=True).encode(), 6)
    nonce = hashlib.md5(packed).digest()
    stream = keystream(key, nonce, len(packed))
    hidden = (int.from_bytes(packed, "big") ^ int.from_bytes(stream, "big")).to_bytes(len(packed), "big")
    tag = hmac.new(key, nonce + hidden, hashlib.sha256).digest()
    return base64.b64encode(nonce + hidden + tag)


def one_pass(number, make_derive):
    tenants = make_tenants(number)
    derive = make_derive()
    sent, size = hashlib.sha1(), 0
    for name, letter in letters(number, tenants, 700):
        envelope = seal(tenants[name], letter, derive)
        sent.update(envelope)
        size += len(envelope)
    return size, sent.hexdigest()


if __name__ == "__main__":
    run(one_pass, lambda: derive_key, lambda: remembering(derive_key))
