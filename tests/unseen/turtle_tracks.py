# SPDX-License-Identifier: Apache-2.0
"""Tracks of sea turtles from satellite fixes that come at odd times and in several qualities, by a filter."""

import numpy as np

from runner import run

TURTLES = 5
FIXES = 160
ERROR = np.array([0.25, 0.5, 1.5, 4.0, 9.0])
OFTEN = np.array([0.15, 0.2, 0.25, 0.2, 0.2])


def fixes(rng):
    """Hours since the last, kilometres east and north, and the usual error, for each fix of one turtle."""
    gaps = rng.gamma(1.5, 2.5, FIXES) + 0.2
    speed = 1.2 * np.sin(np.cumsum(rng.normal(0, 0.25, (FIXES, 2)), axis=0))
    places = np.cumsum(speed * gaps[:, None], axis=0)
    spread = ERROR[rng.choice(len(ERROR), FIXES, p=OFTEN)]
    wrong = rng.standard_t(3, (FIXES, 2)) * spread[:, None]
    return gaps.tolist(), places + wrong, spread.tolist()


class Track:
    """Place and speed in both directions, as believed after the last fix."""

    def __init__(self, place, pull):
        self.state = np.array([place[0], place[1], 0.0, 0.0])
        self.doubt = np.diag([9.0, 9.0, 1.0, 1.0])
        self.pull = pull
        self.step = np.eye(4)

    def move(self, hours):
        step = self.step
        step[0, 2] = step[1, 3] = hours
        self.state = step @ self.state
        self.doubt = step @ self.doubt @ step.T
        self.doubt.flat[::5] += self.pull * np.array([hours**3 / 3] * 2 + [hours] * 2)

    def see(self, place, spread):
        """Takes a fix in, unless it is too far from what is believed."""
        total = self.doubt[:2, :2].copy()
        total.flat[::3] += spread**2
        inverse = np.linalg.inv(total)
        gap = place - self.state[:2]
        if gap @ inverse @ gap > 14:
            return False
        gain = self.doubt[:, :2] @ inverse
        self.state = self.state + gain @ gap
        self.doubt = self.doubt - gain @ self.doubt[:2]
        return True


def follow(rng):
    gaps, places, spreads = fixes(rng)
    track = Track(places[0], rng.uniform(0.02, 0.08))
    swum, odd = 0.0, 0
    before = track.state[:2]
    for hours, place, spread in zip(gaps[1:], places[1:], spreads[1:]):
        track.move(hours)
        if not track.see(place, spread):
            odd += 1
            continue
        swum += float(np.hypot(*(track.state[:2] - before)))
        before = track.state[:2]
    return swum, odd, float(np.trace(track.doubt))


def one_pass(number, step):
    rng = np.random.default_rng(number)
    return [follow(rng) for _ in range(TURTLES)]


if __name__ == "__main__":
    run(one_pass)
