# SPDX-License-Identifier: Apache-2.0
"""A newspaper archive's search: results come page by page, and a reader asks for the next one with a token."""
import random

import service

TOPICS = ("flood", "election", "harvest", "strike", "bridge", "comet", "opera")
PAGE = 10


class Archive:
    def __init__(self, rng, years=range(1880, 1960)):
        self.headlines = [
            (year, "%s of %d in the %s column" % (topic, year, rng.choice(("first", "second", "last"))))
            for year in years
            for topic in TOPICS
            for _ in range(3)
        ]

    def search(self, topic):
        return [(year, headline) for year, headline in self.headlines if topic in headline]


class Search:
    """Readers seldom go on to a second page, and then they bring the token of the first."""

    def __init__(self, archive):
        self.archive = archive
        self.by_token = {}
        self.tokens = 0

    def pages(self, topic):
        found = self.archive.search(topic)
        excerpts = [("%d: %s " % entry) * 2 for entry in found]
        for start in range(0, len(found), PAGE):
            yield excerpts[start : start + PAGE]

    def begin(self, topic):
        turning = self.pages(topic)
        page = next(turning)
        self.tokens += 1
        self.by_token[self.tokens] = turning
        return self.tokens, page

    def turn(self, token):
        """The next page; None after the last."""
        page = next(self.by_token[token], None)
        if page is None:
            del self.by_token[token]
        return page


def main():
    rng = random.Random(67)
    search = Search(Archive(rng))
    read = 0
    for _ in service.rounds(per_second=60):
        token, page = search.begin(rng.choice(TOPICS))
        read += len(page)
        if rng.random() < 0.2:
            while page:
                page = search.turn(token)
                read += len(page or ())
    print("headlines read %d" % read)


if __name__ == "__main__":
    main()
