# SPDX-License-Identifier: Apache-2.0
"""Serves the pages of a small magazine: settings by site, section and reader, then the page's markup."""

import copy
import html
import random

from common import run

FRAME = "<html lang='{lang}'><title>{title}</title><body class='{theme} w{width}'>{menu}<main>{body}</main>{foot}"


def site(rng):
    return {
        "title": "The %s Gazette" % rng.choice(("Harbour", "Valley", "Orchard")),
        "lang": rng.choice(("en", "de", "fr")),
        "page": {"theme": "day", "width": rng.choice((60, 72, 80)), "fonts": ["Vollkorn", "Inter"], "notes": True},
        "menu": [{"name": "Section %d" % k, "path": "/s%d" % k, "hot": rng.random() < 0.3} for k in range(6)],
        "ads": {"slots": [[300, 250], [728, 90]], "per_page": rng.randint(1, 4), "blocked": ["loans", "bets"]},
        "limits": {"comments": 50, "teasers": rng.randint(3, 9)},
    }


class Renderer:
    def __init__(self, defaults):
        self.defaults = defaults
        self.bytes = 0

    def settings(self, request):
        chosen = copy.deepcopy(self.defaults)
        chosen["page"].update(request["page"])
        chosen["title"] = "%s: %s" % (chosen["title"], request["headline"])
        return chosen

    def menu(self, entries, path, unread):
        parts = []
        for entry, new in zip(entries, unread):
            mark = " class='here'" if path.startswith(entry["path"]) else ""
            parts.append("<a href='%s'%s>%s (%d)%s</a>" % (entry["path"], mark, entry["name"], new, "*" * entry["hot"]))
        return "<nav>%s</nav>" % "".join(parts)

    def body(self, text, limits):
        paragraphs = text.split("\n\n")[: limits["teasers"]]
        return "".join("<p>%s</p>" % html.escape(part) for part in paragraphs)

    def page(self, request):
        chosen = self.settings(request)
        text = FRAME.format(
            lang=chosen["lang"],
            title=html.escape(chosen["title"]),
            theme=chosen["page"]["theme"],
            width=chosen["page"]["width"],
            menu=self.menu(chosen["menu"], request["path"], request["unread"]),
            body=self.body(request["text"], chosen["limits"]),
            foot="<footer>%d/%s</footer>" % (chosen["ads"]["per_page"], request["path"]),
        )
        self.bytes += len(text)
        return text


class LayeredRenderer(Renderer):
    def settings(self, request):
        return {
            **self.defaults,
            "page": {**self.defaults["page"], **request["page"]},
            "title": "%s: %s" % (self.defaults["title"], request["headline"]),
        }


def requests(rng, many):
    words = ["w%x" % rng.getrandbits(rng.randint(4, 24)) for _ in range(200)]
    for serial in range(many):
        text = "\n\n".join(" ".join(rng.choices(words, k=rng.randint(10, 40))) for _ in range(rng.randint(2, 9)))
        wish = {"theme": rng.choice(("day", "night")), "width": rng.randint(50, 99)}
        yield {"path": "/s%d/%d" % (rng.randrange(6), serial), "headline": " ".join(rng.choices(words, k=4)),
               "page": wish, "text": text, "unread": rng.choices(range(1000), k=6)}  # fmt: skip


def one_pass(number, kind):
    rng = random.Random(number * 13 + 5)
    result = []
    for _ in range(3):
        renderer = kind(site(rng))
        pages = [renderer.page(request) for request in requests(rng, 150)]
        result.append((renderer.bytes, pages[-1][:80], sum(p.count("&amp;") for p in pages)))
    return result


if __name__ == "__main__":
    run(one_pass, Renderer, LayeredRenderer)
