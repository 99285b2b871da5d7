# SPDX-License-Identifier: Apache-2.0
"""Corrects scanned parish registers: misread names are looked for by shared pairs of letters and edit distance."""

import random
from collections import Counter, defaultdict

from common import run

LIMIT = 2
ONSETS = ("b", "br", "d", "f", "g", "gr", "h", "j", "k", "kl", "l", "m", "n", "p", "r", "s", "sch", "st", "t", "w")
VOWELS = ("a", "e", "i", "o", "u", "ei", "au", "ie")
CODAS = ("", "n", "r", "l", "mann", "rich", "bert", "ke", "lein")


def pairs(word):
    framed = "^" + word + "$"
    return dict.fromkeys(framed[k : k + 2] for k in range(len(framed) - 1))


def distance(one, two, limit):
    """Levenshtein's, given up as soon as a whole row is beyond the limit."""
    if abs(len(one) - len(two)) > limit:
        return limit + 1
    row = list(range(len(two) + 1))
    for i, a in enumerate(one, 1):
        before, row[0] = row[0], i
        for j, b in enumerate(two, 1):
            cost = before if a == b else 1 + min(before, row[j], row[j - 1])
            before, row[j] = row[j], cost
        if min(row) > limit:
            return limit + 1
    return row[-1]


class Speller:
    def __init__(self, names):
        self.names = names
        self.index = defaultdict(list)
        for name in names:
            for pair in pairs(name):
                self.index[pair].append(name)
        self.known = {name: name for name in names}
        self.misses = 0

    def candidates(self, word):
        votes = Counter()
        for pair in pairs(word):
            votes.update(self.index.get(pair, ()))
        need = max(2, len(word) - 3)
        return [name for name, count in votes.most_common(25) if count >= need - LIMIT]

    def correct(self, word):
        found = self.known.get(word)
        if found is None:
            self.misses += 1
            scored = ((distance(word, name, LIMIT), -self.names[name], name) for name in self.candidates(word))
            best = min(scored, default=(LIMIT + 1, 0, word))
            found = self.known[word] = best[2] if best[0] <= LIMIT else word
        return found


def coined(rng):
    return "".join(rng.choice(ONSETS) + rng.choice(VOWELS) for _ in range(rng.randint(1, 3))) + rng.choice(CODAS)


def misread(rng, word):
    at = rng.randrange(len(word))
    kind = rng.random()
    if kind < 0.4:
        return word[:at] + rng.choice("abcdefghijklmnoprstuw") + word[at + 1 :]
    if kind < 0.7:
        return word[:at] + word[at + 1 :]
    return word[:at] + rng.choice("aeinrst") + word[at:]


def register(rng, names, entries):
    chosen = rng.choices(list(names), weights=list(names.values()), k=entries)
    return [misread(rng, name) if rng.random() < 0.15 else name for name in chosen]


def one_pass(number, step):
    rng = random.Random(number * 101)
    names = {coined(rng): 1 + int(400 / (rank + 1)) for rank in range(500)}
    speller = Speller(names)
    counts = Counter(map(speller.correct, register(rng, names, 1_500)))
    return speller.misses, counts.most_common(8), sum(1 for word in counts if word not in names)


if __name__ == "__main__":
    run(one_pass)
