# SPDX-License-Identifier: Apache-2.0
"""Guesses the next rows of a peal from the rows rung so far: a small attention net over the strokes of eight bells."""

import math

import torch
from torch import nn
from torch.nn import functional

from runner import run

BELLS = 8
STROKES = 96
WIDTH = 32
PEALS = 30


class Ringer(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(BELLS, WIDTH)
        self.query = nn.Linear(WIDTH, 3 * WIDTH)
        self.guess = nn.Linear(WIDTH, BELLS)

    def places(self):
        """Sines and cosines that tell where in the peal a stroke is."""
        stroke = torch.arange(STROKES, dtype=torch.float32).unsqueeze(1)
        pace = torch.exp(torch.arange(0, WIDTH, 2) * (-math.log(10000.0) / WIDTH))
        table = torch.zeros(STROKES, WIDTH)
        table[:, 0::2] = torch.sin(stroke * pace)
        table[:, 1::2] = torch.cos(stroke * pace)
        return table

    def forward(self, strokes):
        x = self.embed(strokes) + self.places()
        query, key, value = self.query(x).chunk(3, dim=-1)
        x = x + functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        return self.guess(functional.relu(x))


class RingerFixed(Ringer):
    def __init__(self):
        super().__init__()
        self.register_buffer("table", super().places())

    def places(self):
        return self.table


def peal(generator):
    """Rows of plain hunting from a random first row, with a dodge now and then."""
    row = torch.randperm(BELLS, generator=generator).tolist()
    strokes = []
    for change in range(STROKES // BELLS):
        strokes += row
        for place in range(change % 2, BELLS - 1, 2):
            row[place], row[place + 1] = row[place + 1], row[place]
        if change % 8 == 7:
            row[1], row[2] = row[2], row[1]
    return torch.tensor(strokes)


def judge(guesses, strokes):
    """How many bells of each peal are guessed, and in which of its rows the most of them."""
    right = guesses[:, :-1].argmax(dim=-1) == strokes[:, 1:]
    rows = functional.pad(right, (1, 0)).view(len(right), -1, BELLS).sum(dim=2)
    return right.sum(dim=1).tolist(), rows.argmax(dim=1).tolist()


@torch.no_grad()
def one_pass(number, step):
    torch.manual_seed(number)
    ringer = step().eval()
    generator = torch.Generator().manual_seed(number)
    peals = [peal(generator) for _ in range(PEALS)]
    guesses = [ringer(strokes) for strokes in peals]
    return judge(torch.stack(guesses), torch.stack(peals))


if __name__ == "__main__":
    run(one_pass, Ringer, RingerFixed)
