# SPDX-License-Identifier: Apache-2.0
"""A concordance of an old diary: each day's entry is cut into words once, and every rarer word shown in its lines."""

import itertools
import random
import re
from collections import defaultdict

from runner import run

ENTRIES = 180
STEMS = "rain walk letter horse market sister candle orchard cough parson river fever cloth turnip ledger moon".split()
ENDS = ("", "s", "ed", "ing", "less", "ward")
SMALL = "the of and to a in was my with for on at".split()
MONTHS = ("January", "May", "August")

WORD = re.compile(r"[a-z]+(?:'[a-z]+)?", re.IGNORECASE)
HEAD = re.compile(r"^(\d+) (\w+)\. ")


def diary(rnd):
    """Entries as the transcriber typed them."""
    words = [stem + end for stem in STEMS for end in ENDS]
    often = list(itertools.accumulate(1 / (place + 2) for place in range(len(words))))
    rnd.shuffle(words)
    for day in range(ENTRIES):
        text = []
        for word in rnd.choices(words, cum_weights=often, k=rnd.randrange(25, 60)):
            text += [rnd.choice(SMALL), word]
        entry = " ".join(text)
        yield "%d %s. %s." % (1 + day % 28, MONTHS[day % 3], entry.capitalize())


class Concordance:
    AROUND = 24

    def __init__(self):
        self.places = defaultdict(list)
        self.entries = []

    def read(self, entry):
        head = HEAD.match(entry)
        body = entry[head.end() :]
        at = len(self.entries)
        self.entries.append((head.group(1), head.group(2), body))
        for match in WORD.finditer(body):
            self.places[match.group().lower()].append((at, match.start(), match.end()))

    def line(self, at, start, end):
        """A word with what is around it, the word in capitals in the middle."""
        day, month, body = self.entries[at]
        left = body[max(0, start - self.AROUND) : start]
        right = body[end : end + self.AROUND]
        return "%*s%s%-*s %s %s" % (self.AROUND, left, body[start:end].upper(), self.AROUND, right, day, month)

    def rare(self, most):
        for word, places in sorted(self.places.items()):
            if len(places) <= most:
                yield word, [self.line(*place) for place in places]


def one_pass(number, step):
    concordance = Concordance()
    for entry in diary(random.Random(number)):
        concordance.read(entry)
    pages = list(concordance.rare(60))
    return len(concordance.places), sum(len(lines) for _, lines in pages), pages[0][1][:2], pages[-1][0]


if __name__ == "__main__":
    run(one_pass)
