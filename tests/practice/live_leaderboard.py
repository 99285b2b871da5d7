# SPDX-License-Identifier: Apache-2.0
"""A quiz night: every answer moves the ranking that all phones show."""

import bisect
import json
import random
import zlib

from common import run


def make_answers(seed, players, count):
    rng = random.Random(seed)
    for _ in range(count):
        yield json.dumps(
            {
                "player": "p%04d" % int(rng.triangular(0, players, players / 3)),
                "right": rng.random() < 0.55,
                "millis": rng.randrange(400, 9000),
                "guess": "%030x" % rng.getrandbits(120),
            }
        )


def points(answer):
    return 100 + (9000 - answer["millis"]) // 20 if answer["right"] else -25


class Board:
    def __init__(self):
        self.scores = {}

    def add(self, player, gained):
        self.scores[player] = self.scores.get(player, 0) + gained
        self.ranking = sorted((-score, name) for name, score in self.scores.items())
        return bisect.bisect_left(self.ranking, (-self.scores[player], player))


class BoardFixed(Board):
    ranking = None

    def add(self, player, gained):
        if self.ranking is None:
            self.ranking = []
        before = self.scores.get(player)
        if before is not None:
            del self.ranking[bisect.bisect_left(self.ranking, (-before, player))]
        self.scores[player] = (before or 0) + gained
        now = (-self.scores[player], player)
        rank = bisect.bisect_left(self.ranking, now)
        self.ranking.insert(rank, now)
        return rank


def broadcast(board, player, rank):
    around = board.ranking[max(0, rank - 8) : rank + 9]
    message = {
        "you": player,
        "rank": rank + 1,
        "top": [{"name": name, "score": -score} for score, name in board.ranking[:10]],
        "around": [{"name": name, "score": -score} for score, name in around],
    }
    return zlib.compress(json.dumps(message).encode(), 1)


def one_pass(number, make_board):
    board = make_board()
    sent = 0
    check = 0
    for line in make_answers(number, 1200, 1000):
        answer = json.loads(line)
        rank = board.add(answer["player"], points(answer))
        packet = broadcast(board, answer["player"], rank)
        sent += len(packet)
        check = zlib.crc32(packet, check)
    return sent, check


if __name__ == "__main__":
    run(one_pass, Board, BoardFixed)
