# SPDX-License-Identifier: Apache-2.0
"""A store of blobs behind a document service: blobs are named by their hash and compressed, the latest stay unpacked."""

import hashlib
import random
import zlib
from collections import Counter, OrderedDict

from common import run

KINDS = ("letter", "plan", "minutes", "invoice")
WORDS = "the of board agreed that quarter budget for repairs was moved and seconded by all present members stone roof north".split()


class Shelf:
    def __init__(self, latest):
        self.packed = {}
        self.fresh = OrderedDict()
        self.latest = latest
        self.counts = Counter()

    def name(self, blob):
        return hashlib.sha256(blob).hexdigest()[:24]

    def keep(self, name, blob):
        self.fresh[name] = blob
        self.fresh.move_to_end(name)
        if len(self.fresh) > self.latest:
            self.fresh.popitem(last=False)

    def put(self, blob):
        name = self.name(blob)
        if name not in self.packed:
            self.packed[name] = zlib.compress(blob, 6)
            self.counts["new"] += 1
        self.keep(name, blob)
        return name

    def get(self, name):
        blob = self.fresh.get(name)
        if blob is None:
            self.counts["unpacked"] += 1
            blob = zlib.decompress(self.packed[name])
        else:
            self.counts["fresh"] += 1
        self.keep(name, blob)
        return blob


class Documents:
    def __init__(self, shelf):
        self.shelf = shelf
        self.versions = {}

    def write(self, title, text):
        name = self.shelf.put(text.encode())
        self.versions.setdefault(title, []).append(name)
        return name

    def read(self, title):
        return self.shelf.get(self.versions[title][-1]).decode()

    def amend(self, title, line):
        return self.write(title, self.read(title) + "\n" + line)

    def history(self, title):
        return [name[:6] for name in self.versions[title]]


def sentence(rnd, count):
    return " ".join(rnd.choices(WORDS, k=count)) + " %06d." % rnd.randrange(10**6)


def one_pass(number, step):
    rnd = random.Random(number)
    documents = Documents(Shelf(latest=200))
    titles = []
    for at in range(60):
        title = "%s %d-%d" % (rnd.choice(KINDS), number, at)
        documents.write(title, "\n".join(sentence(rnd, 14) for _ in range(rnd.randint(20, 60))))
        titles.append(title)
    for _ in range(320):
        title = rnd.choice(titles)
        if rnd.random() < 0.55:
            documents.amend(title, sentence(rnd, rnd.randint(8, 30)))
        else:
            documents.read(title)
    sizes = sum(len(blob) for blob in documents.shelf.packed.values())
    return sizes, sorted(documents.shelf.counts.items()), documents.history(titles[3])


if __name__ == "__main__":
    run(one_pass)
