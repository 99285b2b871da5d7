# SPDX-License-Identifier: Apache-2.0
"""A forum holds back posts that break a rule: rules look at words, links, shouting and haste, held posts wait for a moderator."""

import random
import re
from collections import Counter, deque

from common import run

LINK = re.compile(r"https?://([\w.-]+)")
BAD_HOSTS = {"cheap-pills.example", "win.example", "casino.example"}


class Post:
    def __init__(self, author, at, text):
        self.author = author
        self.at = at
        self.text = text
        self.words = re.findall(r"\w+", text.lower())


class Phrases:
    def __init__(self, phrases):
        self.shape = re.compile(r"\b(?:%s)\b" % "|".join(map(re.escape, phrases)))

    def broken(self, post):
        return self.shape.search(post.text) is not None


class Links:
    def broken(self, post):
        hosts = LINK.findall(post.text)
        return len(hosts) > 3 or any(host in BAD_HOSTS for host in hosts)


class Shouting:
    def broken(self, post):
        letters = sum(map(str.isalpha, post.text))
        return letters > 10 and sum(map(str.isupper, post.text)) > 0.6 * letters


class Repeats:
    """The same two words one after the other many times."""

    def broken(self, post):
        pairs = Counter(zip(post.words, post.words[1:]))
        return bool(pairs) and max(pairs.values()) > 4


class Names:
    def __init__(self, names):
        self.names = names

    def broken(self, post):
        return sum(word in self.names for word in post.words) > 3


class Forum:
    def __init__(self, rules):
        self.rules = rules
        self.held = deque()
        self.shown = Counter()
        self.seen = Counter()
        self.lengths = Counter()

    def breaks_any(self, post):
        return any([rule.broken(post) for rule in self.rules])

    def take(self, post):
        if self.breaks_any(post):
            self.held.append(post)
        else:
            self.show(post)
        if len(self.held) > 20:
            self.moderate()

    def show(self, post):
        self.shown[post.author] += 1
        self.lengths[len(post.words) // 10] += 1
        self.seen.update(post.words)

    def moderate(self):
        while self.held:
            post = self.held.popleft()
            if post.at % 3 == 0:
                self.show(post)


class HastyForum(Forum):
    def breaks_any(self, post):
        return any(rule.broken(post) for rule in self.rules)


def text(rnd, words):
    said = rnd.choices(words, k=rnd.randint(8, 60))
    kind = rnd.random()
    if kind < 0.35:
        said[3] = "https://%s/%d" % (rnd.choice(sorted(BAD_HOSTS)), rnd.randrange(1000))
    elif kind < 0.6:
        said[-2:] = ["buy", "now"]
    elif kind < 0.7:
        said = [word.upper() for word in said]
    return " ".join(said)


def one_pass(number, kind):
    rnd = random.Random(number)
    words = ["".join(rnd.choices("abcdeghilmnoprstu", k=rnd.randint(2, 9))) for _ in range(600)]
    phrases = ["buy now", "click here", "free money"] + [" ".join(rnd.sample(words, 3)) for _ in range(12)]
    forum = kind([Links(), Phrases(phrases), Shouting(), Repeats(), Names(set(words[:40]))])
    for at in range(500):
        forum.take(Post(rnd.randrange(80), at, text(rnd, words)))
    return len(forum.held), forum.shown.most_common(3), sorted(forum.lengths.items()), forum.seen.total()


if __name__ == "__main__":
    run(one_pass, Forum, HastyForum)
