# SPDX-License-Identifier: Apache-2.0
"""Texts in which few words are frequent: each word's weight is made anew, for other parameters in each text.

Arguments come back after others have been there, and are other ones a moment later. With --fixed a cache keeps the
weights of one text.
"""
import functools

import round_runner

WORDS = ["w%02d" % number for number in range(40)]


def weight(word, base):
    total = 0
    for power in range(40):
        total = (total * 31 + len(word) * base + ord(word[power % 3]) * power) % 1000003
    return total


def score(words, base, weigh):
    total = 0
    for word in words:
        total += weigh(word, base)
    return total


def read(rng, fixed, number):
    words, base = rng.choices(WORDS, k=1000), rng.randrange(10**6)
    weigh = functools.lru_cache(maxsize=None)(weight) if fixed else weight
    total = score(words, base, weigh)
    # Seldom: it is the same work.
    if number % 100 == 0 and total != score(words, base, weight):
        return "another score"
    # What else there is to do.
    letters = " ".join(sorted(letter for word in words * 8 for letter in word))
    return None if letters.endswith("w") else "other letters"


round_runner.run("shared_terms", __doc__, read)
