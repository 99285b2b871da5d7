# SPDX-License-Identifier: Apache-2.0
"""Marks what a school canteen has to declare in the descriptions of the week's dishes, and counts it per day."""

import random
import re
from collections import Counter, defaultdict

from runner import run

DECLARED = {
    "gluten": ["wheat", "rye", "barley", "spelt", "oats", "semolina", "bulgur", "couscous"],
    "milk": ["milk", "butter", "cream", "yoghurt", "quark", "feta", "parmesan", "ghee", "whey"],
    "nuts": ["almond", "hazelnut", "walnut", "cashew", "pecan", "pistachio", "macadamia"],
    "fish": ["cod", "herring", "anchovy", "trout", "salmon", "plaice"],
    "egg": ["egg", "mayonnaise", "meringue"],
    "mustard": ["mustard", "piccalilli"],
}
PLAIN = "rice beans carrot leek thyme apple lentil potato kale chive pepper onion tomato garlic fennel beetroot".split()
DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri")


class Labeller:
    def __init__(self, declared):
        self.group_of = {word: group for group, words in declared.items() for word in words}

    def words(self):
        longest_first = sorted(self.group_of, key=len, reverse=True)
        return re.compile(r"\b(%s)s?\b" % "|".join(map(re.escape, longest_first)), re.IGNORECASE)

    def label(self, dish):
        """The dish with its declared words in capitals, and the groups they are of."""
        groups = set()

        def mark(match):
            groups.add(self.group_of[match.group(1).lower()])
            return match.group().upper()

        return self.words().sub(mark, dish), sorted(groups)


class LabellerFixed(Labeller):
    def __init__(self, declared):
        super().__init__(declared)
        self.compiled = super().words()

    def words(self):
        return self.compiled


def menu(seed):
    rnd = random.Random(seed)
    declared = [word for words in DECLARED.values() for word in words]
    for number in range(160):
        words = rnd.sample(PLAIN, 7) + rnd.sample(declared, rnd.randrange(3))
        rnd.shuffle(words)
        middle = len(words) // 2
        dish = "%s with %s; no. %d" % (", ".join(words[:middle]).capitalize(), " and ".join(words[middle:]), number)
        yield DAYS[number % 5], dish, rnd.randrange(180, 420)


def one_pass(number, step):
    labeller = step(DECLARED)
    per_day = defaultdict(Counter)
    grams, longest = Counter(), ""
    for day, dish, portion in menu(number):
        text, groups = labeller.label(dish)
        per_day[day].update(groups)
        for group in groups:
            grams[group] += portion
        longest = max(longest, text, key=len)
    free = sorted(day for day in DAYS if per_day[day]["mustard"] < 2)
    return longest, sorted(grams.items()), free, [sum(per_day[day].values()) for day in DAYS]


if __name__ == "__main__":
    run(one_pass, Labeller, LabellerFixed)
