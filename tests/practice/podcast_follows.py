# SPDX-License-Identifier: Apache-2.0
"""Recommends podcasts from who listened to what: implicit feedback, factored by alternating least squares."""

import numpy as np

from common import run

LISTENERS, SHOWS, FACTORS = 220, 900, 28
ROUNDS, ALPHA, RIDGE = 2, 12.0, 0.8


class Plays:
    """Who played which shows how often, by listener and by show."""

    def __init__(self, rng):
        self.by_listener = []
        taste = rng.dirichlet(np.full(SHOWS, 0.05), size=12)
        for _ in range(LISTENERS):
            group = taste[rng.integers(12)]
            shows = np.unique(rng.choice(SHOWS, size=rng.integers(8, 40), p=group))
            self.by_listener.append((shows, rng.poisson(3.0, len(shows)) + 1.0))
        self.by_show = []

    def turned(self):
        who = np.concatenate([np.full(len(shows), at) for at, (shows, _) in enumerate(self.by_listener)])
        what = np.concatenate([shows for shows, _ in self.by_listener])
        times = np.concatenate([times for _, times in self.by_listener])
        order = np.argsort(what, kind="stable")
        ends = np.searchsorted(what[order], np.arange(SHOWS + 1))
        return [(who[order[a:b]], times[order[a:b]]) for a, b in zip(ends[:-1], ends[1:])]


def row_of(gram, others, seen, times):
    """One row of factors: all others weigh one, those seen more."""
    part = others[seen]
    left = gram + (part.T * (ALPHA * times)) @ part
    left[np.diag_indices(FACTORS)] += RIDGE
    return np.linalg.solve(left, part.T @ (1 + ALPHA * times))


def solve_side(rows, others):
    solved = np.zeros((len(rows), FACTORS))
    for at, (seen, times) in enumerate(rows):
        if len(seen):
            solved[at] = row_of(others.T @ others, others, seen, times)
    return solved


def solve_side_fix(rows, others):
    solved = np.zeros((len(rows), FACTORS))
    gram = others.T @ others
    for at, (seen, times) in enumerate(rows):
        if len(seen):
            solved[at] = row_of(gram, others, seen, times)
    return solved


def hold_out(plays, rng):
    """Takes the last show of every fifth listener away, to ask for it later."""
    hidden = {}
    for at in range(0, LISTENERS, 5):
        shows, times = plays.by_listener[at]
        if len(shows) > 4:
            gone = int(rng.integers(len(shows)))
            hidden[at] = int(shows[gone])
            plays.by_listener[at] = np.delete(shows, gone), np.delete(times, gone)
    plays.by_show = plays.turned()
    return hidden


def ranks(hidden, plays, listeners, shows):
    places = []
    for at, show in hidden.items():
        scores = shows @ listeners[at]
        scores[plays.by_listener[at][0]] = -np.inf
        places.append(int((scores > scores[show]).sum()) / SHOWS)
    return float(np.mean(places)), float(np.mean(np.array(places) < 0.05))


def one_pass(number, solve):
    rng = np.random.default_rng(number)
    plays = Plays(rng)
    hidden = hold_out(plays, rng)
    shows = rng.normal(0, 0.1, (SHOWS, FACTORS))
    for _ in range(ROUNDS):
        listeners = solve(plays.by_listener, shows)
        shows = solve(plays.by_show, listeners)
    place, hits = ranks(hidden, plays, listeners, shows)
    return place, hits, float(np.abs(listeners).sum())


if __name__ == "__main__":
    run(one_pass, solve_side, solve_side_fix)
