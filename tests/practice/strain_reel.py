# SPDX-License-Identifier: Apache-2.0
"""Reads back the reel of a footbridge's strain recorder: swings, crossings of the mean and the worst block."""

import random
import struct

from common import run

HEADER = struct.Struct("<4sIHh")
CHANNELS = ("north deck", "south deck", "pylon", "west stay")
BLOCKS = 24
FULL = 900


class Block:
    def __init__(self, channel, second, zero, samples):
        self.channel = channel
        self.second = second
        self.zero = zero
        self.samples = samples

    def swing(self):
        return max(self.samples) - min(self.samples)

    def crossings(self):
        """How often the strain passes its own mean upwards."""
        mean = sum(self.samples) / len(self.samples)
        below = [sample < mean for sample in self.samples]
        return sum(was and not now for was, now in zip(below, below[1:]))


def record(seed):
    rnd = random.Random(seed)
    reel = []
    for number in range(BLOCKS):
        count = FULL - rnd.randrange(60)
        tag = b"ST%02d" % (number % len(CHANNELS))
        reel.append(HEADER.pack(tag, 1000 * seed + 8 * number, count, rnd.randrange(-50, 50)))
        reel.append(rnd.getrandbits(16 * count).to_bytes(2 * count, "little"))
    return b"".join(reel)


def read_samples(reel, at, count):
    return [struct.unpack_from("<h", reel, at + 2 * n)[0] for n in range(count)]


def read_samples_fixed(reel, at, count):
    return list(struct.unpack_from("<%dh" % count, reel, at))


def blocks(reel, read):
    at = 0
    while at < len(reel):
        tag, second, count, zero = HEADER.unpack_from(reel, at)
        at += HEADER.size
        yield Block(CHANNELS[int(tag[2:])], second, zero, read(reel, at, count))
        at += 2 * count


def summary(reel, read):
    swings = {channel: [] for channel in CHANNELS}
    crossings = dict.fromkeys(CHANNELS, 0)
    worst = (0, None)
    for block in blocks(reel, read):
        swing = block.swing()
        swings[block.channel].append(swing - block.zero)
        crossings[block.channel] += block.crossings()
        worst = max(worst, (swing, block.second))
    return {channel: (max(found), crossings[channel]) for channel, found in swings.items()}, worst


def one_pass(number, step):
    channels, worst = summary(record(number), step)
    return [channels[channel] for channel in CHANNELS], worst


if __name__ == "__main__":
    run(one_pass, read_samples, read_samples_fixed)
