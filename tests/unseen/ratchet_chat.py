# SPDX-License-Identifier: Apache-2.0
"""The sending side of a chat: each message has its own key, and the keys' chain goes forward only."""

import hashlib
import hmac
import random

from runner import run

NEXT_KEY, MESSAGE_KEY = b"\x02", b"\x01"
WORDS = "the tide was in when we came back and nobody had moved the boats from where they lay".split()


def keyed(key, data):
    return hmac.new(key, data, hashlib.sha256).digest()


class Chain:
    def __init__(self, root):
        self.key = root

    def __iter__(self):
        return self

    def __next__(self):
        message = keyed(self.key, MESSAGE_KEY)
        self.key = keyed(self.key, NEXT_KEY)
        return message


def stream(key, length):
    return hashlib.shake_128(key).digest(length)


def mix(data, pad):
    return (int.from_bytes(data, "big") ^ int.from_bytes(pad, "big")).to_bytes(len(data), "big")


class Person:
    def __init__(self, name, root):
        self.name = name
        self.chain = Chain(hashlib.sha256(root + name.encode()).digest())
        self.said = 0

    def say(self, text):
        key = next(self.chain)
        sealed = mix(text, stream(key, len(text)))
        self.said += 1
        return self.name, self.said, sealed, keyed(key, sealed)[:16]


def one_pass(number, step):
    rng = random.Random(number)
    root = hashlib.sha256(b"meeting %d" % number).digest()
    people = [Person(name, root) for name in ("anna", "boris", "chloe")]
    transcript = hashlib.sha256()
    size = 0
    for _ in range(7_000):
        text = " ".join(rng.choices(WORDS, k=rng.randrange(3, 15))).encode()
        name, count, sealed, tag = rng.choice(people).say(text)
        size += len(sealed)
        transcript.update(b"%s %d " % (name.encode(), count) + tag + sealed)
    return size, [person.said for person in people], transcript.hexdigest()


if __name__ == "__main__":
    run(one_pass)
