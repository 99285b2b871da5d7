# SPDX-License-Identifier: Apache-2.0
"""A tokenizer for a search engine: a table of merges from the texts, words cut into pieces by it, and documents packed into windows."""

import random
import re
from array import array
from collections import Counter, OrderedDict
from typing import NamedTuple

from common import run

WORD = re.compile(r" ?[^\W\d_]+|\d{1,3}| ?[^\w\s]+|\s+")
WINDOW, STRIDE, KEEP = 128, 32, 20_000


class Span(NamedTuple):
    """A word of a document, and where it stands."""

    text: str
    start: int
    end: int


class Normalizer:
    spaces = re.compile(r"[\s\u00a0]+")

    def __call__(self, text):
        return self.spaces.sub(" ", text).strip().lower()


class Cache:
    """The pieces of the words seen last."""

    def __init__(self, size):
        self.size = size
        self.kept = OrderedDict()

    def get(self, key):
        if key in self.kept:
            self.kept.move_to_end(key)
            return self.kept[key]
        return None

    def put(self, key, value):
        self.kept[key] = value
        if len(self.kept) > self.size:
            self.kept.popitem(last=False)


class MergeModel:
    def __init__(self, ranks):
        self.ranks = ranks
        self.cache = Cache(KEEP)
        self.numbers = {}

    def key(self, span):
        return span

    def merge(self, word):
        """Joins the best pair again and again, until no pair is in the table."""
        parts = list(word)
        while len(parts) > 1:
            rank, at = min((self.ranks.get(pair, 1 << 30), at) for at, pair in enumerate(zip(parts, parts[1:])))
            if rank == 1 << 30:
                break
            parts[at : at + 2] = [parts[at] + parts[at + 1]]
        return [self.numbers.setdefault(part, len(self.numbers)) for part in parts]

    def pieces(self, span):
        found = self.cache.get(self.key(span))
        if found is None:
            found = self.merge(span.text)
            self.cache.put(self.key(span), found)
        return found


class MergeModelFixed(MergeModel):
    def key(self, span):
        return span.text


class Tokenizer:
    def __init__(self, model):
        self.normalizer = Normalizer()
        self.model = model

    def spans(self, text):
        return [Span(match.group(), match.start(), match.end()) for match in WORD.finditer(text)]

    def encode(self, text):
        """Numbers of the pieces, and the place in the text where each one's word ends."""
        numbers, ends = array("H"), array("I")
        for span in self.spans(self.normalizer(text)):
            found = self.model.pieces(span)
            numbers.extend(found)
            ends.extend([span.end] * len(found))
        return numbers, ends

    def windows(self, text):
        numbers, ends = self.encode(text)
        for start in range(0, max(1, len(numbers) - STRIDE), WINDOW - STRIDE):
            part = numbers[start : start + WINDOW]
            yield part.tobytes(), len(part), ends[min(start + WINDOW, len(ends)) - 1]


def learn(texts, size=1_400):
    """Ranks of pairs: frequent beginnings and insides of words, short ones first."""
    words = Counter(word for text in texts for word in WORD.findall(text))
    counts = Counter()
    for word, times in words.items():
        for length in range(2, 6):
            for at in range(len(word) - length + 1):
                counts[word[at : at + length]] += times
    best = sorted((text for text, _ in counts.most_common(size)), key=len)
    return {(text[:-1], text[-1]): rank for rank, text in enumerate(best)}


def corpus(rnd, count):
    words = ["".join(rnd.choices("etaoinshrdlucm", k=rnd.randint(2, 11))) for _ in range(420)]
    weights = [1 / (at + 3) for at in range(len(words))]
    for _ in range(count):
        text = rnd.choices(words, weights, k=rnd.randint(120, 260))
        for at in range(0, len(text), 17):
            text[at] += rnd.choice((".", ",", ";", "  ", " %d" % rnd.randrange(2_000)))
        yield " ".join(text).capitalize()


def one_pass(number, model):
    rnd = random.Random(number)
    texts = list(corpus(rnd, 12))
    tokenizer = Tokenizer(model(learn(texts[:4])))
    windows = [window for text in texts for window in tokenizer.windows(text)]
    return len(windows), sum(count for _, count, _ in windows), len(tokenizer.model.numbers), windows[0][0].hex()[:40], windows[-1][2]


if __name__ == "__main__":
    run(one_pass, MergeModel, MergeModelFixed)
