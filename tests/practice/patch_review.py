# SPDX-License-Identifier: Apache-2.0
"""Prepares changed texts for review: a heading with counts, then the changes side by side."""

import difflib
import random

from common import run

VERBS = "open read parse check send store drop merge lock flush retry notify close".split()
NOUNS = "queue buffer ticket record page cursor header token session lease bucket shard".split()


class Change:
    def __init__(self, path, before, after):
        self.path = path
        self.before = before
        self.after = after

    def opcodes(self):
        return difflib.SequenceMatcher(None, self.before, self.after).get_opcodes()


class KeptChange(Change):
    def __init__(self, path, before, after):
        super().__init__(path, before, after)
        self.kept = super().opcodes()

    def opcodes(self):
        return self.kept


def heading(change):
    added = dropped = 0
    for tag, low, high, after_low, after_high in change.opcodes():
        if tag != "equal":
            dropped += high - low
            added += after_high - after_low
    return "%s  +%d -%d" % (change.path, added, dropped)


def side_by_side(change, width=38):
    for tag, low, high, after_low, after_high in change.opcodes():
        left, right = change.before[low:high], change.after[after_low:after_high]
        if tag == "equal":
            left, right = left[:1] + left[-1:], right[:1] + right[-1:]
        for row in range(max(len(left), len(right))):
            old = left[row] if row < len(left) else ""
            new = right[row] if row < len(right) else ""
            yield "%-*.*s %s %-.*s" % (width, width, old, " " if old == new else "|", width, new)


def touched(change):
    words = set()
    for tag, low, high, after_low, after_high in change.opcodes():
        if tag in ("replace", "insert"):
            for line in change.after[after_low:after_high]:
                words.update(word for word in line.split() if word in NOUNS)
    return sorted(words)


def make_text(rng, lines):
    return [
        "%s%s_%s(%s, %d)" % ("    " * rng.randrange(3), rng.choice(VERBS), rng.choice(NOUNS), rng.choice(NOUNS), n % 17)
        for n in range(lines)
    ]


def edit(rng, text):
    after = list(text)
    for line in make_text(rng, len(text) // 8):
        spot = rng.randrange(len(after))
        after[spot : spot + rng.randrange(3)] = [line]
    return after


def review(changes):
    for change in changes:
        yield heading(change)
        yield from side_by_side(change)
        yield "touches " + ", ".join(touched(change))


def one_pass(number, kind):
    rng = random.Random(number)
    changes = []
    for n in range(14):
        before = make_text(rng, rng.randrange(60, 220))
        changes.append(kind("src/part%d.py" % n, before, edit(rng, before)))
    return list(review(changes))


if __name__ == "__main__":
    run(one_pass, Change, KeptChange)
