# SPDX-License-Identifier: Apache-2.0
"""A forklift's eye: boxes around pallets are read out of feature maps of several scales, for pictures of three cameras."""

from functools import lru_cache

import torch
from torch import nn

from common import run

CAMERAS = [(128, 160), (160, 160), (96, 224)]
STRIDES = (8, 16, 32)
RATIOS, SCALES = (0.5, 1.0, 2.0), (1.0, 1.26, 1.59)
PICTURES, KEEP = 12, 40


def anchors(high, wide, stride):
    """Nine boxes of other shapes around every place of a feature map, as left, top, right, bottom."""
    sides = []
    for scale in SCALES:
        for ratio in RATIOS:
            side = 4.0 * stride * scale
            sides.append((side * ratio**0.5, side / ratio**0.5))
    sides = torch.tensor(sides)
    down, across = torch.meshgrid(torch.arange(high), torch.arange(wide), indexing="ij")
    centres = (torch.stack([across, down], dim=-1).float() + 0.5) * stride
    centres = centres.reshape(-1, 1, 2)
    corners = torch.cat([centres - sides / 2, centres + sides / 2], dim=-1)
    limit = torch.tensor([wide, high, wide, high], dtype=torch.float32) * stride
    return corners.clamp(min=0).minimum(limit).reshape(-1, 4)


anchors_fix = lru_cache(maxsize=64)(anchors)


class Eye(nn.Module):
    def __init__(self, width=6):
        super().__init__()
        self.stem = nn.Conv2d(1, width, 8, stride=8)
        self.down = nn.ModuleList([nn.Conv2d(width, width, 3, stride=2, padding=1) for _ in STRIDES[1:]])
        self.head = nn.Conv2d(width, 9 * 5, 1)

    def forward(self, picture):
        maps = [torch.relu(self.stem(picture))]
        for layer in self.down:
            maps.append(torch.relu(layer(maps[-1])))
        return [self.head(features) for features in maps]


def decode(boxes, shifts):
    """The anchors moved and stretched as the net says."""
    size = boxes[:, 2:] - boxes[:, :2]
    centre = boxes[:, :2] + size / 2 + shifts[:, :2] * size * 0.1
    size = size * torch.exp(shifts[:, 2:].clamp(max=2.0) * 0.2)
    return torch.cat([centre - size / 2, centre + size / 2], dim=1)


def overlaps(boxes):
    low = torch.maximum(boxes[:, None, :2], boxes[None, :, :2])
    high = torch.minimum(boxes[:, None, 2:], boxes[None, :, 2:])
    shared = (high - low).clamp(min=0).prod(dim=2)
    area = (boxes[:, 2:] - boxes[:, :2]).prod(dim=1)
    return shared / (area[:, None] + area[None, :] - shared)


def suppress(boxes, limit=0.5):
    """Boxes come by falling score; those that lie on a better one go."""
    near = (overlaps(boxes) > limit).tolist()
    kept = []
    for at, row in enumerate(near):
        if not any(row[better] for better in kept):
            kept.append(at)
    return kept


class Detector:
    def __init__(self, eye, anchors_of):
        self.eye = eye
        self.anchors_of = anchors_of

    @torch.no_grad()
    def find(self, picture):
        boxes, scores = [], []
        for stride, out in zip(STRIDES, self.eye(picture)):
            _, _, high, wide = out.shape
            flat = out[0].reshape(9, 5, high * wide).permute(2, 0, 1).reshape(-1, 5)
            best = flat[:, 0].topk(min(KEEP, len(flat)))
            start = self.anchors_of(high, wide, stride)[best.indices]
            boxes.append(decode(start, flat[best.indices, 1:]))
            scores.append(best.values)
        boxes, scores = torch.cat(boxes), torch.cat(scores)
        order = scores.argsort(descending=True)
        boxes = boxes[order]
        return boxes[suppress(boxes)]


def one_pass(number, anchors_of):
    draw = torch.Generator().manual_seed(number)
    torch.manual_seed(5)
    detector = Detector(Eye(), anchors_of)
    count, middle = 0, 0.0
    for at in range(PICTURES):
        picture = torch.rand(1, 1, *CAMERAS[at % len(CAMERAS)], generator=draw)
        found = detector.find(picture)
        count += len(found)
        middle += float(found.mean())
    return count, middle


if __name__ == "__main__":
    run(one_pass, anchors, anchors_fix)
