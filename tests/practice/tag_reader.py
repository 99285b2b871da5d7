# SPDX-License-Identifier: Apache-2.0
"""Tags the words of support letters with a small attention net, batch by batch, and lists the entities."""

import math
import random

import torch
from torch import nn

from common import run

torch.set_num_threads(1)
WORDS, WIDTH, LENGTH, TAGS = 3_000, 48, 32, 5


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.mix = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.norm = nn.LayerNorm(WIDTH)
        self.tag = nn.Linear(WIDTH, TAGS)

    def places(self, length):
        rates = torch.exp(torch.arange(0, WIDTH, 2) * (-math.log(10_000.0) / WIDTH))
        angles = torch.arange(length)[:, None] * rates
        return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(1)

    def forward(self, letters):
        hidden = self.words(letters) + self.places(letters.shape[1])
        query, key, value = self.mix(hidden).chunk(3, dim=-1)
        score = query @ key.transpose(1, 2) / math.sqrt(WIDTH)
        score = score.masked_fill((letters == 0)[:, None, :], -1e9)
        hidden = self.norm(hidden + self.out(score.softmax(dim=-1) @ value))
        return self.tag(hidden)


class PlacedReader(Reader):
    def __init__(self):
        super().__init__()
        self.register_buffer("table", Reader.places(self, LENGTH))

    def places(self, length):
        return self.table[:length]


def letters(rng, many):
    for _ in range(many):
        length = rng.randint(12, LENGTH)
        yield [int(WORDS * rng.random() ** 3 + 1) % WORDS for _ in range(length)] + [0] * (LENGTH - length)


def batches(rows, size):
    rows = iter(rows)
    while batch := [row for _, row in zip(range(size), rows)]:
        yield torch.tensor(batch)


def entities(tags, words):
    """Runs of the same tag other than 0 make one entity."""
    found, start = [], None
    for at, (tag, word) in enumerate(zip(tags + [0], words + [0])):
        if start is not None and (tag != tags[start] or word == 0):
            found.append((tags[start], tuple(words[start:at])))
            start = None
        if start is None and tag and word:
            start = at
    return found


def one_pass(number, kind):
    torch.manual_seed(number)
    rng = random.Random(number)
    reader = kind().eval()
    counts = {}
    with torch.inference_mode():
        for batch in batches(letters(rng, 300), 2):
            best = reader(batch).argmax(dim=-1)
            for tags, words in zip(best.tolist(), batch.tolist()):
                for tag, span in entities(tags, words):
                    counts[tag, len(span)] = counts.get((tag, len(span)), 0) + 1
    return sorted(counts.items())


if __name__ == "__main__":
    run(one_pass, Reader, PlacedReader)
