# SPDX-License-Identifier: Apache-2.0
"""A site crawler over generated pages: follows links, counts words, keeps the titles."""

import random
import re
from collections import Counter, deque

from common import run

HREF = re.compile(r'<a\s+href="([^"]+)"')
TITLE = re.compile(r"<title>([^<]*)</title>")
TAG = re.compile(r"<[^>]+>")
ORIGIN = "https://site.example"
TOPICS = ("garden", "seeds", "tools", "soil", "bees", "ponds")


def make_site(seed, count):
    rng = random.Random(seed)
    paths = ["/%s/%d/%x.html" % (rng.choice(TOPICS), rng.randrange(9), rng.getrandbits(28)) for _ in range(count)]
    pages = {}
    for place, path in enumerate(paths):
        near = [paths[(place + step) % count] for step in (1, 2)]
        links = near + rng.choices(paths, k=10)
        words = " ".join(rng.choices(TOPICS, k=12))
        anchors = " ".join('<a href="%s#s%d">%s</a>' % (link, rng.randrange(4), rng.choice(TOPICS)) for link in links)
        pages[ORIGIN + path] = "<html><title>Page %d</title><p>%s</p>%s</html>" % (place, words, anchors)
    return ORIGIN + paths[0], pages


class ListFrontier:
    def __init__(self):
        self.waiting = deque()
        self.seen = []

    def offer(self, url):
        if url in self.seen:
            return False
        self.seen.append(url)
        self.waiting.append(url)
        return True


class SetFrontier:
    def __init__(self):
        self.waiting = deque()
        self.seen = set()

    def offer(self, url):
        if url in self.seen:
            return False
        self.seen.add(url)
        self.waiting.append(url)
        return True


def crawl(start, pages, frontier):
    frontier.offer(start)
    titles, words, fresh = [], Counter(), 0
    while frontier.waiting:
        html = pages[frontier.waiting.popleft()]
        titles.append(TITLE.search(html).group(1))
        words.update(TAG.sub(" ", html).split())
        for href in HREF.findall(html):
            path, _, _ = href.partition("#")
            fresh += frontier.offer(ORIGIN + path)
    return titles, words, fresh


def one_pass(number, make_frontier):
    start, pages = make_site(number, 1500)
    titles, words, fresh = crawl(start, pages, make_frontier())
    return len(titles), titles[-1], fresh, sorted(words.items())[:8]


if __name__ == "__main__":
    run(one_pass, ListFrontier, SetFrontier)
