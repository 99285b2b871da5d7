# SPDX-License-Identifier: Apache-2.0
"""A forwarder reads customs messages: XML per consignment, its lines checked and taxed, and an answer for each declarant."""

import random
from collections import Counter, defaultdict
from xml.dom import minidom
from xml.etree import ElementTree

from common import run

RATES = {"04": 8, "22": 12, "39": 6, "61": 12, "84": 2, "95": 4}
FIELDS = ("code", "origin", "kilos", "value")


def message(rnd, number):
    lines = []
    for at in range(rnd.randint(2, 9)):
        code = rnd.choice(list(RATES)) + "%06d" % rnd.randrange(10**6)
        lines.append(
            '<line code="%s" origin="%s" kilos="%.2f" value="%d">goods %d</line>'
            % (code, rnd.choice(("CN", "VN", "US", "CH", "TR")), rnd.uniform(0.5, 900), rnd.randint(500, 900_000), at)
        )
    return '<consignment number="C%07d" declarant="D%02d">\n  %s\n</consignment>' % (number, rnd.randint(1, 15), "\n  ".join(lines))


def parsed(text):
    top = minidom.parseString(text).documentElement
    lines = [{name: line.getAttribute(name) for name in FIELDS} for line in top.getElementsByTagName("line")]
    return top.getAttribute("number"), top.getAttribute("declarant"), lines


def parsed_fixed(text):
    top = ElementTree.fromstring(text)
    return top.get("number"), top.get("declarant"), [{name: line.get(name) for name in FIELDS} for line in top.iter("line")]


class Broker:
    def __init__(self, parsed):
        self.parsed = parsed
        self.duty = Counter()
        self.chapters = Counter()
        self.flagged = defaultdict(list)
        self.answers = []

    def due(self, line):
        """Duty in cents: by chapter, free from some origins, a least sum for heavy cheap goods."""
        value, kilos = int(line["value"]), float(line["kilos"])
        chapter = line["code"][:2]
        self.chapters[chapter] += value
        rate = 0 if line["origin"] in ("CH", "TR") and chapter != "04" else RATES[chapter]
        return max(value * rate // 100, round(kilos * 3) if rate else 0)

    def doubts(self, lines):
        """What a clerk has to look at: codes given twice, and values far from what a kilo is worth."""
        seen = Counter(line["code"] for line in lines)
        for code, times in seen.items():
            if times > 1:
                yield "%s given %d times" % (code, times)
        for line in lines:
            worth = int(line["value"]) / float(line["kilos"])
            if not 20 < worth < 60_000:
                yield "%s at %.2f a kilo" % (line["code"], worth / 100)

    def answer(self, number, lines, duties):
        rows = ["%s %s %10.2f %9.2f" % (line["code"], line["origin"], int(line["value"]) / 100, duty / 100) for line, duty in zip(lines, duties)]
        rows.append("%-11s %20.2f" % (number, sum(duties) / 100))
        self.answers.append("\n".join(rows))

    def receive(self, text):
        number, declarant, lines = self.parsed(text)
        duties = [self.due(line) for line in lines]
        self.duty[declarant] += sum(duties)
        for doubt in self.doubts(lines):
            self.flagged[declarant].append("%s: %s" % (number, doubt))
        self.answer(number, lines, duties)


def one_pass(number, parsed):
    rnd = random.Random(number)
    broker = Broker(parsed)
    for at in range(250):
        broker.receive(message(rnd, 1_000 * number + at))
    most = broker.duty.most_common(2)
    return most, sorted(broker.chapters.items()), sum(map(len, broker.flagged.values())), broker.answers[-1]


if __name__ == "__main__":
    run(one_pass, parsed, parsed_fixed)
