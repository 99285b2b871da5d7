# SPDX-License-Identifier: Apache-2.0
"""Reads ingredient lists as people write them: amounts, ranges, units, notes; amounts become grams, lists a shopping basket."""

import random
import re
from collections import defaultdict

from common import run

NUMBER = re.compile(r"\s*(\d+(?:\.\d+)?)")
WORD = re.compile(r"\s*([a-z][a-z'-]*)")
SIGNS = {sign: re.compile(r"\s*(%s)" % re.escape(sign)) for sign in "/-()"}
UNITS = {"g": 1.0, "kg": 1000.0, "ml": 1.0, "l": 1000.0, "cup": 240.0, "tbsp": 15.0, "tsp": 5.0, "oz": 28.35}
SIZES = {"small": 0.7, "large": 1.4, "heaped": 1.25}


class Wrong(Exception):
    pass


class Line:
    """A parser that goes along one line; every method takes what it knows from the place reached."""

    def __init__(self, text):
        self.text = text
        self.at = 0

    def take(self, shape):
        found = shape.match(self.text, self.at)
        if found is None:
            return None
        self.at = found.end()
        return found[1]

    def sign(self, sign):
        return self.take(SIGNS[sign]) is not None

    def number(self):
        """2, 2.5, 1/2 or 2 1/2."""
        whole = self.take(NUMBER)
        if whole is None:
            raise Wrong(self.text)
        if self.sign("/"):
            return float(whole) / self.part()
        start = self.at
        above = self.take(NUMBER)
        if above is not None and self.sign("/"):
            return float(whole) + float(above) / self.part()
        self.at = start
        return float(whole)

    def part(self):
        below = self.take(NUMBER)
        if below is None or not float(below):
            raise Wrong(self.text)
        return float(below)

    def amount(self):
        low = self.number()
        return (low + self.number()) / 2 if self.sign("-") else low

    def words(self):
        while (word := self.take(WORD)) is not None:
            yield word

    def ingredient(self):
        amount, grams, name = self.amount(), None, []
        for word in self.words():
            if word in SIZES and not name:
                amount *= SIZES[word]
            elif grams is None and not name and (unit := word.rstrip("s")) in UNITS:
                grams = amount * UNITS[unit]
            else:
                name.append(word)
        note = []
        if self.sign("("):
            note.extend(self.words())
            if not self.sign(")"):
                raise Wrong(self.text)
        if not name:
            raise Wrong(self.text)
        return " ".join(name), amount * 60.0 if grams is None else grams, " ".join(note)


class Basket:
    def __init__(self):
        self.grams = defaultdict(float)
        self.notes = 0
        self.wrong = []

    def add(self, text, portions):
        try:
            name, grams, note = Line(text).ingredient()
        except Wrong as error:
            self.wrong.append(str(error))
            return
        self.grams[name] += grams * portions
        self.notes += bool(note)


def written(rnd, names):
    number = "%d" % rnd.randint(1, 9) if rnd.random() < 0.5 else "%.2f" % rnd.uniform(0.1, 900)
    if rnd.random() < 0.3:
        number = "%d %d/%d" % (rnd.randint(1, 5), rnd.randint(1, 3), rnd.randint(0, 8))
    elif rnd.random() < 0.2:
        number += "-%d" % rnd.randint(2, 900)
    unit = rnd.choice(("g", "kg", "ml", "cups", "tbsp", "tsp", "large", "heaped tsp", ""))
    note = " (%s %s)" % tuple(rnd.sample(names, 2)) if rnd.random() < 0.3 else ""
    return "%s %s %s%s" % (number, unit, " ".join(rnd.sample(names, rnd.randint(1, 3))), note)


def one_pass(number, _):
    rnd = random.Random(number)
    names = ["".join(rnd.choices("abcdeiklmnoprstu", k=rnd.randint(3, 8))) for _ in range(80)]
    basket = Basket()
    for _ in range(1200):
        basket.add(written(rnd, names), rnd.randint(1, 6))
    heavy = sorted(basket.grams.items(), key=lambda item: (-item[1], item[0]))[:4]
    return len(basket.grams), heavy, basket.notes, len(basket.wrong), basket.wrong[:2]


if __name__ == "__main__":
    run(one_pass, None)
