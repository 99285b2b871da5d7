# SPDX-License-Identifier: Apache-2.0
"""A relay of a chat service: frames come in as JSON, are checked, chained by digest, and passed on to the rooms' members and their phones."""

import hashlib
import json
import random
import re
from collections import Counter, defaultdict, deque

from common import run

NAME = re.compile(r"@([a-z]\w{2,15})")
LINK = re.compile(r"https?://[^\s<>]+")
MOST = 400
ENCODED = json.JSONEncoder(separators=(",", ":")).encode
SAYINGS = (
    "who takes the late shift on",
    "the build is red again, see",
    "lunch at the corner?",
    "please have a look at",
    "thanks, that did it",
    "can't reproduce this with",
)


class Clients:
    """Frames as their apps send them: text, edits, signs of reading, and a few that are broken."""

    def __init__(self, rnd):
        self.rnd = rnd
        self.names = ["".join(rnd.choices("abcdefghkmnprstu", k=6)) for _ in range(50)]
        self.serial = 0
        self.last = {}

    def text(self):
        words = [self.rnd.choice(SAYINGS), "%x" % self.rnd.getrandbits(48)]
        if self.rnd.random() < 0.4:
            words.append("@" + self.rnd.choice(self.names))
        if self.rnd.random() < 0.2:
            words.append("https://wiki.example.org/p/%d?v=%d" % (self.rnd.randrange(10**6), self.rnd.randrange(90)))
        return " ".join(words) + "!" * self.rnd.randrange(3)

    def frame(self):
        rnd = self.rnd
        self.serial += 1
        name, room = rnd.choice(self.names), "r%02d" % rnd.randrange(12)
        frame = {"id": self.serial, "from": name, "room": room, "at": 1_700_000_000_000 + 37 * self.serial}
        draw = rnd.random()
        if draw < 0.6:
            frame |= {"type": "text", "text": self.text()}
            self.last[name] = self.serial, room
        elif draw < 0.75 and name in self.last:
            of, room = self.last[name]
            frame |= {"type": "edit", "room": room, "of": of, "text": self.text()}
        else:
            frame |= {"type": "read", "upto": rnd.randint(1, self.serial)}
        text = json.dumps(frame)
        return text[: rnd.randrange(len(text))] if rnd.random() < 0.01 else text


class Relay:
    def __init__(self):
        self.counts = Counter()
        self.history = defaultdict(lambda: deque(maxlen=60))
        self.heads = defaultdict(bytes)
        self.upto = defaultdict(dict)
        self.outbox = []
        self.pushes = Counter()

    def chained(self, room, frame):
        """Every frame of a room carries the digest of all before it."""
        body = ENCODED(frame).encode()
        head = hashlib.blake2b(body, key=self.heads[room], digest_size=16).digest()
        self.heads[room] = head
        return body[:-1] + b',"head":"%s"}' % head.hex().encode()

    def push(self, room, frame):
        """Who is named, or all that have read up to lately, gets a push."""
        named = set(NAME.findall(frame["text"]))
        latest = frame["id"] - 150
        for name, upto in self.upto[room].items():
            if name in named or upto > latest:
                self.pushes[name] += 1

    def text(self, room, frame):
        frame["links"] = LINK.findall(frame["text"])
        frame["text"] = frame["text"][:MOST].rstrip("!") + "!" * frame["text"].endswith("!")
        self.history[room].append(frame)
        self.push(room, frame)
        self.outbox.append(self.chained(room, frame))

    def edit(self, room, frame):
        for known in reversed(self.history[room]):
            if known["id"] == frame["of"] and known["from"] == frame["from"]:
                known["text"] = frame["text"][:MOST]
                self.outbox.append(self.chained(room, frame))
                return
        self.counts["edit too late"] += 1

    def read(self, room, frame):
        seen = self.upto[room]
        seen[frame["from"]] = max(seen.get(frame["from"], 0), frame["upto"])

    def receive(self, text):
        try:
            frame = json.loads(text)
        except ValueError:
            self.counts["broken"] += 1
            return
        self.counts[frame["type"]] += 1
        getattr(self, frame["type"])(frame["room"], frame)


def one_pass(number, step):
    clients, relay = Clients(random.Random(number)), Relay()
    for _ in range(1_800):
        relay.receive(clients.frame())
    heads = sorted((room, head.hex()[:8]) for room, head in relay.heads.items())
    return sorted(relay.counts.items()), sum(map(len, relay.outbox)), relay.pushes.most_common(2), heads[:2]


if __name__ == "__main__":
    run(one_pass)
