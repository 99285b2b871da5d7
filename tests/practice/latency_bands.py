# SPDX-License-Identifier: Apache-2.0
"""Service levels from a proxy's binary log: answers by band of latency, endpoint and status, error budgets, slowest endpoints."""

import json
import random

import numpy as np
from common import run

ENTRY = np.dtype([("at", "<u4"), ("endpoint", "<u2"), ("status", "<u2"), ("micros", "<u4"), ("bytes", "<u4")])
EDGES = np.array([5.0, 10.0, 25.0, 50.0, 100.0, 250.0, 500.0, 1_000.0, 2_500.0])
ENDPOINTS = 40
GOAL = 250.0


class Levels:
    def __init__(self):
        self.bands = np.zeros((ENDPOINTS, len(EDGES) + 1), np.int64)
        self.failures = np.zeros(ENDPOINTS, np.int64)
        self.sent = np.zeros(ENDPOINTS)
        self.burnt = 0.0
        self.slowest = []

    def band(self, millis):
        for at, edge in enumerate(EDGES):
            if millis < edge:
                return at
        return len(EDGES)

    def banded(self, millis):
        return np.vectorize(self.band, otypes=[np.intp])(millis)

    def take(self, blob):
        log = np.frombuffer(blob, ENTRY)
        millis = log["micros"] / 1_000.0
        endpoint = log["endpoint"].astype(np.intp)
        cells = endpoint * self.bands.shape[1] + self.banded(millis)
        self.bands += np.bincount(cells, minlength=self.bands.size).reshape(self.bands.shape)
        failed = log["status"] >= 500
        self.failures += np.bincount(endpoint[failed], minlength=ENDPOINTS)
        self.sent += np.bincount(endpoint, weights=log["bytes"], minlength=ENDPOINTS)
        self.burn(log["at"], failed | (millis > GOAL))
        self.rank(endpoint, millis)

    def burn(self, at, bad):
        """The error budget burns by the worst five seconds in sequence of each block."""
        second = (at - at[0]).astype(np.intp)
        share = np.bincount(second, weights=bad) / np.maximum(np.bincount(second), 1)
        self.burnt += np.convolve(share, np.full(5, 0.2), "valid").max()

    def rank(self, endpoint, millis):
        order = np.lexsort((millis, endpoint))
        ends = np.cumsum(np.bincount(endpoint, minlength=ENDPOINTS))
        counts = np.diff(ends, prepend=0)
        sorted_millis = millis[order]
        late = sorted_millis[np.maximum(ends - 1 - counts // 20, 0)]
        late[counts == 0] = 0.0
        self.slowest.append(int(late.argmax()))

    def report(self):
        good = self.bands[:, : np.searchsorted(EDGES, GOAL, side="right")].sum(axis=1)
        total = self.bands.sum(axis=1)
        return [
            json.dumps({"endpoint": int(at), "within": int(good[at]), "of": int(total[at]), "failed": int(self.failures[at])})
            for at in np.argsort(-total, kind="stable")[:10]
        ]


class WholeLevels(Levels):
    def banded(self, millis):
        return np.searchsorted(EDGES, millis, side="right")


def block(rng, start, many):
    log = np.empty(many, ENTRY)
    log["at"] = start + np.sort(rng.integers(0, 60, many))
    log["endpoint"] = np.minimum(rng.geometric(0.12, many) - 1, ENDPOINTS - 1)
    log["status"] = rng.choice([200, 204, 302, 404, 500, 503], many, p=[0.8, 0.1, 0.03, 0.04, 0.02, 0.01])
    log["micros"] = np.minimum(rng.lognormal(10.5, 1.1, many), 2e9).astype("<u4")
    log["bytes"] = rng.integers(80, 60_000, many)
    return log.tobytes()


def one_pass(number, kind):
    rng = np.random.default_rng(number)
    levels = kind()
    for minute in range(random.Random(number).randint(9, 11)):
        levels.take(block(rng, 1_700_000_000 + 60 * minute, 3_000))
    return levels.report(), levels.bands.sum(axis=0).tolist(), levels.burnt, levels.slowest, float(levels.sent.sum())


if __name__ == "__main__":
    run(one_pass, Levels, WholeLevels)
