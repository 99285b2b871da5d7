# SPDX-License-Identifier: Apache-2.0
"""Trams report to their depot as lines of JSON; the depot answers, and keeps who stands on which track."""

import json
import random

from common import run

TRAMS = 30
TRACKS = 9
REPORTS = 900


class Tram:
    def __init__(self, number, rnd):
        self.number = number
        self.rnd = rnd
        self.km = rnd.randrange(20000, 900000)
        self.sand = rnd.randrange(40, 100)
        self.faults = []

    def report(self, minute):
        self.km += self.rnd.randrange(2, 14)
        self.sand = max(0, self.sand - self.rnd.randrange(4))
        if self.rnd.random() < 0.06:
            self.faults.append({"code": self.rnd.randrange(100, 400), "at": minute})
        message = {
            "tram": self.number,
            "minute": minute,
            "km": self.km,
            "sand": self.sand,
            "doors": [self.rnd.randrange(900) for _ in range(4)],
            "faults": self.faults[-3:],
        }
        return json.dumps(message)


class Depot:
    def __init__(self):
        self.tracks = [[] for _ in range(TRACKS)]
        self.where = {}
        self.sent = 0
        self.refused = 0

    def choose(self, message):
        if message["sand"] < 20:
            return 0
        if message["faults"]:
            return 1 + message["faults"][-1]["code"] % 2
        return 3 + message["km"] // 50 % (TRACKS - 3)

    def answer(self, line):
        message = json.loads(line)
        tram, track = message["tram"], self.choose(message)
        if tram in self.where:
            self.tracks[self.where[tram]].remove(tram)
        full = len(self.tracks[track]) >= 6
        if full:
            self.refused += 1
            track = min(range(TRACKS), key=lambda one: (len(self.tracks[one]), one))
        self.tracks[track].append(tram)
        self.where[tram] = track
        reply = {"tram": tram, "track": track, "behind": self.tracks[track][:-1], "sanded": track == 0, "full": full}
        text = json.dumps(reply)
        self.sent += len(text)
        return text


def one_pass(number, step):
    rnd = random.Random(number)
    trams = [Tram(200 + n, rnd) for n in range(TRAMS)]
    depot = Depot()
    moves = 0
    for minute in range(REPORTS):
        tram = rnd.choice(trams)
        reply = json.loads(depot.answer(tram.report(minute)))
        moves += len(reply["behind"])
        if reply["sanded"]:
            tram.sand = 100
    return moves, depot.refused, depot.sent, depot.tracks[1]


if __name__ == "__main__":
    run(one_pass)
