# SPDX-License-Identifier: Apache-2.0
"""Trains a small transformer on nonsense verse, letter by letter, and lets it go on with a line."""

import math
import random

import torch
from torch import nn
from torch.nn import functional as F

from common import run

LETTERS = "abcdefghijklmnopqrstuvwxyz ,\n"
CODE = {letter: at for at, letter in enumerate(LETTERS)}
WORDS = "brill slithe tove gyre gimble wabe mimsy borogove mome rath outgrabe frum jabber claw jub tulgey uffish vorpal".split()
WIDTH = 32
CONTEXT = 24


def positions(length, width):
    """Waves of many lengths, by which the model knows places."""
    places = torch.arange(length, dtype=torch.float32).unsqueeze(1)
    rates = torch.exp(torch.arange(0, width, 2, dtype=torch.float32) * (-math.log(10000.0) / width))
    table = torch.zeros(length, width)
    table[:, 0::2] = torch.sin(places * rates)
    table[:, 1::2] = torch.cos(places * rates)
    return table


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.project = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x):
        query, key, value = self.project(self.norm(x)).chunk(3, dim=-1)
        return x + self.out(F.scaled_dot_product_attention(query, key, value, is_causal=True))


class Verse(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(len(LETTERS), WIDTH)
        self.block = Block(WIDTH)
        self.head = nn.Linear(WIDTH, len(LETTERS))

    def places(self, length):
        return positions(length, WIDTH)

    def forward(self, codes):
        x = self.embed(codes) + self.places(codes.shape[-1])
        return self.head(self.block(x))


class VerseFixed(Verse):
    def __init__(self):
        super().__init__()
        self.register_buffer("table", positions(CONTEXT, WIDTH))

    def places(self, length):
        return self.table[:length]


def verses(rnd):
    while True:
        line = " ".join(rnd.sample(WORDS, 6)) + rnd.choice((",\n", "\n"))
        yield torch.tensor([CODE[letter] for letter in line[: CONTEXT + 1]])


def train(model, lines, steps):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.9)
    losses = []
    for _ in range(steps):
        batch = torch.stack([next(lines) for _ in range(4)])
        loss = F.cross_entropy(model(batch[:, :-1]).transpose(1, 2), batch[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


@torch.no_grad()
def go_on(model, start, letters):
    codes = start.tolist()
    for _ in range(letters):
        scores = model(torch.tensor([codes[-CONTEXT:]]))[0, -1]
        codes.append(int(scores.argmax()))
    return "".join(LETTERS[code] for code in codes)


def one_pass(number, kind):
    torch.manual_seed(number)
    lines = verses(random.Random(number))
    model = kind()
    losses = train(model, lines, 30)
    written = go_on(model, next(lines)[:CONTEXT], 20)
    return losses[0], losses[-1], written


if __name__ == "__main__":
    torch.set_num_threads(1)
    run(one_pass, Verse, VerseFixed)
