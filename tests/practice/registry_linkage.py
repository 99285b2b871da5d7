# SPDX-License-Identifier: Apache-2.0
"""The same people in two registries, though clerks misspelt them: near entries of a block are compared by edits."""

import random

from common import run

SOUNDS = ("ka", "ro", "lin", "ber", "to", "mas", "en", "wi", "der", "hol", "ga", "sund", "ve", "stra", "mi", "dor", "pel", "quist", "ne", "ya")
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def make_entry(rng):
    def name(least, most):
        return "".join(rng.choices(SOUNDS, k=rng.randint(least, most)))

    return name(3, 4), name(2, 3), rng.randrange(1868, 1888), name(3, 5)


def misspell(rng, text):
    for _ in range(rng.randrange(3)):
        at = rng.randrange(1, len(text))
        kind = rng.randrange(3)
        letter = rng.choice(LETTERS)
        text = text[:at] + (letter if kind != 1 else "") + text[at + (kind != 2) :]
    return text


def copied(rng, entry):
    last, first, year, place = entry
    return misspell(rng, last), misspell(rng, first), year + rng.choice((0, 0, 0, 0, 1, -1)), misspell(rng, place)


def line(entry):
    return "%s %s %d %s" % entry


class Pattern:
    """A text that many others are compared with: where each of its letters stands, as bits."""

    def __init__(self, text):
        self.length = len(text)
        self.full = (1 << self.length) - 1
        self.top = 1 << (self.length - 1)
        self.where = {}
        for at, letter in enumerate(text):
            self.where[letter] = self.where.get(letter, 0) | 1 << at

    def edits(self, other, most):
        """Hyyrö's form of Myers' algorithm, a whole column at once; more than `most` comes back as most + 1."""
        if abs(self.length - len(other)) > most:
            return most + 1
        plus, minus, score = self.full, 0, self.length
        left = len(other)
        seek = self.where.get
        for letter in other:
            equal = seek(letter, 0)
            across = equal | minus
            equal |= ((equal & plus) + plus) ^ plus
            up = minus | ~(equal | plus) & self.full
            down = plus & equal
            left -= 1
            if up & self.top:
                score += 1
            elif down & self.top:
                score -= 1
            if score - left > most:
                return most + 1
            up = up << 1 | 1
            plus = (down << 1 | ~(across | up)) & self.full
            minus = up & across
        return score


def blocks(entries):
    """By first letter and by year, so that only likely ones meet."""
    found = {}
    for which, (last, _, year, _) in enumerate(entries):
        found.setdefault((last[0], year), []).append(which)
    return found


def link(left, right, most=8):
    """For each entry of the left registry the nearest of the right one, if near enough."""
    others = blocks(right)
    lines = [line(entry) for entry in right]
    links = []
    for which, entry in enumerate(left):
        pattern = Pattern(line(entry))
        best, least = None, most + 1
        for year in (entry[2], entry[2] - 1, entry[2] + 1):
            for other in others.get((entry[0][0], year), ()):
                edits = pattern.edits(lines[other], least - 1)
                if edits < least:
                    best, least = other, edits
        links.append((which, best, least))
    return links


def one_pass(number, _):
    rng = random.Random(number)
    births = [make_entry(rng) for _ in range(700)]
    marriages = [copied(rng, entry) for entry in births if rng.random() < 0.6]
    marriages += [make_entry(rng) for _ in range(300)]
    links = link(births, marriages)
    met = [edits for _, other, edits in links if other is not None]
    return [len(met), sum(met), len({other for _, other, _ in links if other is not None})]


if __name__ == "__main__":
    run(one_pass)
