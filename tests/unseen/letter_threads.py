# SPDX-License-Identifier: Apache-2.0
"""A parish council's mailbox: letters are read by coroutines, quotes and signatures cut off, and letters joined to threads."""

import asyncio
import random
import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field

from runner import run

HEADER = re.compile(r"^([A-Za-z-]+):[ \t]*(.*(?:\n[ \t]+.*)*)", re.MULTILINE)
REPLY = re.compile(r"^(?:(?:re|aw|fwd?)\s*(?:\[\d+\])?:\s*)+", re.IGNORECASE)
PLACE = re.compile(r"\b(\d{1,3}[a-d]?)\s+((?:[A-Z][a-z]+\s)+(?:Street|Lane|Road|Green))\b")
SUM = re.compile(r"(?:£|GBP\s?)(\d{1,3}(?:,\d{3})*(?:\.\d\d)?)")
WORDS = "the bench by our pond was broken again please could you tell when lamp hedge verge will be mended before school starts we paid".split()
TOPICS = ("Potholes", "Pond bench", "Street lamp", "Hedge", "Hall booking", "Bus shelter", "Allotments")
STREETS = ("Mill Lane", "Church Street", "Long Green", "Station Road", "Upper Well Lane")


def letter(rnd, seed, at):
    topic = rnd.choice(TOPICS)
    lines = [
        f"From: {rnd.choice('abcdefgh')}.{rnd.choice(('hill', 'ford', 'marsh'))}{rnd.randrange(90)}@post.example",
        f"Message-ID: <{seed}.{at}.{rnd.getrandbits(40):x}@post.example>",
        f"Subject: {'Re: ' * rnd.randrange(3)}{topic} {rnd.randrange(40)}",
        f"Received: by mail{rnd.randrange(9)}\n\tfor council; id {rnd.getrandbits(48):x}",
        "",
    ]
    for _ in range(rnd.randint(4, 14)):
        lines.append(" ".join(rnd.choices(WORDS, k=rnd.randint(6, 14))))
    lines.append(f"It is near {rnd.randint(1, 140)} {rnd.choice(STREETS)} and cost £{rnd.randint(1, 9)},{rnd.randrange(1000):03d}.50")
    if rnd.random() < 0.5:
        lines += ["> " + " ".join(rnd.choices(WORDS, k=9)) for _ in range(rnd.randint(2, 8))]
    return "\n".join([*lines, "-- ", "Yours", "sent from a telephone"])


@dataclass
class Thread:
    topic: str
    letters: list = field(default_factory=list)
    people: set = field(default_factory=set)
    places: Counter = field(default_factory=Counter)
    pence: int = 0


class Mailbox:
    def __init__(self):
        self.threads = {}
        self.words = Counter()
        self.by_person = defaultdict(int)

    def headers(self, text):
        return {name.lower(): " ".join(value.split()) for name, value in HEADER.findall(text)}

    def own_words(self, body):
        for line in body.split("\n"):
            if line == "-- ":
                return
            if not line.startswith(">"):
                yield line

    def thread(self, subject):
        topic = REPLY.sub("", subject)
        return self.threads.setdefault(topic, Thread(topic))

    def take(self, text):
        head, _, body = text.partition("\n\n")
        headers = self.headers(head)
        thread = self.thread(headers["subject"])
        own = "\n".join(self.own_words(body))
        thread.letters.append(headers["message-id"])
        thread.people.add(headers["from"])
        thread.places.update(street for _, street in PLACE.findall(own))
        thread.pence += sum(round(float(amount.replace(",", "")) * 100) for amount in SUM.findall(own))
        self.words.update(word for word in own.lower().split() if len(word) > 4)
        self.by_person[headers["from"]] += len(own)


async def read(queue, box):
    while (text := await queue.get()) is not None:
        box.take(text)


async def evening(rnd, seed, box):
    queue = asyncio.Queue(16)
    readers = [asyncio.create_task(read(queue, box)) for _ in range(3)]
    for at in range(360):
        await queue.put(letter(rnd, seed, at))
    for _ in readers:
        await queue.put(None)
    await asyncio.gather(*readers)


def one_pass(number, step):
    box = Mailbox()
    asyncio.run(evening(random.Random(number), number, box))
    longest = max(box.threads.values(), key=lambda thread: (len(thread.letters), thread.topic))
    return len(box.threads), longest.topic, longest.pence, longest.places.most_common(1), box.words.most_common(3)


if __name__ == "__main__":
    run(one_pass)
