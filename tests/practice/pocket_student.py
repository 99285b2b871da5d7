# SPDX-License-Identifier: Apache-2.0
"""A small net for handhelds learns from a large one that is done learning: some epochs over the same recorded windows of motion."""

import torch
from torch import nn
from torch.nn import functional as F

from common import run

CHANNELS, WINDOW, KINDS = 6, 48, 8
BATCHES, BATCH, EPOCHS = 6, 40, 4
HEAT = 3.0


def windows(generator, count):
    """Motion of eight kinds: a carrier each, another phase and loudness for every window."""
    kinds = torch.randint(0, KINDS, (count,), generator=generator)
    time = torch.arange(WINDOW) / WINDOW
    phase = torch.rand(count, CHANNELS, 1, generator=generator)
    loud = 0.5 + torch.rand(count, CHANNELS, 1, generator=generator)
    wave = torch.sin(2 * torch.pi * ((kinds[:, None, None] + 1) * time + phase)) * loud
    return wave + 0.4 * torch.randn(count, CHANNELS, WINDOW, generator=generator), kinds


class Teacher(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv1d(CHANNELS, 24, 5, padding=2), nn.ReLU(), nn.Conv1d(24, 24, 5, padding=2), nn.ReLU(), nn.AdaptiveAvgPool1d(8)
        )
        self.head = nn.Linear(24 * 8, KINDS)

    def forward(self, x):
        return self.head(self.body(x).flatten(1))


class Student(nn.Module):
    def __init__(self):
        super().__init__()
        self.look = nn.Conv1d(CHANNELS, 8, 7, stride=3)
        self.norm = nn.BatchNorm1d(8)
        self.head = nn.Linear(8, KINDS)

    def forward(self, x):
        return self.head(F.relu(self.norm(self.look(x))).amax(dim=2))


class Lesson:
    def __init__(self, batches):
        self.batches = batches
        self.teacher = Teacher().eval().requires_grad_(False)
        self.student = Student()
        self.optimizer = torch.optim.SGD(self.student.parameters(), lr=0.05, momentum=0.9)

    def advice(self, number, x):
        return F.softmax(self.teacher(x) / HEAT, dim=1)

    def loss(self, logits, advice, kinds):
        """Half what the teacher thinks, softened, half what is known."""
        soft = F.kl_div(F.log_softmax(logits / HEAT, dim=1), advice, reduction="batchmean") * HEAT**2
        return 0.5 * soft + 0.5 * F.cross_entropy(logits, kinds)

    def epoch(self):
        self.student.train()
        losses = []
        for number, (x, kinds) in enumerate(self.batches):
            loss = self.loss(self.student(x), self.advice(number, x), kinds)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            losses.append(loss.detach())
        return float(torch.stack(losses).mean())

    @torch.no_grad()
    def score(self, x, kinds):
        self.student.eval()
        return float((self.student(x).argmax(dim=1) == kinds).float().mean())


class LessonFixed(Lesson):
    def __init__(self, batches):
        super().__init__(batches)
        self.advised = {}

    def advice(self, number, x):
        if number not in self.advised:
            self.advised[number] = super().advice(number, x)
        return self.advised[number]


def size(net):
    return sum(weights.numel() for weights in net.parameters())


def one_pass(number, lesson):
    torch.set_num_threads(1)
    torch.manual_seed(number)
    generator = torch.Generator().manual_seed(number)
    lesson = lesson([windows(generator, BATCH) for _ in range(BATCHES)])
    held = windows(generator, 160)
    rows = [(lesson.epoch(), lesson.score(*held)) for _ in range(EPOCHS)]
    return rows, size(lesson.student), size(lesson.teacher)


if __name__ == "__main__":
    run(one_pass, Lesson, LessonFixed)
