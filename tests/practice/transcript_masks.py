# SPDX-License-Identifier: Apache-2.0
"""A contact centre's transcripts: what a customer firm wants hidden is masked by its own rules, then the calls are counted and filed."""

import random
import re
import zlib
from collections import Counter
from dataclasses import dataclass

from common import run

WORDS = "the order was sent on monday but my number is wrong please call back about invoice thank you for waiting a moment".split()


@dataclass(frozen=True)
class Rule:
    """One thing to hide, as the firm wrote it in its settings."""

    pattern: str
    mask: str


@dataclass
class Line:
    firm: str
    call: int
    speaker: str
    text: str


class Masker:
    def __init__(self, rules):
        self.rules = rules
        self.hidden = Counter()

    def clean(self, firm, text):
        for rule in self.rules[firm]:
            text, found = re.subn(rule.pattern, rule.mask, text)
            if found:
                self.hidden[rule.mask] += found
        return text


class MaskerFixed(Masker):
    def __init__(self, rules):
        super().__init__(rules)
        self.ready = {firm: [(re.compile(rule.pattern), rule.mask) for rule in own] for firm, own in rules.items()}

    def clean(self, firm, text):
        for pattern, mask in self.ready[firm]:
            text, found = pattern.subn(mask, text)
            if found:
                self.hidden[mask] += found
        return text


class Archive:
    def __init__(self):
        self.calls = {}
        self.words = Counter()
        self.talk = Counter()

    def file(self, line, text):
        call = self.calls.setdefault((line.firm, line.call), {"lines": 0, "sum": 0})
        call["lines"] += 1
        call["sum"] = zlib.crc32(text.encode(), call["sum"])
        spoken = text.split()
        self.words.update(word for word in spoken if word[0] != "<")
        self.talk[line.firm, line.speaker] += len(spoken)


def rules(rnd):
    prefix = "".join(rnd.choices("BCDFGHKLMNPRST", k=3))
    digits = rnd.randint(5, 8)
    return [
        Rule(r"\b%s-\d{%d}(?:/[A-Z]{1,2})?\b" % (prefix, digits), "<account>"),
        Rule(r"(?:\+|\b00)%d[ -]?(?:\(0\))?%d(?:[ -]?\d{2,3}){2,3}\b" % (rnd.randint(30, 59), rnd.randint(100, 999)), "<phone>"),
        Rule(r"\b[\w.]+@(?:%s|mail)\.(?:example|test)\b" % prefix.lower(), "<mail>"),
        Rule(r"\b(?:pin|code|password|%s-key) (?:is )?[a-z]*\d{4,%d}\b" % (prefix.lower(), digits), "<secret>"),
        Rule(r"\b%s\d{2}(?: ?\d{4}){3}\b" % prefix, "<parcel>"),
    ], prefix, digits


def sentence(rnd, prefix, digits):
    words = rnd.choices(WORDS, k=rnd.randint(6, 30))
    kind = rnd.random()
    if kind < 0.15:
        words.append("%s-%0*d" % (prefix, digits, rnd.randrange(10**digits)))
    elif kind < 0.25:
        words.append("%s@mail.test" % "".join(rnd.choices("aeilmnrst", k=6)))
    elif kind < 0.35:
        words += ["code", "is", "%04d" % rnd.randrange(10_000)]
    return " ".join(words)


def lines(rnd, firms, many):
    """The calls of the day, as the recorders hand them in: all firms' mixed."""
    names = list(firms)
    open_calls = dict.fromkeys(names, 0)
    for _ in range(many):
        name = rnd.choice(names)
        if rnd.random() < 0.1:
            open_calls[name] += 1
        yield Line(name, open_calls[name], rnd.choice(("agent", "caller")), sentence(rnd, *firms[name]))


def one_pass(number, masker):
    rnd = random.Random(number)
    book, firms = {}, {}
    for at in range(150):
        own, prefix, digits = rules(rnd)
        book["f%03d" % at] = own
        firms["f%03d" % at] = prefix, digits
    mask, archive = masker(book), Archive()
    for line in lines(rnd, firms, 3_000):
        archive.file(line, mask.clean(line.firm, line.text))
    sums = sum(call["sum"] for call in archive.calls.values())
    return sums, len(archive.calls), sorted(mask.hidden.items()), archive.words.most_common(5), sorted(archive.talk.items())[:4]


if __name__ == "__main__":
    run(one_pass, Masker, MaskerFixed)
