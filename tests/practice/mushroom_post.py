# SPDX-License-Identifier: Apache-2.0
"""A mushroom adviser's post box: photographs sent in are scored by a small net, and each sender gets the likely kinds as JSON."""

import json

import torch
from torch import nn

from common import run

FIRST = ("brown", "red", "grey", "pale", "late", "ring", "wood", "dung", "birch", "honey", "snow", "elfin")
KINDS = [first + " " + second for first in FIRST for second in ("cap", "bonnet", "shield", "funnel", "parasol", "wax", "web", "tuft")]
POISONOUS = {kind for at, kind in enumerate(KINDS) if at % 7 == 3}


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(3, 8, 3, stride=2, padding=1), nn.ReLU(), nn.Conv2d(8, 16, 3, stride=2, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten()
        )
        self.head = nn.Linear(64, len(KINDS))

    def forward(self, pictures):
        return self.head(self.body(pictures))


def numbers(row):
    return [value.item() for value in row]


def numbers_fixed(row):
    return row.tolist()


class Adviser:
    def __init__(self, net, numbers):
        self.net = net.eval()
        self.numbers = numbers
        self.answered = 0
        self.warned = []

    @torch.inference_mode()
    def score(self, pictures):
        flat = pictures.mean(dim=(2, 3), keepdim=True)
        spread = pictures.std(dim=(2, 3), keepdim=True)
        scores = self.net((pictures - flat) / (spread + 1e-5))
        return torch.softmax(4 * scores, dim=1)

    def answer(self, letter, shares):
        """The kinds of two per cent and more, the likeliest first, and a warning where one of them is not to be eaten."""
        rows = sorted(((share, kind) for share, kind in zip(shares, KINDS) if share >= 0.02), reverse=True)
        bad = sum(share for share, kind in rows if kind in POISONOUS)
        if bad > 0.1:
            self.warned.append(letter)
        self.answered += 1
        return {
            "letter": letter,
            "kinds": [{"kind": kind, "share": round(share, 4)} for share, kind in rows[:5]],
            "rest": round(1.0 - sum(share for share, _ in rows[:5]), 4),
            "warning": bad > 0.1,
        }

    def post(self, first, pictures):
        table = self.score(pictures)
        return [json.dumps(self.answer(first + at, self.numbers(row))) for at, row in enumerate(table)]


def photographs(generator, count):
    coarse = torch.rand(count, 3, 6, 6, generator=generator)
    fine = torch.randn(count, 3, 24, 24, generator=generator)
    return nn.functional.interpolate(coarse, size=24, mode="bilinear", align_corners=False) + 0.2 * fine


def one_pass(number, numbers):
    torch.manual_seed(number)
    torch.set_num_threads(1)
    generator = torch.Generator().manual_seed(number)
    adviser = Adviser(Net(), numbers)
    letters = []
    for bag in range(6):
        letters += adviser.post(len(letters), photographs(generator, 32))
    return adviser.answered, len(adviser.warned), sum(map(len, letters)), letters[-1][:60]


if __name__ == "__main__":
    run(one_pass, numbers, numbers_fixed)
