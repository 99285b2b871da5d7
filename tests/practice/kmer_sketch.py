# SPDX-License-Identifier: Apache-2.0
"""Compares bacterial isolates by sketches: each genome's words are hashed, whichever strand was read, the smallest are kept and shared out."""

import heapq
import random
import zlib
from itertools import combinations
from math import log

from common import run

WORD, KEEP = 19, 120


class Alphabet:
    """Letters of a molecule, and how its other strand is read."""

    letters = ""

    def valid(self, text):
        return not text.strip(self.letters)


class Dna(Alphabet):
    letters = "ACGT"
    pairs = dict(zip("ACGT", "TGCA"))

    def turned(self, text):
        return "".join([self.pairs[letter] for letter in reversed(text)])


class DnaFixed(Dna):
    table = str.maketrans(Dna.pairs)

    def turned(self, text):
        return text.translate(self.table)[::-1]


class Sketch:
    """The smallest hashes of all words of a genome."""

    def __init__(self, name, alphabet):
        self.name = name
        self.alphabet = alphabet
        self.heap = []
        self.kept = set()
        self.words = 0

    def canonical(self, word):
        return min(word, self.alphabet.turned(word))

    def hashed(self, word):
        value = zlib.crc32(word.encode())
        value = (value ^ value >> 15) * 0x2C1B3C6D & 0xFFFFFFFF
        return (value ^ value >> 12) * 0x297A2D39 & 0xFFFFFFFF

    def add(self, value):
        if value in self.kept:
            return
        if len(self.heap) < KEEP:
            heapq.heappush(self.heap, -value)
        elif value < -self.heap[0]:
            self.kept.discard(-heapq.heappushpop(self.heap, -value))
        else:
            return
        self.kept.add(value)

    def feed(self, text):
        for at in range(len(text) - WORD + 1):
            word = text[at : at + WORD]
            if self.alphabet.valid(word):
                self.words += 1
                self.add(self.hashed(self.canonical(word)))

    def jaccard(self, other):
        least = heapq.nsmallest(KEEP, self.kept | other.kept)
        both = self.kept & other.kept
        return sum(value in both for value in least) / len(least)

    def distance(self, other):
        share = self.jaccard(other)
        return 1.0 if share == 0 else max(0.0, -log(2 * share / (1 + share)) / WORD)


class Groups:
    """Isolates that are near enough, directly or by others, are one outbreak."""

    def __init__(self):
        self.above = {}

    def find(self, name):
        above = self.above.setdefault(name, name)
        while above != name:
            name, above = above, self.above[above]
        return name

    def join(self, a, b):
        self.above[self.find(a)] = self.find(b)


def records(lines):
    """Name and letters of each record of a FASTA file."""
    name, parts = None, []
    for line in lines:
        if line.startswith(">"):
            if name:
                yield name, "".join(parts)
            name, parts = line[1:].strip(), []
        else:
            parts.append(line.strip().upper())
    yield name, "".join(parts)


def fasta(rnd, isolates, length):
    for at in range(isolates):
        if at % 3 == 0:
            first = rnd.choices("acgt", k=length)
        letters = first[:]
        for place in rnd.sample(range(length), length // 120):
            letters[place] = rnd.choice("acgtn")
        text = "".join(letters)
        yield ">isolate%02d" % at
        yield from (text[start : start + 70] for start in range(0, length, 70))


def one_pass(number, alphabet):
    alphabet = alphabet()
    sketches = []
    for name, text in records(fasta(random.Random(number), 7, 1_200)):
        sketches.append(Sketch(name, alphabet))
        sketches[-1].feed(text)
    groups = Groups()
    distances = []
    for a, b in combinations(sketches, 2):
        distances.append(a.distance(b))
        if distances[-1] < 0.05:
            groups.join(a.name, b.name)
    return distances, sorted(groups.find(sketch.name) for sketch in sketches), [sketch.words for sketch in sketches]


if __name__ == "__main__":
    run(one_pass, Dna, DnaFixed)
