# SPDX-License-Identifier: Apache-2.0
"""Lichen on gravestones: a small net learns the age of a stone from the patches on it, batch by batch."""

import torch
from torch import nn

from runner import run

STONES = 320
FEATURES = 12
EPOCHS = 3
BATCH = 32


def stones(generator):
    """Sizes of the patches and what the stone is of; the age is what grew them, with the weather's share."""
    age = torch.rand(STONES, 1, generator=generator) * 2.5
    patches = torch.rand(STONES, FEATURES - 2, generator=generator) * (1 - torch.exp(-age))
    side = torch.randint(0, 2, (STONES, 2), generator=generator).float()
    noise = torch.randn(STONES, FEATURES, generator=generator) * 0.03
    return torch.cat([patches, side], dim=1) + noise, age


class Dater(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(FEATURES, 48)
        self.norm = nn.LayerNorm(48)
        self.second = nn.Linear(48, 48)
        self.last = nn.Linear(48, 1)

    def forward(self, x):
        x = torch.relu(self.norm(self.first(x)))
        return self.last(x + torch.relu(self.second(x)))


class Course:
    def __init__(self, net, generator):
        self.net = net
        self.generator = generator
        self.weights = list(net.parameters())
        self.optimizer = torch.optim.Adam(self.weights, lr=4e-3)
        self.schedule = torch.optim.lr_scheduler.StepLR(self.optimizer, step_size=1, gamma=0.8)
        self.loss = nn.SmoothL1Loss()

    def batches(self, x, y):
        order = torch.randperm(len(x), generator=self.generator)
        for rows in order.split(BATCH):
            yield x[rows], y[rows]

    def epoch(self, x, y):
        self.net.train()
        total = 0.0
        for some, ages in self.batches(x, y):
            self.optimizer.zero_grad()
            loss = self.loss(self.net(some), ages)
            loss.backward()
            nn.utils.clip_grad_norm_(self.weights, 1.0)
            self.optimizer.step()
            total += loss.item() * len(some)
        self.schedule.step()
        return total / len(x)

    @torch.no_grad()
    def judge(self, x, y):
        self.net.eval()
        wrong = (self.net(x) - y).abs()
        return float(wrong.mean()), float(wrong.quantile(0.9))


def one_pass(number, step):
    torch.manual_seed(number)
    generator = torch.Generator().manual_seed(number)
    x, y = stones(generator)
    held_x, held_y = stones(generator)
    course = Course(Dater(), generator)
    return [(course.epoch(x, y), *course.judge(held_x, held_y)) for _ in range(EPOCHS)]


if __name__ == "__main__":
    run(one_pass)
