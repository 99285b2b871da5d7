# SPDX-License-Identifier: Apache-2.0
"""Marks for a class's essays: reading ease, vocabulary, repeated phrases."""

import random
import re
from collections import Counter

from common import run

WORD = re.compile(r"[A-Za-z]+(?:'[a-z]+)?(?:-[A-Za-z]+)*")
SENTENCE_END = re.compile(r"[.!?]+\s")
SYLLABLES = ("ba", "cor", "den", "e", "fi", "gra", "lo", "mi", "na", "pol", "ri", "sta", "tu", "ver")
VOWELS = re.compile(r"[aeiouy]+", re.IGNORECASE)


def make_essays(seed, count):
    rng = random.Random(seed)
    lexicon = ["".join(rng.choices(SYLLABLES, k=rng.randrange(1, 5))) for _ in range(900)]
    lexicon += ["don't", "well-known", "it's", "so-called"]
    for _ in range(count):
        words = rng.choices(lexicon, k=rng.randrange(400, 900))
        marks = rng.choices(("", "", "", "", "", "", ",", ";", ".", "?"), k=len(words))
        yield " ".join(word + mark for word, mark in zip(words, marks)) + "."


def words_of(text):
    return [word.lower() for word in WORD.findall(text)]


def reading_ease(text, split):
    words = split(text)
    sentences = len(SENTENCE_END.findall(text)) + 1
    syllables = len(VOWELS.findall(text))
    return 206.8 - 1.015 * len(words) / sentences - 84.6 * syllables / len(words)


def vocabulary(text, split):
    counts = Counter(split(text))
    once = sum(1 for count in counts.values() if count == 1)
    return len(counts), once


def repeated_phrases(text, split):
    words = split(text)
    pairs = Counter(zip(words, words[1:]))
    return sum(count - 1 for count in pairs.values())


def longest_words(text, split):
    longest = sorted(set(split(text)), key=lambda word: (-len(word), word))
    return longest[:5]


def grade(text, split):
    ease = reading_ease(text, split)
    kinds, once = vocabulary(text, split)
    echo = repeated_phrases(text, split)
    points = ease / 10 + kinds / 40 + once / 60 - echo / 20
    return round(points, 2), longest_words(text, split)


def grade_fixed(text, split):
    words = split(text)
    return grade(text, lambda _: words)


def one_pass(number, mark):
    return [mark(text, words_of) for text in make_essays(number, 60)]


if __name__ == "__main__":
    run(one_pass, grade, grade_fixed)
