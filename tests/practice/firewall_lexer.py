# SPDX-License-Identifier: Apache-2.0
"""Checks the rule files of a company's firewalls before they are rolled out: words, a small grammar, and complaints with their lines."""

import random
import re
from typing import NamedTuple

from common import run

TOKEN = re.compile(r"(?P<comment>#[^\n]*)|(?P<space>\s+)|(?P<address>\d+(?:\.\d+){3}(?:/\d+)?)|(?P<number>\d+)|(?P<word>[a-z_][\w-]*)|(?P<sign>[{};,:-])|(?P<wrong>.)")
ACTIONS = ["allow", "deny", "reject", "log"]
SERVICES = ["https", "ssh", "dns", "ntp", "smtp", "imap"]


class Token(NamedTuple):
    kind: str
    text: str
    line: int


class Complaint(Exception):
    def __init__(self, token, wanted):
        super().__init__(f"line {token.line}: {token.text!r} where {wanted} was expected")


def rule_file(rnd, zones):
    for zone in range(zones):
        yield f"zone net{zone} {{"
        for _ in range(rnd.randint(6, 14)):
            if rnd.random() < 0.2:
                yield f"    # ticket {rnd.randint(1000, 9999)}, asked for by team {rnd.choice('abcdef')}"
            ends = ", ".join(f"10.{rnd.randint(0, 255)}.{rnd.randint(0, 255)}.0/{rnd.choice((16, 24, 28))}" for _ in range(rnd.randint(1, 3)))
            to = rnd.choice((rnd.choice(SERVICES), str(rnd.randint(1, 70000))))
            yield f"    {rnd.choice(ACTIONS)} {ends} : {to};"
        yield "}\n"


def tokens(text):
    for match in TOKEN.finditer(text):
        kind = match.lastgroup
        if kind in ("space", "comment"):
            continue
        yield Token(kind, match.group(), text.count("\n", 0, match.start()) + 1)


def tokens_fix(text):
    line, counted = 1, 0
    for match in TOKEN.finditer(text):
        kind = match.lastgroup
        if kind in ("space", "comment"):
            continue
        line += text.count("\n", counted, match.start())
        counted = match.start()
        yield Token(kind, match.group(), line)


class Parser:
    def __init__(self, stream):
        self.stream = stream
        self.now = next(stream, None)

    def take(self, kind, text=None):
        token = self.now
        if token is None or token.kind != kind or (text is not None and token.text != text):
            raise Complaint(token or Token("end", "", 0), text or kind)
        self.now = next(self.stream, None)
        return token

    def rule(self):
        action = self.take("word")
        ends = [self.take("address")]
        while self.now.text == ",":
            self.take("sign", ",")
            ends.append(self.take("address"))
        self.take("sign", ":")
        to = self.take("word" if self.now.kind == "word" else "number")
        self.take("sign", ";")
        return action, ends, to

    def zones(self):
        while self.now is not None:
            self.take("word", "zone")
            name = self.take("word").text
            self.take("sign", "{")
            rules = []
            while self.now.text != "}":
                rules.append(self.rule())
            self.take("sign", "}")
            yield name, rules


def warnings(zones):
    for name, rules in zones:
        met = {}
        for action, ends, to in rules:
            if to.kind == "number" and int(to.text) > 65535:
                yield to.line, f"{name}: port {to.text} is too large"
            for end in ends:
                before = met.setdefault((end.text, to.text), action)
                if before.text != action.text:
                    yield end.line, f"{name}: {end.text} has {before.text} in line {before.line}"


def one_pass(number, lex):
    rnd = random.Random(number)
    found = []
    for zones in (20, 45):
        text = "\n".join(rule_file(rnd, zones))
        found += warnings(Parser(lex(text)).zones())
    return len(found), found[:5], found[-1]


if __name__ == "__main__":
    run(one_pass, tokens, tokens_fix)
