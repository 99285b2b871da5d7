# SPDX-License-Identifier: Apache-2.0
"""Pickers of a warehouse gather orders shelf by shelf: the nearest shelf comes next, full trolleys go to the packing table."""

import heapq
import json
import logging
import random
from collections import Counter

from common import run

log = logging.getLogger("picks")
log.setLevel(logging.INFO)
log.propagate = False


class Notes(logging.Handler):
    """Keeps what is logged, as text."""

    def __init__(self):
        super().__init__()
        self.lines = []

    def emit(self, record):
        self.lines.append(self.format(record))


class Picker:
    def __init__(self, name):
        self.name = name
        self.at = (0, 0)
        self.load = 0.0
        self.trolley = []
        self.walked = 0

    def state(self):
        return {"picker": self.name, "at": self.at, "load": round(self.load, 2), "walked": self.walked, "trolley": self.trolley}

    def way(self, shelf):
        """Along the aisle and over at its end, or straight on in the same aisle."""
        (aisle, place), (here, now) = shelf, self.at
        if aisle == here:
            return abs(place - now)
        return min(place + now, 80 - place - now) + 6 * abs(aisle - here)

    def note(self, shelf, article):
        log.debug("picked %s at %s: %s", article, shelf, json.dumps(self.state(), sort_keys=True))

    def pick(self, shelf, article, weight):
        self.walked += self.way(shelf)
        self.at = shelf
        self.trolley.append(article)
        self.load += weight
        self.note(shelf, article)

    def unload(self):
        self.walked += self.way((0, 0))
        self.at = (0, 0)
        items = Counter(self.trolley)
        self.trolley, self.load = [], 0.0
        return items


class QuietPicker(Picker):
    def note(self, shelf, article):
        if log.isEnabledFor(logging.DEBUG):
            log.debug("picked %s at %s: %s", article, shelf, json.dumps(self.state(), sort_keys=True))


class Hall:
    def __init__(self, rnd, articles):
        self.places = {article: (rnd.randrange(12), rnd.randrange(40)) for article in articles}
        self.weights = {article: rnd.uniform(0.1, 3.0) for article in articles}
        self.packed = Counter()

    def gather(self, picker, order):
        """Takes the order's articles, nearest first, with a trip to the table whenever 30 kg are on the trolley."""
        left = list(order)
        while left:
            article = min(left, key=lambda each: picker.way(self.places[each]))
            left.remove(article)
            if picker.load + self.weights[article] > 30:
                self.packed += picker.unload()
            picker.pick(self.places[article], article, self.weights[article])
        self.packed += picker.unload()

    def shift(self, pickers, orders):
        free = [(0, at) for at in range(len(pickers))]
        for number, order in enumerate(orders):
            ends, at = heapq.heappop(free)
            before = pickers[at].walked
            self.gather(pickers[at], order)
            heapq.heappush(free, (ends + pickers[at].walked - before + 15 * len(order), at))
            if number % 20 == 0:
                log.info("order %d done by %s after %d s", number, pickers[at].name, free[-1][0])
        return max(free)[0]


def orders(rnd, articles, count):
    for _ in range(count):
        yield rnd.sample(articles, rnd.randint(3, 22))


def one_pass(number, kind):
    rnd = random.Random(number)
    notes = Notes()
    log.handlers = [notes]
    articles = ["A%04d" % at for at in range(300)]
    hall = Hall(rnd, articles)
    pickers = [kind("picker %d" % at) for at in range(5)]
    ends = hall.shift(pickers, orders(rnd, articles, 90))
    return ends, [picker.walked for picker in pickers], hall.packed.total(), len(notes.lines), notes.lines[-1]


if __name__ == "__main__":
    run(one_pass, Picker, QuietPicker)
