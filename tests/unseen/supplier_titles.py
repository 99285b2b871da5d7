# SPDX-License-Identifier: Apache-2.0
"""Finds which article of the catalogue a supplier's line means, though suppliers write titles as they like."""

import difflib
import random
import re

from runner import run

MAKERS = ("Acorn", "Brightwell", "Cobalt", "Dunmore", "Elkhart", "Fenwick")
THINGS = ("drill", "sander", "hand saw", "socket set", "work lamp", "pipe wrench", "tape measure", "glue gun")
EXTRAS = ("pro", "compact", "heavy duty", "cordless", "18V", "230V", "blue", "with case", "2 pcs", "mk II")
SHORT = {"cordless": "cdl", "heavy duty": "HD", "with case": "w/ case", "2 pcs": "2x", "compact": "cmpct"}
SPACES = re.compile(r"[^a-z0-9]+")


def tidy(title):
    return SPACES.sub(" ", title.lower()).strip()


class Catalogue:
    def __init__(self, rnd):
        self.titles = []
        self.shelves = {}
        for _ in range(160):
            words = [rnd.choice(MAKERS), rnd.choice(THINGS), *rnd.sample(EXTRAS, 3), "%d mm" % rnd.randint(3, 300)]
            self.titles.append(" ".join(words))
        for at, title in enumerate(map(tidy, self.titles)):
            self.shelves.setdefault(title[0], []).append((at, title))


def misspelt(rnd, title):
    letters = list(title)
    for _ in range(rnd.randint(0, 4)):
        at = rnd.randrange(len(letters))
        letters[at] = rnd.choice(("", letters[at] * 2, "e", " "))
    return "".join(letters)


def supplier_line(rnd, title):
    words = title.split(" ")
    head, tail = words[:2], words[2:]
    rnd.shuffle(tail)
    text = " ".join(head + tail)
    for long, short in SHORT.items():
        if rnd.random() < 0.3:
            text = text.replace(long, short)
    return misspelt(rnd, text)


def nearest(query, candidates, cutoff):
    best, found = cutoff, None
    for at, title in candidates:
        matcher = difflib.SequenceMatcher(None, title, query)
        if matcher.real_quick_ratio() > best and matcher.quick_ratio() > best:
            ratio = matcher.ratio()
            if ratio > best:
                best, found = ratio, at
    return found, best


def nearest_fixed(query, candidates, cutoff):
    best, found = cutoff, None
    matcher = difflib.SequenceMatcher()
    matcher.set_seq2(query)
    for at, title in candidates:
        matcher.set_seq1(title)
        if matcher.real_quick_ratio() > best and matcher.quick_ratio() > best:
            ratio = matcher.ratio()
            if ratio > best:
                best, found = ratio, at
    return found, best


def one_pass(number, nearest):
    rnd = random.Random(number)
    catalogue = Catalogue(rnd)
    right = unknown = 0
    doubtful = []
    for _ in range(16):
        meant = rnd.randrange(len(catalogue.titles))
        query = tidy(supplier_line(rnd, catalogue.titles[meant]))
        found, ratio = nearest(query, catalogue.shelves.get(query[0], ()), 0.6)
        if found is None:
            unknown += 1
            continue
        right += found == meant
        if ratio < 0.8:
            doubtful.append((query, catalogue.titles[found], round(ratio, 4)))
    return right, unknown, len(doubtful), doubtful[:2]


if __name__ == "__main__":
    run(one_pass, nearest, nearest_fixed)
