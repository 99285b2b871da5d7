# SPDX-License-Identifier: Apache-2.0
"""Reads a theatre's scripts, where speech, stage directions and songs each have their own marks."""

import random
import re
from collections import Counter

from common import run

SPEECH = re.compile(r"(?P<who>[A-Z]{3,}:)|(?P<direction>\()|(?P<song>~)|(?P<word>[a-z']+)|(?P<pause>[,.;!?]+)|(?P<space>\s+)")
DIRECTION = re.compile(r"(?P<close>\))|(?P<open>\()|(?P<exit>exit|exeunt)|(?P<word>[a-z']+)|(?P<who>[A-Z]{3,})|(?P<space>\s+)")
SONG = re.compile(r"(?P<end>~)|(?P<bar>/)|(?P<word>[a-z']+)|(?P<space>\s+)")
NAMES = ["KING", "FOOL", "NURSE", "GHOST", "MILLER"]


def script(seed):
    rnd = random.Random(seed)
    words = ["".join(rnd.choices("aeioulnrst'", k=rnd.randint(2, 8))) for _ in range(400)]

    def say(count):
        return " ".join(rnd.choices(words, k=count))

    lines = []
    for _ in range(420):
        line = f"{rnd.choice(NAMES)}: {say(rnd.randint(3, 10))}{rnd.choice(',.;!?')}"
        if rnd.random() < 0.4:
            line += f" ({say(2)} {rnd.choice(NAMES)} ({say(1)}) {rnd.choice(('exit', 'stays'))}) {say(3)}."
        if rnd.random() < 0.2:
            line += f" ~{say(4)} / {say(4)}~"
        lines.append(line)
    return "\n".join(lines)


class Reader:
    def __init__(self, text):
        self.text = text
        self.speeches, self.sung, self.exits = Counter(), Counter(), 0

    def read(self):
        mode, deep, at, who = SPEECH, 0, 0, None
        while at < len(self.text):
            token = mode.match(self.text, at)
            kind = token.lastgroup
            if mode is SPEECH:
                if kind == "who":
                    who = token.group()[:-1]
                elif kind == "direction":
                    mode, deep = DIRECTION, 1
                elif kind == "song":
                    mode = SONG
                elif kind == "word":
                    self.speeches[who] += 1
            elif mode is DIRECTION:
                deep += (kind == "open") - (kind == "close")
                self.exits += kind == "exit"
                if not deep:
                    mode = SPEECH
            elif kind == "end":
                mode = SPEECH
            elif kind == "word":
                self.sung[who] += 1
            at = token.end()


def one_pass(number, step):
    reader = Reader(script(number))
    reader.read()
    return sorted(reader.speeches.items()), sorted(reader.sung.items()), reader.exits


if __name__ == "__main__":
    run(one_pass)
