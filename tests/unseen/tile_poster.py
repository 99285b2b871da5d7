# SPDX-License-Identifier: Apache-2.0
"""Lays sprites on a canvas of palette colours and writes the poster as a PNG file."""

import random
import struct
import zlib

from runner import run

WIDTH, HEIGHT = 1_400, 1_000


class Sprite:
    def __init__(self, rng):
        self.width, self.height = rng.randrange(24, 64), rng.randrange(24, 64)
        hue = rng.randrange(32, 224)
        noise = rng.randbytes(self.width * self.height)
        self.pixels = noise.translate(bytes(hue + (value >> 5) for value in range(256)))


class Canvas:
    def __init__(self, background):
        self.cells = bytearray([background]) * (WIDTH * HEIGHT)

    def paste(self, sprite, left, top):
        wide = min(sprite.width, WIDTH - left)
        for y in range(min(sprite.height, HEIGHT - top)):
            at, start = (top + y) * WIDTH + left, y * sprite.width
            for x in range(wide):
                self.cells[at + x] = sprite.pixels[start + x]

    def rows(self):
        for y in range(HEIGHT):
            yield self.cells[y * WIDTH : (y + 1) * WIDTH]

    def png(self, palette):
        raw = b"".join(b"\0" + row for row in self.rows())
        head = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 3, 0, 0, 0)
        parts = [b"\x89PNG\r\n\x1a\n", chunk(b"IHDR", head), chunk(b"PLTE", palette)]
        parts += [chunk(b"IDAT", zlib.compress(raw, 5)), chunk(b"IEND", b"")]
        return b"".join(parts)


class SliceCanvas(Canvas):
    def paste(self, sprite, left, top):
        wide = min(sprite.width, WIDTH - left)
        for y in range(min(sprite.height, HEIGHT - top)):
            at, start = (top + y) * WIDTH + left, y * sprite.width
            self.cells[at : at + wide] = sprite.pixels[start : start + wide]


def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def one_pass(number, kind):
    rng = random.Random(number)
    sprites = [Sprite(rng) for _ in range(40)]
    canvas = kind(rng.randrange(32))
    for _ in range(500):
        sprite = rng.choice(sprites)
        canvas.paste(sprite, rng.randrange(WIDTH), rng.randrange(HEIGHT))
    palette = bytes(range(256)) + rng.randbytes(512)
    picture = canvas.png(palette)
    return len(picture), zlib.crc32(picture), len(set(canvas.cells))


if __name__ == "__main__":
    run(one_pass, Canvas, SliceCanvas)
