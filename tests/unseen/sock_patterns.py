# SPDX-License-Identifier: Apache-2.0
"""Written knitting patterns are read word by word and knitted on paper: how many stitches each row leaves, and wool."""

import random
import re

from runner import run

ROWS = 350
WORD = re.compile(r"[a-z]\w*|\d+|[(),]")
TAKES = {"k": (1, 1), "p": (1, 1), "yo": (0, 1), "k2tog": (2, 1), "ssk": (2, 1), "kfb": (1, 2), "sl": (1, 1)}
WOOL = {"k": 1.1, "p": 1.15, "yo": 0.9, "k2tog": 1.2, "ssk": 1.3, "kfb": 2.1, "sl": 0.2}


class Reader:
    """row: step {"," step};  step: stitch [count] | "(" row ")" count"""

    def __init__(self, text):
        self.words = WORD.findall(text)
        self.at = 0

    def peek(self):
        return self.words[self.at] if self.at < len(self.words) else None

    def take(self):
        word = self.words[self.at]
        self.at += 1
        return word

    def count(self):
        word = self.peek()
        if word is None or not word.isdigit():
            return 1
        self.at += 1
        return int(word)

    def row(self):
        steps = [self.step()]
        while self.peek() == ",":
            self.take()
            steps.append(self.step())
        return steps

    def step(self):
        if self.peek() == "(":
            self.take()
            inner = self.row()
            self.take()
            return self.count(), inner
        stitch = self.take()
        return self.count(), stitch


def worked(steps):
    """Stitches taken from the needle, stitches made, and wool."""
    took, made, wool = 0, 0, 0.0
    for times, what in steps:
        if isinstance(what, list):
            old, new, spent = worked(what)
        else:
            (old, new), spent = TAKES[what], WOOL[what]
        took += times * old
        made += times * new
        wool += times * spent
    return took, made, wool


def written(rnd, depth=0):
    parts = []
    for _ in range(rnd.randrange(2, 6)):
        if depth < 2 and rnd.random() < 0.25:
            parts.append("(%s) %d" % (written(rnd, depth + 1), rnd.randrange(2, 7)))
        else:
            stitch = rnd.choice(("k", "k", "k", "p", "p", "yo", "k2tog", "ssk", "kfb", "sl"))
            parts.append(stitch if rnd.random() < 0.5 else "%s %d" % (stitch, rnd.randrange(2, 9)))
    return ", ".join(parts)


def one_pass(number, step):
    rnd = random.Random(number)
    needle, wool, longest = 64, 0.0, 0
    odd = []
    for row in range(ROWS):
        took, made, spent = worked(Reader(written(rnd)).row())
        if took > needle:
            odd.append((row, took - needle))
        needle = max(20, min(400, needle + made - took))
        longest = max(longest, needle)
        wool += spent
    return needle, longest, wool, len(odd), odd[:2]


if __name__ == "__main__":
    run(one_pass)
