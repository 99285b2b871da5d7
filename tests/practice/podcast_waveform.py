# SPDX-License-Identifier: Apache-2.0
"""Draws the waveform strips of a podcast's episodes and finds the silences to cut."""

import array
import random
import zlib

from common import run

RATE = 800
BUCKET = 40


def episode(seed):
    rnd = random.Random(seed)
    sound = array.array("h")
    for _ in range(60):
        if rnd.random() < 0.25:  # a silence: nothing but hiss
            sound.fromlist(array.array("b", rnd.randbytes(RATE)).tolist())
        else:
            sound.frombytes(rnd.randbytes(2 * RATE))
    return sound


def strip(sound):
    peaks = []
    for start in range(0, len(sound), BUCKET):
        top = low = sound[start]
        for at in range(start, start + BUCKET):
            if sound[at] > top:
                top = sound[at]
            if sound[at] < low:
                low = sound[at]
        peaks.append((low, top))
    return peaks


def strip_fixed(sound):
    peaks = []
    for start in range(0, len(sound), BUCKET):
        piece = sound[start : start + BUCKET]
        peaks.append((min(piece), max(piece)))
    return peaks


def silences(peaks, limit):
    found, since = [], None
    for at, (low, top) in enumerate(peaks):
        if top - low < limit:
            since = at if since is None else since
        elif since is not None:
            if at - since > 2:
                found.append((since, at))
            since = None
    return found


def picture(peaks):
    rows = []
    for low, top in peaks:
        left, right = 16 + low // 2048, 16 + top // 2048
        rows.append(b" " * left + b"#" * (right - left + 1) + b" " * (32 - right))
    return zlib.compress(b"\n".join(rows), 6)


def one_pass(number, step):
    sound = episode(number)
    peaks = step(sound)
    quiet = silences(peaks, 4000)
    span = sum(top - low for low, top in peaks) / len(peaks)
    return len(picture(peaks)), len(quiet), quiet[:2], span, peaks[77]


if __name__ == "__main__":
    run(one_pass, strip, strip_fixed)
