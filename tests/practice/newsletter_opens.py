# SPDX-License-Identifier: Apache-2.0
"""Who reads a newsletter with what: requests for the counting picture are read, their programs told, and opens counted by issue."""

import random
import re
from collections import Counter
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit

from common import run

CLIENTS = [
    ("Thunderbird", re.compile(r"Thunderbird/(\d+)")),
    ("Outlook", re.compile(r"Microsoft Outlook (\d+)|MSOffice (\d+)")),
    ("Edge", re.compile(r"Edg(?:A|iOS)?/(\d+)")),
    ("Firefox", re.compile(r"Firefox/(\d+)")),
    ("Chrome", re.compile(r"Chrome/(\d+)")),
    ("Mail", re.compile(r"AppleWebKit/(\d+)(?!.*(?:Chrome|Edg))")),
]
SYSTEMS = [
    ("Android", re.compile(r"Android (\d+)")),
    ("iOS", re.compile(r"(?:iPhone|iPad); CPU (?:iPhone )?OS (\d+)_")),
    ("macOS", re.compile(r"Mac OS X (\d+)[._]")),
    ("Windows", re.compile(r"Windows NT (\d+)")),
    ("Linux", re.compile(r"X11; Linux ()")),
]
PROXY = re.compile(r"GoogleImageProxy|YahooMailProxy|Barracuda|bot\b", re.I)
OPENS = 2200


class Agent(NamedTuple):
    client: str
    version: int
    system: str
    proxy: bool


class Open(NamedTuple):
    issue: str
    reader: int
    hour: int
    agent: Agent


def agents(rnd):
    """The sixty programs that this newsletter's readers have."""
    systems = ["X11; Linux x86_64", "Windows NT 10.0; Win64; x64", "Macintosh; Intel Mac OS X 10_15_7", "Linux; Android 14; Pixel 7", "iPhone; CPU iPhone OS 17_4 like Mac OS X"]
    tails = ["Gecko/20100101 Firefox/{}.0", "AppleWebKit/537.36 (KHTML, like Gecko) Chrome/{0}.0.0.0 Safari/537.36", "AppleWebKit/605.1.15 (KHTML, like Gecko)", "Gecko/20100101 Thunderbird/{}.6.1"]
    tails += ["AppleWebKit/537.36 (KHTML, like Gecko) Chrome/{0}.0 Safari/537.36 Edg/{0}.0", "(compatible; MSOffice {0})", "Firefox/11.0 (via ggpht.com GoogleImageProxy)"]
    return [f"Mozilla/5.0 ({rnd.choice(systems)}) " + rnd.choice(tails).format(rnd.randint(90, 130)) for _ in range(60)]


def log(rnd):
    programs = agents(rnd)
    weights = [1 / (at + 1) for at in range(len(programs))]
    for program in rnd.choices(programs, weights, k=OPENS):
        moment = f"2024-05-{rnd.randint(1, 28):02}T{rnd.randint(0, 23):02}:{rnd.randint(0, 59):02}"
        yield f'{moment}\t/o.gif?i=nr{rnd.randint(40, 44)}&r={rnd.randint(1, 900)}&s={rnd.getrandbits(24):06x}\t{program}'


def first_of(table, text):
    for name, pattern in table:
        found = pattern.search(text)
        if found:
            return name, int(next(filter(None, found.groups()), 0))
    return "other", 0


def read_agent(text):
    client, version = first_of(CLIENTS, text)
    system, _ = first_of(SYSTEMS, text)
    return Agent(client, version, system, PROXY.search(text) is not None)


read_agent_fix = lru_cache(maxsize=1000)(read_agent)


class Counting:
    def __init__(self, agent_of):
        self.agent_of = agent_of
        self.first = {}
        self.proxied = 0

    def line(self, text):
        moment, target, program = text.rstrip("\n").split("\t")
        asked = parse_qs(urlsplit(target).query)
        return Open(asked["i"][0], int(asked["r"][0]), int(moment[11:13]), self.agent_of(program))

    def take(self, lines):
        for text in lines:
            seen = self.line(text)
            self.proxied += seen.agent.proxy
            if not seen.agent.proxy:
                self.first.setdefault((seen.issue, seen.reader), seen)

    def shares(self):
        clients, systems, hours = Counter(), Counter(), Counter()
        for seen in self.first.values():
            clients[seen.issue, seen.agent.client] += 1
            systems[seen.agent.system, seen.agent.version // 10] += 1
            hours[seen.hour] += 1
        return clients.most_common(5), systems.most_common(3), hours.most_common(2)


def one_pass(number, agent_of):
    rnd = random.Random(number)
    counting = Counting(agent_of)
    counting.take(log(rnd))
    return len(counting.first), counting.proxied, *counting.shares()


if __name__ == "__main__":
    run(one_pass, read_agent, read_agent_fix)
