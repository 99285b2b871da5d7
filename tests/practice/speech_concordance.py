# SPDX-License-Identifier: Apache-2.0
"""A concordance of speeches: in which sentences each telling word stands, with its neighbours."""

import random
from collections import Counter, defaultdict

from common import run

SYLLABLES = "ba ce di fo gu ha je ki lo mu na pe ri so tu va we xi yo zu".split()


def speech(seed):
    rnd = random.Random(seed)
    words = ["".join(rnd.choices(SYLLABLES, k=rnd.randint(1, 4))) for _ in range(900)]
    text = []
    for _ in range(2_200):
        sentence = rnd.choices(words, k=rnd.randint(5, 14))
        text.append(" ".join(sentence).capitalize() + rnd.choice(".!?"))
    return text, words[:130], words[130:190]


class Concordance:
    def __init__(self, common, names):
        self.common = common
        self.names = names
        self.places = defaultdict(list)
        self.beside = Counter()

    def enter(self, sentences):
        for at, sentence in enumerate(sentences):
            skip = set(self.common).union(self.names)
            telling = [word for word in sentence[:-1].lower().split() if word not in skip]
            for word in telling:
                self.places[word].append(at)
            self.beside.update(zip(telling, telling[1:]))

    def report(self):
        lines = []
        for word in sorted(self.places):
            lines.append(f"{word:<12}{len(self.places[word]):>5}  {','.join(map(str, self.places[word][:8]))}")
        pairs = [f"{a} {b} {n}" for (a, b), n in sorted(self.beside.items()) if n > 2]
        return lines, pairs


class ConcordanceFixed(Concordance):
    def enter(self, sentences):
        skip = set(self.common).union(self.names)
        for at, sentence in enumerate(sentences):
            telling = [word for word in sentence[:-1].lower().split() if word not in skip]
            for word in telling:
                self.places[word].append(at)
            self.beside.update(zip(telling, telling[1:]))


def one_pass(number, step):
    sentences, common, names = speech(number)
    concordance = step(common, names)
    concordance.enter(sentences)
    lines, pairs = concordance.report()
    return len(lines), lines[:3], pairs[:3], len(pairs)


if __name__ == "__main__":
    run(one_pass, Concordance, ConcordanceFixed)
