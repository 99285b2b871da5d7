# SPDX-License-Identifier: Apache-2.0
"""A harbour master's log whose every entry carries a seal, so that no earlier line can be changed unseen."""

import hashlib
import random

from runner import run

BERTHS = ("coal quay", "fish quay", "inner basin", "oil jetty", "pontoon")
DOINGS = ("made fast at", "cast off from", "shifted to", "took water at", "is fumigated at")
ENTRIES = 500


def entries_of(seed):
    rnd = random.Random(seed)
    minute = rnd.randrange(60)
    for _ in range(ENTRIES):
        minute += rnd.randrange(1, 9)
        ship = "MV %06d" % rnd.randrange(10**6)
        yield minute, "%s %s %s, draught %.2f m, pilot no. %d" % (
            ship,
            rnd.choice(DOINGS),
            rnd.choice(BERTHS),
            rnd.uniform(2, 11),
            rnd.randrange(40),
        )


class Log:
    def __init__(self, harbour):
        self.lines = [b"log of " + harbour.encode()]
        self.seals = []

    def enter(self, minute, text):
        line = "%03d:%02d %s" % (minute // 60, minute % 60, text)
        self.lines.append(line.encode())
        self.seals.append(self.seal())
        return self.seals[-1]

    def seal(self):
        return hashlib.sha256(b"\n".join(self.lines)).hexdigest()

    def verify(self):
        """Goes through the book once, and compares the seals under some of its pages."""
        running = hashlib.sha256(self.lines[0])
        for number, line in enumerate(self.lines[1:]):
            running.update(b"\n" + line)
            if number % 50 == 49 and running.hexdigest() != self.seals[number]:
                return number
        return None


class LogFixed(Log):
    def __init__(self, harbour):
        super().__init__(harbour)
        self.running = hashlib.sha256(self.lines[0])

    def seal(self):
        self.running.update(b"\n" + self.lines[-1])
        return self.running.hexdigest()


def slip(seal, minute, text):
    """What the ship's agent gets: entry and short seal."""
    groups = " ".join(seal[k : k + 4].upper() for k in range(0, 24, 4))
    return "%-80s %s %05d" % (text[:80], groups, minute)


def one_pass(number, step):
    log = step("Port %d" % number)
    slips = [slip(log.enter(minute, text), minute, text) for minute, text in entries_of(number)]
    broken = log.verify()
    lengths = sorted(len(line) for line in log.lines)
    return broken, len(slips), slips[7][81:], log.seals[-1][:16], lengths[len(lengths) // 2]


if __name__ == "__main__":
    run(one_pass, Log, LogFixed)
