# SPDX-License-Identifier: Apache-2.0
"""Letters of an insurer from templates that clerks edit: a template is compiled once for each of its versions, and filled for every case."""

import random
import re
from collections import Counter

from common import run

PART = re.compile(r"\{\{\s*(\w+)(?:\s*\|\s*(\w+))?\s*\}\}|\{%\s*(if|end)\s*(\w*)\s*%\}")
KINDS = ("claim received", "claim paid", "claim refused", "new policy", "reminder", "goodbye")
LANGUAGES = ("de", "fr", "it", "en")
PHRASES = ("we thank you for your letter", "please note the number", "you will hear from us", "as agreed on the telephone", "the sum named above")


def money(value):
    return "CHF " + f"{value / 100:,.2f}".replace(",", "'")


def spaced(value):
    text = str(value)
    return " ".join(text[at : at + 3] for at in range(0, len(text), 3))


FILTERS = {"money": money, "spaced": spaced, "upper": lambda value: str(value).upper(), None: str}


class Office:
    """The templates' texts: clerks change one now and then, which makes a new version of it."""

    def __init__(self, rnd):
        self.rnd = rnd
        self.texts = {}
        for kind in KINDS:
            for language in LANGUAGES:
                self.edit(kind, language)

    def edit(self, kind, language):
        rnd, paragraphs = self.rnd, []
        for _ in range(rnd.randint(3, 6)):
            words = [rnd.choice(PHRASES) for _ in range(rnd.randint(1, 3))]
            words.insert(rnd.randrange(len(words) + 1), rnd.choice(("{{ sum | money }}", "{{ policy | spaced }}", "{{ name | upper }}", "{{ place }}")))
            text = ", ".join(words) + "."
            paragraphs.append("{% if " + rnd.choice(("late", "first")) + " %}" + text + "{% end %}" if rnd.random() < 0.3 else text)
        version = self.texts[kind, language][0] + 1 if (kind, language) in self.texts else 1
        self.texts[kind, language] = version, "{{ name }}\n{{ place }}\n\n%s\n\n%s\n" % (kind.title(), "\n".join(paragraphs))


def compiled(text):
    """A list of strings, (name, filter) pairs, and conditions with the place where they end."""
    parts, opened, at = [], [], 0
    for match in PART.finditer(text):
        parts.append(text[at : match.start()])
        at = match.end()
        name, how, word, condition = match.groups()
        if name:
            parts.append((name, FILTERS[how]))
        elif word == "if":
            opened.append(len(parts))
            parts.append([condition, None])
        else:
            parts[opened.pop()][1] = len(parts)
    parts.append(text[at:])
    return parts


class Printer:
    def __init__(self, office):
        self.office = office
        self.known = {}
        self.made = 0

    def parts(self, kind, language):
        version, text = self.office.texts[kind, language]
        known = self.known.get((kind, language))
        if known is None or known[0] != version:
            self.made += 1
            known = self.known[kind, language] = version, compiled(text)
        return known[1]

    def filled(self, kind, language, case):
        parts, out, at = self.parts(kind, language), [], 0
        while at < len(parts):
            part = parts[at]
            at += 1
            if isinstance(part, str):
                out.append(part)
            elif isinstance(part, tuple):
                out.append(part[1](case[part[0]]))
            elif not case[part[0]]:
                at = part[1]
        return "".join(out)


class Post:
    """Letters are broken into lines, weighed in sheets, and sorted by place for the cheaper rate."""

    def __init__(self):
        self.sheets = Counter()
        self.check = 1

    def lines(self, text, width=64):
        for paragraph in text.split("\n"):
            while len(paragraph) > width:
                cut = paragraph.rfind(" ", 0, width)
                yield paragraph[:cut]
                paragraph = paragraph[cut + 1 :]
            yield paragraph

    def send(self, place, text):
        lines = list(self.lines(text))
        self.sheets[place] += -(-len(lines) // 18)
        self.check = (31 * self.check + len(text) * len(lines)) % 1_000_003

    def bundles(self, least=9):
        return sorted((place, count) for place, count in self.sheets.items() if count >= least)


def one_pass(number, step):
    rnd = random.Random(number)
    office = Office(rnd)
    printer, post = Printer(office), Post()
    for at in range(1_500):
        if at % 200 == 199:
            office.edit(rnd.choice(KINDS), rnd.choice(LANGUAGES))
        case = {"name": "Client %x" % rnd.getrandbits(24), "place": "%04d" % rnd.randrange(8_000, 8_300), "policy": rnd.getrandbits(38)}
        case |= {"sum": rnd.randint(100, 9_000_000), "late": rnd.random() < 0.4, "first": rnd.random() < 0.2}
        text = printer.filled(rnd.choice(KINDS), rnd.choice(LANGUAGES), case)
        post.send(case["place"], text)
    return printer.made, post.check, post.bundles()[:2], sum(post.sheets.values()), text[:60]


if __name__ == "__main__":
    run(one_pass)
