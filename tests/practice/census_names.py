# SPDX-License-Identifier: Apache-2.0
"""Old census sheets: people of two parishes are put together by how their surnames sound, whatever the clerk wrote."""

import functools
import random
import re
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from common import run

SURNAMES = 110
PEOPLE = 1600
TRADES = ("ag lab", "weaver", "carter", "dairymaid", "smith", "scholar", "pauper", "servant")

RULES = [
    (re.compile(r"^(kn|gn|wr)"), lambda m: m.group()[1]),
    (re.compile(r"ough|augh"), lambda m: "of"),
    (re.compile(r"ph"), lambda m: "f"),
    (re.compile(r"(?<!s)ch|tch"), lambda m: "c"),
    (re.compile(r"(.)\1+"), lambda m: m.group(1)),
    (re.compile(r"[aeiouy]+e?"), lambda m: "a"),
    (re.compile(r"ck|[kq]"), lambda m: "c"),
    (re.compile(r"(?<=.)[hw]"), lambda m: ""),
    (re.compile(r"a?s?$"), lambda m: ""),
]


def sound(surname):
    """A surname's consonants as they sound, by rules one after the other."""
    text = surname.lower()
    for rule, change in RULES:
        text = rule.sub(change, text)
    return text


def surnames(rnd):
    """Names of syllables and the ways in which a clerk writes each."""
    names = []
    while len(names) < SURNAMES:
        name = rnd.choice(("Wr", "Kn", "Th", "Br", "C", "M", "H", "Ph")) + rnd.choice(("i", "ea", "oo", "a"))
        name += rnd.choice(("ll", "tt", "ck", "gh", "rl", "sh")) + rnd.choice(("er", "ow", "ey", "ham", "son", "ridge", "s"))
        names.append(name)
        names.append(name.replace("ll", "l").replace("ea", "ee").replace("ey", "y"))
    return names


def sheet(rnd, names):
    lines = []
    for household in range(1, PEOPLE // 4):
        head = rnd.choice(names)
        for _ in range(4):
            name = head if rnd.random() < 0.7 else rnd.choice(names)
            lines.append("%d;%s;%s;%d" % (household, name, rnd.choice(TRADES), rnd.randrange(90)))
    return lines


class Parish:
    def __init__(self, lines, sounds):
        self.lines = lines
        self.sounds = sounds
        self.families = {}
        self.spellings = {}

    def read(self):
        for line in self.lines:
            household, name, trade, age = line.split(";")
            key = self.sounds(name)
            self.spellings.setdefault(key, set()).add(name)
            self.families.setdefault(key, []).append((int(household), trade, int(age)))
        return self

    def table(self):
        for key, people in sorted(self.families.items()):
            trades = Counter(trade for _, trade, age in people if age > 12)
            houses = len({household for household, _, _ in people})
            yield key, len(self.spellings[key]), houses, len(people), trades.most_common(1)


def parish(lines, sounds):
    return list(Parish(lines, sounds).read().table())


def one_pass(number, step):
    rnd = random.Random(number)
    names = surnames(rnd)
    sheets = [sheet(rnd, names) for _ in range(2)]
    sounds = step()
    with ThreadPoolExecutor(2) as clerks:
        one, other = clerks.map(lambda lines: parish(lines, sounds), sheets)
    both = {row[0] for row in one} & {row[0] for row in other}
    return one[:3], other[:3], sorted(both)[:5], len(both)


if __name__ == "__main__":
    run(one_pass, lambda: sound, lambda: functools.lru_cache(maxsize=None)(sound))
