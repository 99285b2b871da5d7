# SPDX-License-Identifier: Apache-2.0
"""Cuts the current of a nanopore into events (levels that hold for a while) and reads the letters off them."""

import numpy as np

from common import run

KMERS = ["".join((a, b, c)) for a in "ACGT" for b in "ACGT" for c in "ACGT"]
LEVELS = np.linspace(60.0, 124.0, 64)
STATES = np.arange(64)
ENDS = STATES // 4
BEFORE = ENDS[:, None] + 16 * np.arange(4)
READS = 3


def squiggle(rng, letters):
    """The current while a strand goes through: three letters at a time set the level, for some samples each."""
    codes = rng.integers(0, 4, letters)
    kmers = codes[:-2] * 16 + codes[1:-1] * 4 + codes[2:]
    stay = rng.integers(5, 14, kmers.size)
    return np.repeat(LEVELS[kmers], stay) + rng.normal(0, 0.25, stay.sum())


def borders(current, jump=0.8):
    steps = np.flatnonzero(np.abs(np.diff(current)) > jump) + 1
    return np.concatenate(([0], steps, [current.size]))


def detect(current):
    """Mean, spread and length of each event that is long enough to be one."""
    means = np.empty(0)
    spreads = np.empty(0)
    lengths = np.empty(0)
    edges = borders(current).tolist()
    sums = np.concatenate(([0.0], np.cumsum(current))).tolist()
    squares = np.concatenate(([0.0], np.cumsum(current * current))).tolist()
    for start, end in zip(edges, edges[1:]):
        size = end - start
        if size < 3:
            continue
        mean = (sums[end] - sums[start]) / size
        spread = max((squares[end] - squares[start]) / size - mean * mean, 0.0) ** 0.5
        means = np.append(means, mean)
        spreads = np.append(spreads, spread)
        lengths = np.append(lengths, size)
    return means, spreads, lengths


def detect_fixed(current):
    means, spreads, lengths = [], [], []
    edges = borders(current).tolist()
    sums = np.concatenate(([0.0], np.cumsum(current))).tolist()
    squares = np.concatenate(([0.0], np.cumsum(current * current))).tolist()
    for start, end in zip(edges, edges[1:]):
        size = end - start
        if size < 3:
            continue
        mean = (sums[end] - sums[start]) / size
        spread = max((squares[end] - squares[start]) / size - mean * mean, 0.0) ** 0.5
        means.append(mean)
        spreads.append(spread)
        lengths.append(size)
    return np.array(means), np.array(spreads), np.array(lengths, dtype=float)


def call(means, spreads, lengths):
    """Best path through the events: each k-mer follows one that ends as it begins, or stays."""
    cost = ((means[:, None] - LEVELS) / (0.3 + spreads[:, None])) ** 2 * np.sqrt(lengths)[:, None]
    score = cost[0].copy()
    back = np.zeros((len(means), 64), dtype=np.int64)
    for i in range(1, len(means)):
        choices = score[BEFORE]
        best = choices.argmin(axis=1)
        moved = choices.min(axis=1)
        stays = score + 4.0
        back[i] = np.where(stays < moved, STATES, ENDS + 16 * best)
        score = np.minimum(stays, moved) + cost[i]
    path = [int(score.argmin())]
    for i in range(len(means) - 1, 0, -1):
        path.append(int(back[i, path[-1]]))
    path.reverse()
    read = KMERS[path[0]] + "".join(KMERS[kmer][2] for last, kmer in zip(path, path[1:]) if kmer != last)
    return read, float(score.min())


def one_pass(number, step):
    rng = np.random.default_rng(number)
    reads = []
    for _ in range(READS):
        means, spreads, lengths = step(squiggle(rng, 2400))
        quiet = spreads < 1.0
        head = slice(0, 160)
        read, score = call(means[quiet][head], spreads[quiet][head], lengths[quiet][head])
        reads.append((read, score, int(lengths.sum()), means.tolist()[-3:]))
    return reads


if __name__ == "__main__":
    run(one_pass, detect, detect_fixed)
