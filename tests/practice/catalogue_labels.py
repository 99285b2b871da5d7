# SPDX-License-Identifier: Apache-2.0
"""A shop's titles are sorted into catalogue categories: a bag of word pieces is trained, yes or no for each category, and tested on fresh titles."""

import torch
from torch import nn
from torch.nn import functional as F

from common import run

CATEGORIES, PIECES, WIDTH = 1_000, 1_200, 32
BATCH, STEPS, LENGTH = 64, 12, 14
SMOOTH = 0.05


class Titles:
    """Each category has its own pieces; a title is a draw of them with some that are everybody's."""

    def __init__(self, generator):
        self.generator = generator
        self.own = torch.randint(0, PIECES, (CATEGORIES, 6), generator=generator)

    def draw(self, count):
        labels = torch.randint(0, CATEGORIES, (count,), generator=self.generator)
        picks = torch.randint(0, 6, (count, LENGTH), generator=self.generator)
        words = self.own[labels].gather(1, picks)
        common = torch.rand(count, LENGTH, generator=self.generator) < 0.3
        words[common] = torch.randint(0, PIECES, (int(common.sum()),), generator=self.generator)
        return words, labels


class Sorter(nn.Module):
    def __init__(self):
        super().__init__()
        self.bag = nn.EmbeddingBag(PIECES, WIDTH, mode="mean")
        self.mix = nn.Sequential(nn.Linear(WIDTH, 64), nn.GELU(), nn.LayerNorm(64))
        self.name = nn.Linear(64, CATEGORIES)
        nn.init.constant_(self.name.bias, -6.0)

    def forward(self, words):
        return self.name(self.mix(self.bag(words)))


def loss_of(logits, targets):
    """Each category is a question of its own; a part of every answer is spread over all."""
    spread = targets * (1 - SMOOTH) + SMOOTH / CATEGORIES
    return F.binary_cross_entropy_with_logits(logits, spread, reduction="sum") / len(logits)


def train(sorter, optimizer, titles):
    losses = []
    for _ in range(STEPS):
        words, labels = titles.draw(BATCH)
        targets = torch.eye(CATEGORIES)[labels]
        loss = loss_of(sorter(words), targets)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(sorter.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.detach())
    return torch.stack(losses)


def train_fixed(sorter, optimizer, titles):
    losses = []
    rows = torch.eye(CATEGORIES)
    for _ in range(STEPS):
        words, labels = titles.draw(BATCH)
        targets = rows[labels]
        loss = loss_of(sorter(words), targets)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(sorter.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.detach())
    return torch.stack(losses)


@torch.no_grad()
def examine(sorter, titles, batches=3):
    """Share of titles whose category is the first, and among the first five."""
    first = among = 0
    for _ in range(batches):
        words, labels = titles.draw(BATCH)
        best = sorter(words).topk(5, dim=1).indices
        hits = best == labels[:, None]
        first += int(hits[:, 0].sum())
        among += int(hits.any(dim=1).sum())
    return first / (batches * BATCH), among / (batches * BATCH)


def one_pass(number, train):
    torch.set_num_threads(1)
    torch.manual_seed(number)
    titles = Titles(torch.Generator().manual_seed(number))
    sorter = Sorter()
    optimizer = torch.optim.AdamW(sorter.parameters(), lr=0.02)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.7)
    rounds = []
    for _ in range(2):
        losses = train(sorter, optimizer, titles)
        schedule.step()
        rounds.append((float(losses.mean()), float(losses[-1]), *examine(sorter, titles)))
    return rounds


if __name__ == "__main__":
    run(one_pass, train, train_fixed)
