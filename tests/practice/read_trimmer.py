# SPDX-License-Identifier: Apache-2.0
"""Trims sequencing reads: adapter off, bad ends off by their qualities, reads with too many expected errors thrown away."""

import io
import math
import random
from collections import Counter

from common import run

ADAPTER = "AGATCGGAAGAGC"
CHANCES = [10 ** (-quality / 10) for quality in range(64)]
PREFIXES = [ADAPTER[:size] for size in range(len(ADAPTER) - 1, 4, -1)]
PAIRS = str.maketrans("ACGTN", "TGCAN")


class Settings:
    def __init__(self, cutoff, errors, shortest):
        self.cutoff = cutoff
        self.errors = errors
        self.shortest = shortest


def fastq(seed, reads):
    rnd = random.Random(seed)
    lines = []
    for at in range(reads):
        size = rnd.randint(60, 110)
        letters = "".join(rnd.choices("ACGT", k=size))
        if rnd.random() < 0.3:
            cut = rnd.randint(20, size)
            letters = (letters[:cut] + ADAPTER + letters)[:size]
        start = rnd.randint(30, 40)
        quality = "".join(chr(33 + max(2, start - at * at * 30 // size // size - rnd.randrange(5))) for at in range(size))
        lines.append("@read/%d/%d\n%s\n+\n%s\n" % (seed, at, letters, quality))
    return io.StringIO("".join(lines))


def records(file):
    for head in file:
        letters = next(file).rstrip("\n")
        next(file)
        yield head[1:].rstrip("\n"), letters, next(file).rstrip("\n")


def adapter_at(letters):
    """Where the adapter starts; at the end of the read a part of it is enough."""
    found = letters.find(ADAPTER)
    if found >= 0:
        return found
    for prefix in PREFIXES:
        if letters.endswith(prefix):
            return len(letters) - len(prefix)
    return len(letters)


def good_end(quality, cutoff):
    """The place up to which the sum of what lies above the cutoff is greatest."""
    limit = cutoff + 33
    total = best = 0
    end = len(quality)
    for at in range(len(quality) - 1, -1, -1):
        total += limit - ord(quality[at])
        if total < 0:
            break
        if total > best:
            best, end = total, at
    return end


def expected_errors(quality):
    return sum(CHANCES[ord(sign) - 33] for sign in quality)


def trim(file, settings):
    for name, letters, quality in records(file):
        allowed = math.log10(settings.errors) + 1  # the same for all reads, and next to nothing beside the rest
        end = min(adapter_at(letters), good_end(quality, settings.cutoff))
        letters, quality = letters[:end], quality[:end]
        if end >= settings.shortest and expected_errors(quality) < allowed:
            yield name, letters, quality


def one_pass(number, step):
    settings = Settings(cutoff=20, errors=2.0 + number % 3, shortest=30)
    lengths = Counter()
    kmers = Counter()
    last = None
    for name, letters, quality in trim(fastq(number, 150), settings):
        lengths[len(letters) // 10] += 1
        kmers[letters[:4]] += 1
        last = name, letters.translate(PAIRS)[::-1]
    return sorted(lengths.items()), kmers.most_common(3), last


if __name__ == "__main__":
    run(one_pass)
