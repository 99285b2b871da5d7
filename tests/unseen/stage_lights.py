# SPDX-License-Identifier: Apache-2.0
"""A theatre's light board plays a scene's cues: levels, the lamps' warmth, the load and what is sent."""

import numpy as np

from runner import run

RATE = 40  # frames in a second


class Board:
    def __init__(self, seconds, channels):
        self.levels = np.zeros((seconds * RATE, channels))

    def fade(self, channel, start, stop, goal):
        """From the level it has at the start to the goal, which then holds."""
        was = self.levels[start, channel]
        for frame in range(start, stop):
            self.levels[frame, channel] = was + (goal - was) * (frame - start) / (stop - start)
        self.levels[stop:, channel] = goal

    def chase(self, channels, start, stop, beat, depth):
        """A wave that runs over some channels; the higher of it and the cue takes precedence."""
        phase = np.arange(stop - start)[:, None] / RATE * beat - np.linspace(0, 1, len(channels))
        wave = depth * (0.5 + 0.5 * np.sin(2 * np.pi * phase))
        self.levels[start:stop, channels] = np.maximum(self.levels[start:stop, channels], wave)

    def bytes(self, curve):
        drawn = np.interp(self.levels, np.linspace(0, 1, len(curve)), curve)
        return np.rint(255 * drawn).astype(np.uint8)


class QuickBoard(Board):
    def fade(self, channel, start, stop, goal):
        was = self.levels[start, channel]
        self.levels[start:stop, channel] = was + (goal - was) * np.arange(stop - start) / (stop - start)
        self.levels[stop:, channel] = goal


def cues(rng, seconds, channels):
    """Looks of the scene in the order of their start, each for a handful of lamps."""
    for at in np.sort(rng.uniform(0, seconds - 8, 2 * seconds)):
        lasts = rng.uniform(0.4, 6.0)
        goal = rng.choice([0.0, 0.25, 0.6, 0.85, 1.0])
        for channel in rng.choice(channels, 4, replace=False):
            late = rng.uniform(0, 0.5)
            yield int(channel), int((at + late) * RATE), int((at + late + lasts) * RATE), float(goal)


def warmth(sent, watts):
    """The filaments' heat: big lamps follow slowly, and a hot one loses more than a warm one."""
    supply = (sent / 255.0) ** 1.8
    follow = 1.5 / (RATE * np.sqrt(watts / 500.0))
    heat = np.zeros_like(supply)
    now = heat[0]
    for frame in range(1, len(supply)):
        now = now + follow * (supply[frame] - now * np.sqrt(now))
        heat[frame] = now
    return heat


def load(sent, watts, phases):
    """The greatest amperes of each of three phases, over half a second."""
    amps = sent / 255.0 * watts / 230.0
    tops = []
    for phase in range(3):
        total = np.cumsum(amps[:, phases == phase].sum(axis=1))
        tops.append(float((total[20:] - total[:-20]).max() / 20))
    return tops


def one_pass(number, kind):
    rng = np.random.default_rng(500 + number)
    seconds, channels = 60, int(rng.integers(60, 72))
    board = kind(seconds, channels)
    for cue in cues(rng, seconds, channels):
        board.fade(*cue)
    for start in rng.integers(0, (seconds - 10) * RATE, 3):
        some = rng.choice(channels, 12, replace=False)
        board.chase(some, start, start + 8 * RATE, rng.uniform(0.3, 2), rng.uniform(0.3, 0.8))
    sent = board.bytes(np.linspace(0, 1, 33) ** rng.uniform(1.2, 2.4))
    watts = rng.choice([500.0, 650.0, 1000.0, 2000.0], channels)
    heat = warmth(sent, watts)
    changed = np.count_nonzero(sent[1:] != sent[:-1], axis=1)
    glow = heat @ watts
    return (
        load(sent, watts, rng.integers(0, 3, channels)),
        int(changed.max()),
        int((changed == 0).sum()),
        np.quantile(glow, [0.1, 0.5, 0.9]).tolist(),
    )


if __name__ == "__main__":
    run(one_pass, Board, QuickBoard)
