# SPDX-License-Identifier: Apache-2.0
"""A small document store: versions, an index of words, and a journal for the replica."""

import hashlib
import json
import random
import re

from common import run

WORDS = "salt flour rye oat yeast water stir fold rest bake cool slice butter milk honey seed crust oven".split()


def fingerprint(document):
    text = json.dumps(document, sort_keys=True, separators=(",", ":"))
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


class Store:
    def __init__(self):
        self.versions = {}
        self.words = {}
        self.journal = []

    def name_of(self, document):
        return fingerprint(document)

    def save(self, document):
        digest = self.name_of(document)
        history = self.versions.setdefault(document["slug"], [])
        if not history or history[-1][0] != digest:
            history.append((digest, document["revision"]))

    def index(self, document):
        digest = self.name_of(document)
        for step in document["steps"]:
            for word in re.findall(r"[a-z]{3,}", step["text"].lower()):
                self.words.setdefault(word, set()).add(digest)

    def replicate(self, document):
        amounts = {name: part["grams"] for name, part in document["parts"].items()}
        self.journal.append("%s %s %.1f" % (self.name_of(document), document["slug"], sum(amounts.values())))

    def put(self, document):
        self.save(document)
        self.index(document)
        self.replicate(document)


class StoreFixed(Store):
    def name_of(self, document):
        return self.digest

    def put(self, document):
        self.digest = fingerprint(document)
        super().put(document)


def make_document(rng, revision):
    return {
        "slug": "loaf-%d" % rng.randrange(60),
        "revision": revision,
        "parts": {word: {"grams": rng.randrange(5, 900), "fresh": rng.random() < 0.5} for word in rng.sample(WORDS, 9)},
        "steps": [
            {"minutes": rng.randrange(90), "text": " ".join(rng.choices(WORDS, k=14)).capitalize()} for _ in range(10)
        ],
        "by": {"name": "baker %d" % rng.randrange(20), "seen": [rng.randrange(10**6) for _ in range(20)]},
    }


def one_pass(number, kind):
    rng = random.Random(number)
    store = kind()
    for revision in range(700):
        store.put(make_document(rng, revision))
    return [len(store.versions), sorted((word, len(found)) for word, found in store.words.items()), store.journal[-20:]]


if __name__ == "__main__":
    run(one_pass, Store, StoreFixed)
