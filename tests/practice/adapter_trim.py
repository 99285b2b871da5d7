# SPDX-License-Identifier: Apache-2.0
"""Cuts adapters off sequencing reads and says how clean each lane was."""

import random

from common import load_fastseq, run

fastseq = load_fastseq()

BASES = "ACGT"
ADAPTER = "AGATCGGAAGAGCGTCGTGTAGGGAAAGAGTGTAGATCTCGGTGGTCGCCGTATCATT"


class Trimmer:
    def __init__(self, adapter, allowed):
        self.adapter = adapter
        self.allowed = allowed

    def locate(self, read):
        return fastseq.best_hit(read, self.adapter)

    def has_adapter(self, read):
        return self.locate(read)[1] <= self.allowed

    def cut(self, read, qualities):
        where, wrong = self.locate(read)
        if wrong > self.allowed:
            return read, qualities
        return read[:where], qualities[:where]


class RememberingTrimmer(Trimmer):
    last = None, None

    def locate(self, read):
        if self.last[0] is not read:
            self.last = read, super().locate(read)
        return self.last[1]


def make_read(rng, genome, length=240):
    start = rng.randrange(len(genome) - length)
    body = genome[start : start + rng.randrange(length // 3, length)]
    if rng.random() < 0.6:
        body += ADAPTER
    body += genome[: max(0, length - len(body))]
    for _ in range(3):
        spot = rng.randrange(length)
        body = body[:spot] + rng.choice(BASES) + body[spot + 1 :]
    return body[:length]


def quality_cut(qualities, least=27, width=8):
    """The length up to which a sliding mean stays good."""
    window = sum(qualities[:width])
    for end in range(width, len(qualities)):
        if window < least * width:
            return end - width
        window += qualities[end] - qualities[end - width]
    return len(qualities)


def process(reads, trimmer):
    lanes = {}
    for lane, read, qualities in reads:
        kept = lanes.setdefault(lane, {"reads": 0, "with adapter": 0, "bases": 0, "gc": 0})
        kept["reads"] += 1
        kept["with adapter"] += trimmer.has_adapter(read)
        body, qualities = trimmer.cut(read, qualities)
        body = body[: quality_cut(qualities)]
        kept["bases"] += len(body)
        kept["gc"] += body.count("G") + body.count("C")
    return [[lane, *kept.values()] for lane, kept in sorted(lanes.items())]


def make_lane_reads(rng, count):
    genome = "".join(rng.choices(BASES, k=12_000))
    for _ in range(count):
        read = make_read(rng, genome)
        qualities = list(rng.randbytes(len(read)))
        yield rng.randrange(8), read, [14 + (value & 31) for value in qualities]


def one_pass(number, kind):
    return process(make_lane_reads(random.Random(number), 700), kind(ADAPTER, 6))


if __name__ == "__main__":
    run(one_pass, Trimmer, RememberingTrimmer)
