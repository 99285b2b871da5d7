# SPDX-License-Identifier: Apache-2.0
"""Video cross-fader: raw frames read into the same buffers again and again."""

import io

import numpy as np

from common import run

HEIGHT, WIDTH = 120, 160
FRAMES = 120
KEEP, HALF = np.float32(0.8), np.float32(0.5)


def make_stream(seed):
    rng = np.random.default_rng(seed)
    return io.BytesIO(rng.integers(0, 256, FRAMES * HEIGHT * WIDTH, dtype=np.uint8).tobytes())


class Mixer:
    def __init__(self):
        self.left = np.empty((HEIGHT, WIDTH), np.uint8)
        self.right = np.empty((HEIGHT, WIDTH), np.uint8)
        self.sum = np.empty((HEIGHT, WIDTH), np.float32)
        self.part = np.empty((HEIGHT, WIDTH), np.float32)
        self.trail = np.zeros((HEIGHT, WIDTH), np.float32)
        self.bytes = np.empty((HEIGHT, WIDTH), np.uint8)

    def read(self, left, right):
        left.readinto(self.left)
        right.readinto(self.right)

    def fade(self, share):
        np.multiply(self.left, np.float32(1 - share), out=self.sum)
        np.multiply(self.right, np.float32(share), out=self.part)
        self.sum += self.part

    def ghost(self, keep=KEEP):
        self.trail *= keep
        np.maximum(self.trail, self.sum, out=self.trail)
        np.add(self.sum, self.trail, out=self.part)
        self.part *= HALF

    def write(self, sink):
        np.clip(self.part, 0, 255, out=self.part)
        np.copyto(self.bytes, self.part, casting="unsafe")
        sink.write(self.bytes)


def levels(sink):
    frames = np.frombuffer(sink.getbuffer(), np.uint8).reshape(FRAMES, HEIGHT, WIDTH)
    return frames.mean(axis=(1, 2))


def one_pass(number, _):
    total = 0.0
    for clip in range(4):
        left, right = make_stream(number * 8 + 2 * clip), make_stream(number * 8 + 2 * clip + 1)
        sink = io.BytesIO()
        mixer = Mixer()
        for n in range(FRAMES):
            mixer.read(left, right)
            mixer.fade(n / (FRAMES - 1))
            mixer.ghost()
            mixer.write(sink)
        total += float(levels(sink).sum())
    return total


if __name__ == "__main__":
    run(one_pass)
