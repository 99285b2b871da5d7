# SPDX-License-Identifier: Apache-2.0
"""A conference phone: the loudspeaker's echo is learned sample by sample and taken off the microphone, recursive least squares."""

import numpy as np

from common import run

TAPS, SAMPLES, BLOCK = 24, 1200, 200
FORGET = 0.998


def speech(rng, count):
    """Something like speech: coloured noise that comes and goes."""
    noise = rng.normal(size=count + 8)
    sound = np.convolve(noise, [0.3, 0.5, 0.9, 0.5, 0.3, -0.2, -0.3, -0.1, 0.05], mode="valid")
    loud = np.repeat(rng.choice([0.1, 0.6, 1.0], count // 100 + 1), 100)[:count]
    return sound[:count] * loud


class Room:
    def __init__(self, rng):
        self.path = rng.normal(size=TAPS) * np.exp(-np.arange(TAPS) / 6.0)

    def echo(self, far, rng):
        return np.convolve(far, self.path)[: len(far)] + rng.normal(0, 0.01, len(far))


class Canceller:
    """Keeps its inverse correlation and its weights in place; every sample changes both."""

    def __init__(self):
        self.inverse = np.eye(TAPS) * 100.0
        self.weights = np.zeros(TAPS)
        self.history = np.zeros(TAPS)
        self.turned = np.empty(TAPS)
        self.gain = np.empty(TAPS)
        self.outer = np.empty((TAPS, TAPS))

    def sample(self, far, heard):
        self.history[1:] = self.history[:-1]
        self.history[0] = far
        np.dot(self.inverse, self.history, out=self.turned)
        np.divide(self.turned, FORGET + self.history.dot(self.turned), out=self.gain)
        left = heard - self.weights.dot(self.history)
        self.weights += self.gain * left
        np.multiply.outer(self.gain, self.turned, out=self.outer)
        self.inverse -= self.outer
        self.inverse /= FORGET
        return left

    def run(self, far, heard):
        return np.array([self.sample(f, h) for f, h in zip(far.tolist(), heard.tolist())])


def talk_detector(far, near):
    """Blocks in which somebody in the room speaks too."""
    energy = np.sum(near.reshape(-1, BLOCK) ** 2, axis=1)
    other = np.sum(far.reshape(-1, BLOCK) ** 2, axis=1)
    return energy > 0.5 * other


def loss(heard, left):
    before = np.sum(heard.reshape(-1, BLOCK) ** 2, axis=1)
    after = np.sum(left.reshape(-1, BLOCK) ** 2, axis=1)
    return 10 * np.log10((before + 1e-12) / (after + 1e-12))


def one_pass(number, step):
    rng = np.random.default_rng(number)
    room, canceller = Room(rng), Canceller()
    far = speech(rng, SAMPLES)
    near = np.where(np.arange(SAMPLES) % 500 > 430, speech(rng, SAMPLES), 0.0)
    heard = room.echo(far, rng) + near
    left = canceller.run(far, heard)
    decibels = loss(heard, left)
    return float(decibels.max()), float(np.abs(canceller.weights - room.path).max()), talk_detector(far, near).tolist()


if __name__ == "__main__":
    run(one_pass)
