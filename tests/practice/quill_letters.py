# SPDX-License-Identifier: Apache-2.0
"""An archive learns to read one clerk's capitals: a small net is trained letter by letter batch, and what it mixes up is counted."""

import torch
from torch import nn

from common import run

LETTERS = "ABCDEFGHIKLMNOPRSTVZ"
KINDS, SIDE, BATCH = len(LETTERS), 12, 64


def strokes(generator):
    """One shape for each letter: a few smooth blots."""
    coarse = torch.rand(KINDS, 1, 4, 4, generator=generator)
    return nn.functional.interpolate(coarse, size=SIDE, mode="bicubic", align_corners=False)


def written(shapes, generator, count):
    truth = torch.randint(0, KINDS, (count,), generator=generator)
    ink = 0.7 + 0.6 * torch.rand(count, 1, 1, 1, generator=generator)
    return shapes[truth] * ink + 0.35 * torch.randn(count, 1, SIDE, SIDE, generator=generator), truth


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.look = nn.Sequential(nn.Conv2d(1, 6, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten())
        self.name = nn.Linear(6 * (SIDE // 2) ** 2, KINDS)

    def forward(self, pictures):
        return self.name(self.look(pictures))


def count_pairs(table, truth, guess):
    for true, guessed in zip(truth, guess):
        table[true, guessed] += 1


def count_pairs_fixed(table, truth, guess):
    table += torch.bincount(truth * KINDS + guess, minlength=KINDS * KINDS).view(KINDS, KINDS)


class Lesson:
    def __init__(self, shapes, generator, count_pairs):
        self.shapes = shapes
        self.generator = generator
        self.count_pairs = count_pairs
        self.reader = Reader()
        self.adam = torch.optim.Adam(self.reader.parameters(), lr=0.01)
        self.losses = []

    def learn(self, batches):
        self.reader.train()
        for _ in range(batches):
            pictures, truth = written(self.shapes, self.generator, BATCH)
            loss = nn.functional.cross_entropy(self.reader(pictures), truth)
            self.adam.zero_grad()
            loss.backward()
            self.adam.step()
            self.losses.append(loss.detach())

    @torch.no_grad()
    def examine(self, batches):
        """How often each letter (row) was read as each (column)."""
        self.reader.eval()
        table = torch.zeros(KINDS, KINDS, dtype=torch.long)
        for _ in range(batches):
            pictures, truth = written(self.shapes, self.generator, BATCH)
            self.count_pairs(table, truth, self.reader(pictures).argmax(dim=1))
        return table


def report(table):
    right = table.diagonal().sum() / table.sum()
    wrong = table - torch.diag(table.diagonal())
    counts, places = wrong.flatten().topk(3)
    pairs = ["%s as %s" % (LETTERS[place // KINDS], LETTERS[place % KINDS]) for place in sorted(places.tolist())]
    return float(right), counts.tolist(), len(pairs)


def one_pass(number, count_pairs):
    torch.set_num_threads(1)
    torch.manual_seed(number)
    generator = torch.Generator().manual_seed(number)
    lesson = Lesson(strokes(generator), generator, count_pairs)
    reports = []
    for _ in range(3):
        lesson.learn(5)
        reports.append(report(lesson.examine(12)))
    return reports, float(torch.stack(lesson.losses).mean())


if __name__ == "__main__":
    run(one_pass, count_pairs, count_pairs_fixed)
