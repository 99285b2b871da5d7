# SPDX-License-Identifier: Apache-2.0
"""Scores a small network that tells diseases of leaves apart, class by class, on shuffled batches."""

import torch
from torch import nn

from common import run

CLASSES, WIDTH, LEAVES, BATCH = 6, 40, 24_000, 200


class LeafNet(nn.Module):
    """Works on what a scanner measures of a leaf: colours, spots, edges."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(WIDTH, 96), nn.GELU(), nn.Linear(96, 96), nn.GELU())
        self.norm = nn.LayerNorm(96)
        self.head = nn.Linear(96, CLASSES)

    def forward(self, leaves):
        return self.head(self.norm(self.body(leaves)))


def album(rng):
    names = torch.randint(0, CLASSES, (LEAVES,), generator=rng)
    typical = torch.randn(CLASSES, WIDTH, generator=rng)
    return typical[names] + torch.randn(LEAVES, WIDTH, generator=rng), names


class Score:
    def __init__(self):
        self.right = 0
        self.loss = 0.0
        self.confusion = torch.zeros(CLASSES, CLASSES, dtype=torch.long)

    def hits(self, guess, names):
        return int(sum(guess == names))

    def add(self, logits, names):
        guess = logits.argmax(dim=1)
        self.right += self.hits(guess, names)
        self.loss += float(nn.functional.cross_entropy(logits, names, reduction="sum"))
        self.confusion += torch.bincount(names * CLASSES + guess, minlength=CLASSES**2).view(CLASSES, CLASSES)

    def recall(self):
        return (self.confusion.diag() / self.confusion.sum(dim=1)).tolist()


class QuickScore(Score):
    def hits(self, guess, names):
        return int((guess == names).sum())


def one_pass(number, kind):
    rng = torch.Generator().manual_seed(number)
    torch.manual_seed(number)
    net = LeafNet().eval()
    leaves, names = album(rng)
    score = kind()
    with torch.no_grad():
        for batch in torch.randperm(LEAVES, generator=rng).split(BATCH):
            score.add(net(leaves[batch]), names[batch])
    return score.right, score.loss / LEAVES, score.recall()


if __name__ == "__main__":
    torch.set_num_threads(1)
    run(one_pass, Score, QuickScore)
