# SPDX-License-Identifier: Apache-2.0
"""Open reading frames of assembled plasmids, on both strands, and which codons their genes prefer."""

import random
import re
from collections import Counter

from common import run

PAIRS = {"A": "T", "C": "G", "G": "C", "T": "A", "N": "N"}
OTHER = str.maketrans(PAIRS)
STOP = re.compile("(?=(?:TAA|TAG|TGA))")
LEAST_CODONS = 60
DRAWN = b"ACGT" * 63 + b"ACGN"


def other_strand(strand):
    other = ""
    for base in reversed(strand):
        other += PAIRS[base]
    return other


def other_strand_fixed(strand):
    return strand.translate(OTHER)[::-1]


def open_frames(strand):
    """Start and end of each stretch from a start codon up to the next stop in its frame, if long enough."""
    since = [0, 1, 2]
    for match in STOP.finditer(strand):
        stop = match.start()
        frame = stop % 3
        begin, since[frame] = since[frame], stop + 3
        if stop - begin < 3 * LEAST_CODONS:
            continue
        start = strand.find("ATG", begin, stop)
        while start >= 0 and (start - begin) % 3:
            start = strand.find("ATG", start + 1, stop)
        if start >= 0 and stop - start >= 3 * LEAST_CODONS:
            yield start, stop + 3


class Annotation:
    def __init__(self, turn):
        self.turn = turn
        self.genes = []
        self.codons = Counter()

    def add(self, name, plasmid):
        for sign, strand in (("+", plasmid), ("-", self.turn(plasmid))):
            for start, end in open_frames(strand):
                gene = strand[start:end]
                self.codons.update(gene[at : at + 3] for at in range(0, len(gene), 3))
                place = (start, end) if sign == "+" else (len(strand) - end, len(strand) - start)
                self.genes.append((name, sign, place))

    def third_gc(self):
        strong = sum(count for codon, count in self.codons.items() if codon[2] in "GC")
        return strong / max(1, sum(self.codons.values()))

    def overlapping(self):
        """Neighbours on one plasmid that share bases."""
        shared = 0
        last = {}
        for name, _, (start, end) in sorted(self.genes, key=lambda gene: (gene[0], gene[2])):
            shared += start < last.get(name, 0)
            last[name] = max(end, last.get(name, 0))
        return shared


def random_bases(rng, count):
    return rng.getrandbits(8 * count).to_bytes(count, "big").translate(DRAWN).decode()


def make_plasmid(rng, length):
    """Random stretches between genes, and genes of codons without a stop, on either strand."""
    parts = []
    done = 0
    while done < length:
        part = random_bases(rng, rng.randrange(400, 2200))
        if rng.random() < 0.7:
            codons = rng.choices(("GCG", "CTG", "AAA", "GAT", "ACC", "CAG", "GGC", "ATT", "TTC", "CGT"), k=rng.randrange(80, 300))
            part += "ATG" + "".join(codons) + "TAA"
        parts.append(part)
        done += len(part)
    return "".join(parts)


def one_pass(number, turn):
    rng = random.Random(number)
    annotation = Annotation(turn)
    for n in range(4):
        annotation.add("p%d" % n, make_plasmid(rng, 40_000))
    return [len(annotation.genes), annotation.overlapping(), annotation.codons.most_common(3)], annotation.third_gc()


if __name__ == "__main__":
    run(one_pass, other_strand, other_strand_fixed)
