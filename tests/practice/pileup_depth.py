# SPDX-License-Identifier: Apache-2.0
"""Coverage of a bacterial genome by aligned reads: depth, badly covered islands, bias by GC content."""

import random

import numpy as np

from common import run

GENOME, WINDOW = 60_000, 200
GC = np.frombuffer(b"GC", dtype=np.uint8)


def sequencing(seed):
    rng = np.random.default_rng(seed)
    bases = rng.choice(np.frombuffer(b"ACGT", dtype=np.uint8), GENOME, p=(0.2, 0.3, 0.3, 0.2))
    starts = np.sort((GENOME * rng.beta(1.2, 1.1, 1_500)).astype(int))
    dice, reads = random.Random(seed), []
    for start in starts.tolist():
        length = dice.randrange(70, 150)
        if dice.random() < 0.2:  # a read with a deletion aligns in two blocks
            cut, gap = dice.randrange(20, length - 20), dice.randrange(1, 30)
            reads.append(((start, cut), (start + cut + gap, length - cut)))
        else:
            reads.append(((start, length),))
    return bases, reads


def cover(depth, reads):
    for blocks in reads:
        for start, length in blocks:
            for at in range(start, min(start + length, len(depth))):
                depth[at] += 1


def cover_fixed(depth, reads):
    for blocks in reads:
        for start, length in blocks:
            depth[start : start + length] += 1


def islands(depth, least):
    low = np.concatenate(([0], (depth < least).astype(np.int8), [0]))
    edges = np.diff(low)
    return np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)


def bias(depth, bases):
    content = np.isin(bases, GC).reshape(-1, WINDOW).mean(axis=1)
    level = depth.reshape(-1, WINDOW).mean(axis=1)
    grade = np.clip((content * 20).astype(int), 0, 19)
    many = np.bincount(grade, minlength=20)
    return np.bincount(grade, weights=level, minlength=20) / np.maximum(many, 1)


def spliced(bases, first, last):
    """Islands' own text, as a FASTA record each, for the primers of a second run."""
    for start, stop in zip(first.tolist(), last.tolist()):
        if stop - start >= 40:
            text = bases[start:stop].tobytes().decode()
            yield ">%d-%d\n" % (start, stop) + "\n".join(text[k : k + 60] for k in range(0, len(text), 60))


def one_pass(number, count):
    bases, reads = sequencing(number)
    depth = np.zeros(GENOME, dtype=np.int64)
    count(depth, reads)
    first, last = islands(depth, 2)
    records = list(spliced(bases, first, last))
    missing = int((last - first).sum())
    return int(depth.max()), missing, len(records), sum(map(len, records)), bias(depth, bases).tolist()


if __name__ == "__main__":
    run(one_pass, cover, cover_fixed)
