# SPDX-License-Identifier: Apache-2.0
"""Filler text for a designer's drafts: words follow each other as often as in a sample, sentences become blocks and headings."""

import random
from collections import Counter, defaultdict
from itertools import accumulate

from common import run

END = "."


class Chain:
    """Which words follow a word, and how often."""

    def __init__(self, sample):
        self.following = defaultdict(Counter)
        for word, then in zip(sample, sample[1:]):
            self.following[word][then] += 1

    def after(self, word, rnd):
        counts = self.following[word]
        return rnd.choices(list(counts), list(counts.values()))[0]


class TabledChain(Chain):
    def __init__(self, sample):
        super().__init__(sample)
        self.tables = {}

    def after(self, word, rnd):
        table = self.tables.get(word)
        if table is None:
            counts = self.following[word]
            table = self.tables[word] = list(counts), list(accumulate(counts.values()))
        return rnd.choices(table[0], cum_weights=table[1])[0]


class Writer:
    def __init__(self, chain, rnd):
        self.chain = chain
        self.rnd = rnd
        self.used = Counter()

    def sentence(self):
        words, word = [], END
        while (word := self.chain.after(word, self.rnd)) != END or len(words) < 4:
            if word != END:
                words.append(word)
            if len(words) > 30:
                break
        self.used.update(words)
        words[0] = words[0].capitalize()
        for at in range(6, len(words) - 3, 7):
            words[at] += ","
        return " ".join(words) + "."

    def block(self, room):
        """Sentences until the room is used up, the last one cut."""
        parts, length = [], 0
        while length < room:
            sentence = self.sentence()
            parts.append(sentence)
            length += len(sentence) + 1
        text = " ".join(parts)
        return text if len(text) <= room else text[: text.rindex(" ", 0, room)] + "..."

    def heading(self):
        words = self.sentence().rstrip(".").split()[:5]
        return " ".join(word.strip(",").title() for word in words)


class Draft:
    def __init__(self, writer, boxes):
        self.writer = writer
        self.boxes = boxes

    def html(self):
        for kind, room in self.boxes:
            if kind == "h2":
                yield "<h2>%s</h2>" % self.writer.heading()
            else:
                yield "<%s>%s</%s>" % (kind, self.writer.block(room), kind)


def sample(rnd, length):
    words = ["".join(rnd.choices("aeioulmnrst", k=rnd.randint(2, 8))) for _ in range(220)]
    odds = list(accumulate(1 / (rank + 2) for rank in range(len(words))))
    said = [END]
    for word in rnd.choices(words, cum_weights=odds, k=length):
        said.append(word)
        if rnd.random() < 0.08:
            said.append(END)
    return [*said, END]


def one_pass(number, kind):
    rnd = random.Random(number)
    writer = Writer(kind(sample(rnd, 5000)), rnd)
    boxes = [rnd.choice((("h2", 40), ("p", 300), ("p", 800), ("li", 90))) for _ in range(50)]
    page = list(Draft(writer, boxes).html())
    return len(page), page[0], page[-1], sum(map(len, page)), writer.used.most_common(3)


if __name__ == "__main__":
    run(one_pass, Chain, TabledChain)
