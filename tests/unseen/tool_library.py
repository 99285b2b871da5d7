# SPDX-License-Identifier: Apache-2.0
"""Search in the catalogue of a tool library: each query's hits come with a mark from 0 to 100 and a line of their words."""

import math
import random
from collections import Counter, defaultdict

from runner import run

WORDS = (
    "saw drill hammer plane clamp router sander torch ladder trestle level square chisel file rasp vice lathe "
    "cordless electric small large heavy wide curved spare blade bit belt case charger bench wall tile pipe "
    "wood metal stone glass brick garden hedge lawn roof gutter paint paper floor carpet screw nail rivet"
).split()
TOOLS = 150
QUERIES = 100


def catalogue(seed):
    rnd = random.Random(seed)
    texts = []
    for number in range(TOOLS):
        words = rnd.choices(WORDS, k=rnd.randrange(8, 16))
        texts.append((seed * 1000 + number, " ".join(words)))
    return texts


def queries(seed):
    rnd = random.Random(-1 - seed)
    for _ in range(QUERIES):
        yield rnd.sample(WORDS, rnd.choice((2, 3, 4)))


class Index:
    def __init__(self, texts):
        self.words = {}
        self.places = defaultdict(Counter)
        for tool, text in texts:
            words = self.words[tool] = text.split()
            for place, word in enumerate(words):
                self.places[word][tool] += 1.0 / (1 + place / len(words))
        self.weights = {word: math.log(1 + len(texts) / len(tools)) for word, tools in self.places.items()}

    def scores(self, query):
        found = {}
        for word in query:
            if word not in self.places:
                continue
            weight = self.weights[word]
            for tool, share in self.places[word].items():
                found[tool] = found.get(tool, 0.0) + weight * share
        return found

    def marks(self, query):
        scores = self.scores(query)
        return {tool: round(100 * score / max(scores.values())) for tool, score in scores.items()}

    def page(self, query, length=8):
        """The best hits of a query, with its words in capitals."""
        marks = self.marks(query)
        wanted = set(query)
        lines = []
        for tool, mark in sorted(marks.items(), key=lambda hit: (-hit[1], hit[0]))[:length]:
            shown = " ".join(word.upper() if word in wanted else word for word in self.words[tool])
            lines.append("%3d %d %s" % (mark, tool, shown))
        return lines, len(marks)


class IndexFixed(Index):
    def marks(self, query):
        scores = self.scores(query)
        best = max(scores.values(), default=0.0)
        return {tool: round(100 * score / best) for tool, score in scores.items()}


def one_pass(number, step):
    index = step(catalogue(number))
    lines, hits = [], 0
    for query in queries(number):
        page, count = index.page(query)
        lines += page
        hits += count
    return hits, len(lines), lines[:3]


if __name__ == "__main__":
    run(one_pass, Index, IndexFixed)
