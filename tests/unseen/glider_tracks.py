# SPDX-License-Identifier: Apache-2.0
"""Ground station of an airfield: noisy fixes of gliders are filtered by one Kalman filter each, and lift is mapped by squares."""

import numpy as np

from runner import run

THREE = np.eye(3)
NOISE = 1.5 * np.array([[[1 / 3, 0], [0, 0]], [[0, 1 / 2], [1 / 2, 0]], [[0, 0], [0, 1]]])
CUBE, FLAT, PLAIN = (np.kron(part, THREE) for part in NOISE)


class Track:
    """Place and speed in three dimensions; the step between fixes and the quality of each differ."""

    def __init__(self, name, fix):
        self.name = name
        self.state = np.concatenate((fix, np.zeros(3)))
        self.spread = np.diag([50.0, 50.0, 80.0, 100.0, 100.0, 25.0])
        self.rejected = 0

    def predict(self, seconds):
        move = np.eye(6)
        move[:3, 3:] = seconds * THREE
        noise = CUBE * seconds**3 + FLAT * seconds**2 + PLAIN * seconds
        self.state = move @ self.state
        self.spread = move @ self.spread @ move.T + noise

    def update(self, fix, sigma):
        innovation = fix - self.state[:3]
        between = self.spread[:3, :3] + np.diag(sigma**2)
        inverse = np.linalg.inv(between)
        if innovation @ inverse @ innovation > 30:
            self.rejected += 1
            return False
        gain = self.spread[:, :3] @ inverse
        self.state = self.state + gain @ innovation
        self.spread = self.spread - gain @ between @ gain.T
        return True

    @property
    def climb(self):
        return float(self.state[5])

    @property
    def square(self):
        return int(self.state[0] // 500), int(self.state[1] // 500)


class Station:
    def __init__(self):
        self.tracks = {}
        self.lift = {}

    def receive(self, name, seconds, fix, sigma):
        track = self.tracks.get(name)
        if track is None:
            self.tracks[name] = Track(name, fix)
            return
        track.predict(seconds)
        if track.update(fix, sigma):
            count, total = self.lift.get(track.square, (0, 0.0))
            self.lift[track.square] = count + 1, total + track.climb

    def best(self, least=5):
        means = [(total / count, square) for square, (count, total) in self.lift.items() if count >= least]
        return sorted(means, reverse=True)[:5]


def flights(rng, gliders, fixes):
    place = rng.uniform(0, 6_000, (gliders, 3)) * (1, 1, 0.2)
    speed = rng.normal(0, 18, (gliders, 3)) * (1, 1, 0.1)
    for at in range(fixes):
        for number in range(gliders):
            seconds = 1.0 + rng.exponential(1.5)
            speed[number] += rng.normal(0, 1.2, 3) * seconds**0.5
            place[number] += speed[number] * seconds
            sigma = rng.uniform(3.0, 15.0, 3)
            slip = 400.0 if rng.random() < 0.01 else 0.0
            yield "G%02d" % number, seconds, place[number] + rng.normal(0, 1, 3) * sigma + slip, sigma


def one_pass(number, step):
    rng = np.random.default_rng(number)
    station = Station()
    for fix in flights(rng, 9, 60):
        station.receive(*fix)
    best = station.best()
    return [value for value, _ in best], [square for _, square in best], sum(track.rejected for track in station.tracks.values())


if __name__ == "__main__":
    run(one_pass)
