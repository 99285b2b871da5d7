# SPDX-License-Identifier: Apache-2.0
"""Who gets this week's bulletin: the subscribers' list, less those who asked to be left alone."""

import csv
import hashlib
import io
import random

from common import run

TOPICS = ("garden", "choir", "council", "football", "library", "market")
HOSTS = ("mail.example", "post.example", "town.example", "letters.example")
FIRST = ("ana", "ben", "cleo", "dov", "edda", "finn", "gus", "hana", "ivo", "jo", "kim", "lars")
SUBJECT = "{name}, what the {topic} has for you this week"


def write_list(seed, count):
    rng = random.Random(seed)
    text = io.StringIO()
    out = csv.writer(text)
    out.writerow(["name", "email", "topics", "since"])
    addresses = []
    for i in range(count):
        name = rng.choice(FIRST)
        address = "%s.%d@%s" % (name, seed * count + i, rng.choice(HOSTS))
        addresses.append(address)
        shown = address.upper() if rng.random() < 0.1 else " " + address
        topics = "|".join(rng.sample(TOPICS, rng.randint(1, 4)))
        out.writerow([name.title(), shown, topics, 2005 + rng.randrange(20)])
    stopped = "\n".join(rng.sample(addresses, count // 8))
    return text.getvalue(), stopped


def tidy(address):
    return address.strip().lower()


def read_list(text):
    for row in csv.DictReader(io.StringIO(text)):
        yield tidy(row["email"]), row["name"], row["topics"].split("|")


def token(secret, address):
    return hashlib.sha256(("%s/%s" % (secret, address)).encode()).hexdigest()[:20]


def audience(people, topic, stopped):
    return [(email, name) for email, name, topics in people if topic in topics and email not in set(stopped)]


def audience_fixed(people, topic, stopped):
    out_of_reach = set(stopped)
    return [(email, name) for email, name, topics in people if topic in topics and email not in out_of_reach]


def letters(people, topic, secret):
    for address, name in people:
        link = "https://bulletin.example/leave?who=%s&t=%s" % (address, token(secret, address))
        body = "Dear %s,\n\nread on for the %s.\n\n%s\n" % (name, topic, link)
        yield address, SUBJECT.format(name=name, topic=topic), body


def one_pass(number, choose):
    text, stopped_text = write_list(number, 7500)
    people = list(read_list(text))
    stopped = stopped_text.split("\n")
    secret = "week %d" % number
    topic = TOPICS[number % len(TOPICS)]
    sent = hashlib.md5()
    count = size = 0
    for address, subject, body in letters(choose(people, topic, stopped), topic, secret):
        count += 1
        size += len(subject) + len(body)
        sent.update(address.encode() + body.encode())
    return count, size, sent.hexdigest()


if __name__ == "__main__":
    run(one_pass, audience, audience_fixed)
