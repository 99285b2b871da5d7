# SPDX-License-Identifier: Apache-2.0
"""Follows the links of a parish's pages from the first one on and lists the dead ones and how deep each page lies."""

import random
import re
from collections import deque

from runner import run

PAGES = 450
LINK = re.compile(r'<a href="([^"#]+)[^>]*>([^<]*)</a>')
TAGS = re.compile(r"<[^>]+>")
WORDS = "mass choir bell feast market school door tower garden hall notice visit sick young old bread wine".split()


def site(seed):
    rnd = random.Random(seed)
    names = ["/%d/%s-%s.html" % (2000 + n % 24, rnd.choice(WORDS), n) for n in range(PAGES)]
    pages = {}
    for place, name in enumerate(names):
        parts = ["<h1>%s</h1>" % rnd.choice(WORDS)]
        for _ in range(rnd.randrange(8, 20)):
            to = names[min(PAGES - 1, int(rnd.expovariate(1 / (30 + place))))]
            if rnd.random() < 0.02:
                to = to.replace(".html", ".htm")
            parts.append('<a href="%s#%d">%s</a>' % (to, rnd.randrange(9), rnd.choice(WORDS)))
        parts.append("<p>%s</p>" % " ".join(rnd.choices(WORDS, k=30)))
        pages[name] = "\n".join(parts)
    return names[0], pages


def walk(first, pages):
    """Pages in the order of their depth, each with its links; a link is followed once."""
    met = [first]
    waiting = deque([(first, 0)])
    while waiting:
        name, depth = waiting.popleft()
        text = pages.get(name)
        if text is None:
            yield name, depth, None, ""
            continue
        links = LINK.findall(text)
        for to, _ in links:
            if to not in met:
                met.append(to)
                waiting.append((to, depth + 1))
        yield name, depth, links, TAGS.sub("", text)


def walk_fixed(first, pages):
    met = {first}
    waiting = deque([(first, 0)])
    while waiting:
        name, depth = waiting.popleft()
        text = pages.get(name)
        if text is None:
            yield name, depth, None, ""
            continue
        links = LINK.findall(text)
        for to, _ in links:
            if to not in met:
                met.add(to)
                waiting.append((to, depth + 1))
        yield name, depth, links, TAGS.sub("", text)


def one_pass(number, step):
    dead, depths, words, towards = [], {}, 0, {}
    for name, depth, links, text in step(*site(number)):
        if links is None:
            dead.append(name)
            continue
        depths[depth] = depths.get(depth, 0) + 1
        words += len(text.split())
        for to, _ in links:
            towards[to] = towards.get(to, 0) + 1
    top = max(towards.items(), key=lambda entry: (entry[1], entry[0]))
    return len(dead), dead[:2], sorted(depths.items()), words, top


if __name__ == "__main__":
    run(one_pass, walk, walk_fixed)
