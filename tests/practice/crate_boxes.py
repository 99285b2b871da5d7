# SPDX-License-Identifier: Apache-2.0
"""A camera over a conveyor finds crates: a small net proposes boxes on a grid, doubles are thrown out, and boxes are followed from frame to frame."""

import torch
from torch import nn

from common import run

SIDE, GRID, ANCHORS, FRAMES = 96, 12, 3, 10
KEEP, OVERLAP = 22, 0.45


class Proposer(nn.Module):
    """For each cell and anchor: a score, a shift of the middle and a stretch of the sides."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, 8, 5, stride=2, padding=2), nn.ReLU(),
            nn.Conv2d(8, 16, 3, stride=2, padding=1), nn.ReLU(),
            nn.Conv2d(16, 16, 3, stride=2, padding=1), nn.ReLU(),
        )
        self.head = nn.Conv2d(16, 5 * ANCHORS, 1)
        middles = (torch.arange(GRID) + 0.5) * SIDE / GRID
        self.register_buffer("x", middles.repeat(GRID, 1))
        self.register_buffer("y", middles.repeat(GRID, 1).T.contiguous())
        self.register_buffer("sides", torch.tensor([[14.0, 14.0], [22.0, 12.0], [12.0, 22.0]]))

    def forward(self, frame):
        out = self.head(self.body(frame))[0].view(ANCHORS, 5, GRID, GRID)
        x = self.x + 6 * out[:, 1].tanh()
        y = self.y + 6 * out[:, 2].tanh()
        wide = self.sides[:, 0, None, None] * (0.6 * out[:, 3].tanh()).exp() / 2
        high = self.sides[:, 1, None, None] * (0.6 * out[:, 4].tanh()).exp() / 2
        boxes = torch.stack([x - wide, y - high, x + wide, y + high], dim=-1).view(-1, 4)
        return boxes.clamp(0, SIDE), out[:, 0].reshape(-1).sigmoid()


def conveyor(generator):
    """Frames with crates that move on, and noise."""
    crates = torch.rand(9, 2, generator=generator) * SIDE
    frames = []
    for at in range(FRAMES):
        frame = 0.2 * torch.rand(SIDE, SIDE, generator=generator)
        for x, y in (crates + torch.tensor([5.0 * at, 0.0])).remainder(SIDE - 16).int().tolist():
            frame[y : y + 14, x : x + 14] += 0.8
        frames.append(frame[None, None])
    return frames


def area(boxes):
    return (boxes[..., 2] - boxes[..., 0]) * (boxes[..., 3] - boxes[..., 1])


def overlap(a, b):
    """Of the shared area the part of the joined one; boxes or rows of boxes."""
    low = torch.maximum(a[..., :2], b[..., :2])
    high = torch.minimum(a[..., 2:], b[..., 2:])
    shared = (high - low).clamp(min=0).prod(dim=-1)
    return shared / (area(a) + area(b) - shared + 1e-9)


def without_doubles(boxes):
    """Boxes come best first: each throws out those below it that lie over it."""
    kept, left = [], list(range(len(boxes)))
    while left:
        best = left.pop(0)
        kept.append(best)
        left = [other for other in left if overlap(boxes[best], boxes[other]) < OVERLAP]
    return kept


def without_doubles_fixed(boxes):
    kept, left = [], torch.arange(len(boxes))
    while len(left):
        best, left = int(left[0]), left[1:]
        kept.append(best)
        left = left[overlap(boxes[best], boxes[left]) < OVERLAP]
    return kept


class Tracker:
    """Boxes of this frame take the number of the box of the last one that they lie over most."""

    def __init__(self):
        self.boxes = torch.zeros(0, 4)
        self.numbers = []
        self.made = 0

    def follow(self, boxes):
        table = overlap(boxes[:, None], self.boxes[None]) if len(self.boxes) else torch.zeros(len(boxes), 1)
        shares, nearest = table.max(dim=1)
        numbers = []
        for share, at in zip(shares.tolist(), nearest.tolist()):
            if share > 0.3 and self.numbers[at] not in numbers:
                numbers.append(self.numbers[at])
            else:
                self.made += 1
                numbers.append(self.made)
        self.boxes, self.numbers = boxes, numbers


@torch.no_grad()
def one_pass(number, without_doubles):
    torch.set_num_threads(1)
    torch.manual_seed(number)
    net, tracker, rows = Proposer().eval(), Tracker(), []
    for frame in conveyor(torch.Generator().manual_seed(number)):
        boxes, scores = net(frame)
        best = scores.topk(KEEP)
        found = boxes[best.indices]
        found = found[without_doubles(found)]
        tracker.follow(found)
        rows.append((len(found), float(area(found).sum()), tracker.made))
    return rows


if __name__ == "__main__":
    run(one_pass, without_doubles, without_doubles_fixed)
