# SPDX-License-Identifier: Apache-2.0
"""Texts in which few words are frequent: each word's weight is made anew, for other parameters in each text.

Arguments come back after others have been there, and are other ones a moment later. With --fixed a cache keeps the
weights of one text.
"""
import argparse
import functools
import random
import time

import support

WORDS = ["w%02d" % number for number in range(40)]


def weight(word, base):
    total = 0
    for power in range(40):
        total = (total * 31 + len(word) * base + ord(word[power % 3]) * power) % 1000003
    return total


def score(words, base, weigh):
    return sum(weigh(word, base) for word in words)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--fixed", action="store_true")
    arguments = parser.parse_args()
    rng = random.Random(1)
    problems = []

    support.ready()
    texts = longest = 0
    end = time.monotonic() + arguments.seconds
    while time.monotonic() < end:
        words, base = rng.choices(WORDS, k=1000), rng.randrange(10**6)
        weigh = functools.lru_cache(maxsize=None)(weight) if arguments.fixed else weight
        total = score(words, base, weigh)
        # Seldom: it is the same work.
        if texts % 100 == 0 and total != score(words, base, weight):
            problems.append("text %d has another score" % texts)
            break
        longest = max(longest, len(" ".join(sorted(letter for word in words * 8 for letter in word))))
        texts += 1
    support.finish("shared_terms", problems, "%d texts" % texts)


main()
