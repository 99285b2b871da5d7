# SPDX-License-Identifier: Apache-2.0
"""Assigns sequencing reads to the primer that made them."""

import random

from common import load_fastseq
from common import run

fastseq = load_fastseq()

BASES = "ACGT"
COMPLEMENT = str.maketrans("ACGT", "TGCA")


def make_primers(rng, count, length=34):
    return ["".join(rng.choices(BASES, k=length)) for _ in range(count)]


def make_read(rng, primers, length=180):
    own = rng.choice(primers)
    body = "".join(rng.choices(BASES, k=length - len(own)))
    start = rng.randrange(len(body))
    read = list(body[:start] + own + body[start:])
    for _ in range(4):
        read[rng.randrange(length)] = rng.choice(BASES)
    return "".join(read)


def reverse_complement(read):
    return read.translate(COMPLEMENT)[::-1]


def stickiness(primer):
    return fastseq.hairpin_pairs(primer) / len(primer)


def remembered(function):
    known = {}

    def ask(primer):
        if primer not in known:
            known[primer] = function(primer)
        return known[primer]

    return ask


def score(read, primer, sticky):
    where, wrong = fastseq.best_hit(read, primer)
    return len(primer) - 3 * wrong - 10 * sticky(primer), where


def assign(read, primers, sticky):
    best = (-1e9, -1, "")
    for primer in primers:
        points, where = score(read, primer, sticky)
        if points > best[0]:
            best = (points, where, primer)
    return best


def gc_share(read):
    return (read.count("G") + read.count("C")) / len(read)


def one_pass(number, make_sticky):
    rng = random.Random(number)
    primers = make_primers(rng, 6)
    sticky = make_sticky()
    taken = dict.fromkeys(primers, 0)
    offsets = 0
    shares = 0.0
    for _ in range(1400):
        read = make_read(rng, primers)
        if rng.random() < 0.3:
            read = reverse_complement(read)
        points, where, primer = assign(read, primers, sticky)
        taken[primer] += points > 0
        offsets += where
        shares += gc_share(read)
    return list(taken.values()), offsets, shares


if __name__ == "__main__":
    run(one_pass, lambda: stickiness, lambda: remembered(stickiness))
