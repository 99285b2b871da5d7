# SPDX-License-Identifier: Apache-2.0
"""A campsite's guest book on the web: entries are cleaned, words from the warden's list starred, links counted, and shown by page."""

import html
import random
import re
from collections import Counter

from common import run

LINK = re.compile(r"https?://\S+")
SPACE = re.compile(r"\s+")
SOUNDS = ["ba", "do", "ki", "lu", "mer", "ni", "pol", "ra", "sti", "tan", "ve", "zo", "x-", "gru."]


def invented(rnd, low, high):
    return "".join(rnd.choice(SOUNDS) for _ in range(rnd.randint(low, high))).strip("-.")


def entry(rnd, words, listed):
    chosen = rnd.choices(words, k=rnd.randint(12, 45))
    if rnd.random() < 0.3:
        chosen[rnd.randrange(len(chosen))] = rnd.choice(listed).upper()
    if rnd.random() < 0.15:
        chosen.append("https://%s.example/%x" % (rnd.choice(words).strip("."), rnd.getrandbits(24)))
    return {"name": rnd.choice(words).title(), "nights": rnd.randint(1, 14), "text": "  ".join(chosen) + rnd.choice((" & thanks", " <3", "!", ""))}


def starred(found):
    return found[0][0] + "*" * (len(found[0]) - 1)


class Guard:
    """Listed words lose all but their first letter."""

    def __init__(self, listed):
        self.listed = listed
        self.hits = Counter()

    def clean(self, texts):
        for text in texts:
            pattern = re.compile(r"\b(?:%s)\b" % "|".join(map(re.escape, self.listed)), re.IGNORECASE)
            yield self.star(pattern, text)

    def star(self, pattern, text):
        text, count = pattern.subn(starred, SPACE.sub(" ", text))
        self.hits[count] += 1
        return text


class GuardFixed(Guard):
    def clean(self, texts):
        pattern = re.compile(r"\b(?:%s)\b" % "|".join(map(re.escape, self.listed)), re.IGNORECASE)
        for text in texts:
            yield self.star(pattern, text)


class Book:
    def __init__(self, guard):
        self.guard = guard
        self.shown = []
        self.held = []
        self.words = Counter()

    def layout(self, entry, text):
        lines, line = [], ""
        for word in text.split(" "):
            if len(line) + len(word) > 60:
                lines.append(line)
                line = ""
            line = line + " " + word if line else word
        lines.append(line)
        body = "<br>".join(map(html.escape, lines))
        return f"<article><h3>{html.escape(entry['name'])}, {entry['nights']} nights</h3><p>{body}</p></article>"

    def add(self, entries):
        texts = self.guard.clean(entry["text"] for entry in entries)
        for entry, text in zip(entries, texts):
            if len(LINK.findall(text)) > 0:
                self.held.append(entry["name"])
                continue
            self.words.update(text.lower().split())
            self.shown.append(self.layout(entry, text))

    def page(self, number, size=10):
        return "\n".join(self.shown[number * size : (number + 1) * size])


def one_pass(number, guard):
    rnd = random.Random(number)
    listed = [invented(rnd, 3, 4) for _ in range(60)]
    words = [invented(rnd, 1, 3) for _ in range(400)]
    book = Book(guard(listed))
    for day in range(12):
        book.add([entry(rnd, words, listed) for _ in range(18)])
    return len(book.shown), len(book.held), sorted(book.guard.hits.items()), book.words.most_common(2), book.page(3)[:80]


if __name__ == "__main__":
    run(one_pass, Guard, GuardFixed)
