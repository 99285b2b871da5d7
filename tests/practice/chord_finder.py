# SPDX-License-Identifier: Apache-2.0
"""Names the chords of a strummed recording: strength of each semitone by Goertzel-like probes, then templates."""

import functools

import numpy as np

from common import run

RATE, FRAME = 11_025, 1_024
NAMES = "C C# D D# E F F# G G# A A# B".split()
SHAPES = {"": (0, 4, 7), "m": (0, 3, 7), "7": (0, 4, 7, 10)}


def hertz(pitch):
    return 440.0 * 2 ** ((pitch - 69) / 12)


def probe(pitch, length):
    wave = np.exp(-2j * np.pi * hertz(pitch) / RATE * np.arange(length))
    return wave * np.hanning(length)


def templates():
    for shape, steps in SHAPES.items():
        for root, name in enumerate(NAMES):
            wanted = np.zeros(12)
            wanted[[(root + step) % 12 for step in steps]] = 1 / np.sqrt(len(steps))
            yield name + shape, wanted


CHORDS, TABLE = zip(*templates())
TABLE = np.stack(TABLE)


def strummed(rng, chords):
    """Decaying tones with overtones; each string starts a little later and is a little out of tune."""
    pieces, time = [], np.arange(RATE // 2) / RATE
    for chord in chords:
        root, steps = rng.choice(12), SHAPES[chord]
        pace, fade = rng.uniform(0.006, 0.016), rng.uniform(2, 4)
        sound = rng.normal(0, 0.02, len(time))
        for string, step in enumerate(steps):
            tone = hertz(48 + root + step) * (1 + rng.normal(0, 0.001))
            late = np.clip(time - pace * string, 0, None)
            for over in (1, 2, 3):
                sound += np.sin(2 * np.pi * tone * over * late) * np.exp(-fade * over * late) / over**1.5
        pieces.append(sound)
    return np.concatenate(pieces)


def chroma(frame, tone):
    strength = np.zeros(12)
    for pitch in range(45, 75):
        strength[pitch % 12] += abs(tone(pitch, len(frame)) @ frame)
    return strength / (np.linalg.norm(strength) + 1e-9)


def voiced(sound):
    """Frames, half overlapping, without the quiet ones, evened by their own envelope."""
    for start in range(0, len(sound) - FRAME, FRAME // 2):
        frame = sound[start : start + FRAME]
        level = np.sqrt((frame**2).mean())
        if level > 0.03:
            yield frame / level


def name(strength):
    return CHORDS[int((TABLE @ strength).argmax())]


def one_pass(number, tone):
    rng = np.random.default_rng(number)
    sound = strummed(rng, rng.choice(list(SHAPES), 5))
    sheet = []
    for frame in voiced(sound):
        found = name(chroma(frame, tone))
        if not sheet or sheet[-1][0] != found:
            sheet.append([found, 0])
        sheet[-1][1] += 1
    return sheet


if __name__ == "__main__":
    run(one_pass, probe, functools.lru_cache(maxsize=None)(probe))
