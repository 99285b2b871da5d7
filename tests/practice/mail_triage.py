# SPDX-License-Identifier: Apache-2.0
"""A help desk sorts its mail: words are weighed for each queue, a clerk confirms or corrects, and the weights learn from that."""

import math
import random
import re
from collections import Counter, defaultdict

from common import run

QUEUES = ("billing", "delivery", "returns", "login", "praise")
WORD = re.compile(r"[a-z]{3,}")
LETTERS = "aeioubcdfglmnprst"


def lexicon(rnd):
    """Words of everybody, and some that one queue's mails have more often."""
    words = sorted({"".join(rnd.choices(LETTERS, k=rnd.randint(3, 8))) for _ in range(420)})
    rnd.shuffle(words)
    return words[:160], {queue: words[160 + 45 * at : 205 + 45 * at] for at, queue in enumerate(QUEUES)}


def mail(rnd, everybody, special):
    queue = rnd.choice(QUEUES)
    words = rnd.choices(everybody, k=rnd.randint(12, 30)) + rnd.choices(special[queue], k=rnd.randint(4, 12))
    rnd.shuffle(words)
    lines = [" ".join(words[at : at + 9]).capitalize() + "." for at in range(0, len(words), 9)]
    head = "From: k%04d@example.org\nSubject: Re: %s %s\n\n" % (rnd.randrange(10**4), words[0], words[-1])
    return queue, head + "\n".join(lines) + "\n> " + "\n> ".join(lines[:2])


def body(text):
    """What was written this time: no heads, no quoted lines."""
    lines = text.split("\n\n", 1)[1].splitlines()
    return "\n".join(line for line in lines if not line.startswith(">"))


class Weights:
    def __init__(self):
        self.words = defaultdict(Counter)
        self.mails = Counter()
        self.known = set()

    def learn(self, queue, words):
        self.words[queue].update(words)
        self.mails[queue] += 1
        self.known.update(words)

    def score(self, queue, words):
        """Logarithm of how likely the words are in this queue, with one more of each."""
        counts = self.words[queue]
        result = math.log((self.mails[queue] + 1) / (self.mails.total() + len(QUEUES)))
        for word in words:
            result += math.log((counts[word] + 1) / (sum(counts.values()) + len(self.known)))
        return result

    def guess(self, words):
        scores = {queue: self.score(queue, words) for queue in QUEUES}
        best, second = sorted(scores, key=scores.get, reverse=True)[:2]
        return best, scores[best] - scores[second]


class WeightsFixed(Weights):
    def __init__(self):
        super().__init__()
        self.totals = Counter()

    def learn(self, queue, words):
        super().learn(queue, words)
        self.totals[queue] += len(words)

    def score(self, queue, words):
        counts = self.words[queue]
        result = math.log((self.mails[queue] + 1) / (self.mails.total() + len(QUEUES)))
        for word in words:
            result += math.log((counts[word] + 1) / (self.totals[queue] + len(self.known)))
        return result


class Desk:
    def __init__(self, weights):
        self.weights = weights
        self.right = Counter()
        self.wrong = Counter()
        self.asked = 0

    def preview(self, text):
        """Three lines at most for the list of mails, at the words' ends."""
        lines, line = [], ""
        for word in text.split():
            if len(line) + len(word) > 48:
                lines.append(line)
                line = ""
            line = (line + " " + word).strip()
        return "\n".join((lines + [line])[:3])

    def receive(self, queue, text):
        written = body(text)
        words = WORD.findall(written.lower())
        guess, lead = self.weights.guess(words)
        self.asked += lead < 6.0
        self.weights.learn(queue, words)
        (self.right if guess == queue else self.wrong)[queue] += 1
        return "%-8s %5.1f %s" % (guess, lead, self.preview(written))


def one_pass(number, make):
    rnd = random.Random(number)
    everybody, special = lexicon(rnd)
    weights = make()
    for _ in range(150):
        queue, text = mail(rnd, everybody, special)
        weights.learn(queue, WORD.findall(body(text).lower()))
    desk = Desk(weights)
    shown = [desk.receive(*mail(rnd, everybody, special)) for _ in range(90)]
    return sorted(desk.right.items()), sorted(desk.wrong.items()), desk.asked, shown[-1], sum(map(len, shown))


if __name__ == "__main__":
    run(one_pass, Weights, WeightsFixed)
