# SPDX-License-Identifier: Apache-2.0
"""Sets a pamphlet: paragraphs are broken into lines so that the gaps are even, headings and columns follow."""

import random
from functools import lru_cache
from itertools import accumulate

from common import run

LETTERS = "abcdefghijklmnopqrstuvwxyz"
NARROW = {"i": 278, "l": 278, "j": 278, "t": 315, "f": 315, "r": 350, "m": 820, "w": 740}
KERNS = {("a", "v"): -20, ("v", "a"): -20, ("t", "o"): -15, ("w", "e"): -18, ("r", "n"): 10, ("f", "i"): -25}
SPACE = 0.25


def text_width(word, size, bold):
    """In points: widths of the letters, closer or wider for some pairs, a little more for bold."""
    total = 0
    before = ""
    for letter in word:
        total += NARROW.get(letter.lower(), 560) + (110 if letter.isupper() else 0)
        total += KERNS.get((before, letter), 0)
        before = letter
    if bold:
        total += 24 * len(word)
    return total * size / 1000


known_width = lru_cache(maxsize=None)(text_width)


class Page:
    def __init__(self, measure, columns, height):
        self.measure = measure
        self.columns = columns
        self.height = height
        self.lines = []
        self.looseness = 0.0

    def breaks(self, widths, room, size):
        """The breaks with the least sum of squared gaps at the line ends; the last line is free."""
        ends = [0.0, *accumulate(width + SPACE * size for width in widths)]
        best, back = [0.0], [0]
        for end in range(1, len(ends)):
            least, start = float("inf"), end - 1
            for at in range(end - 1, -1, -1):
                slack = room - (ends[end] - ends[at] - SPACE * size)
                if slack < 0 and at < end - 1:
                    break
                cost = best[at] + (0.0 if end == len(ends) - 1 else slack * slack)
                if cost < least:
                    least, start = cost, at
            best.append(least)
            back.append(start)
        self.looseness += best[-1]
        found, end = [], len(ends) - 1
        while end:
            found.append((back[end], end))
            end = back[end]
        return found[::-1]

    def paragraph(self, words, room, size=10.0, bold=False):
        widths = [self.measure(word, size, bold) for word in words]
        for start, end in self.breaks(widths, room, size):
            gaps = end - start - 1
            slack = room - sum(widths[start:end]) - gaps * SPACE * size
            self.lines.append((" ".join(words[start:end]), round(slack / gaps, 2) if gaps else 0.0))

    def cut(self):
        for at in range(0, len(self.lines), self.height):
            yield self.lines[at : at + self.height]


def vocabulary(rnd):
    for _ in range(260):
        yield "".join(rnd.choices(LETTERS, k=rnd.randint(2, 11)))


def paragraphs(rnd, words, count):
    odds = list(accumulate(1 / (rank + 3) for rank in range(len(words))))
    for _ in range(count):
        chosen = rnd.choices(words, cum_weights=odds, k=rnd.randint(40, 110))
        chosen[0] = chosen[0].capitalize()
        yield chosen


def one_pass(number, measure):
    rnd = random.Random(number)
    words = list(vocabulary(rnd))
    page = Page(measure, 2, 48)
    for words_here in paragraphs(rnd, words, 40):
        if rnd.random() < 0.2:
            page.paragraph([word.upper() for word in words_here[:4]], 230.0, 14.0, True)
        page.paragraph(words_here, 110.0)
    cut = list(page.cut())
    return len(cut), len(page.lines), round(page.looseness, 3), page.lines[5], page.lines[-1]


if __name__ == "__main__":
    run(one_pass, text_width, known_width)
