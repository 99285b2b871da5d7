# SPDX-License-Identifier: Apache-2.0
"""Follows a bird's song: a particle filter on tensors, resampled and moved in place."""

import math

import torch

from common import run

torch.set_num_threads(1)

PARTICLES = 4000
PLACES = torch.arange(PARTICLES)


class Tracker:
    def __init__(self, seed):
        self.draws = torch.Generator().manual_seed(seed)
        self.pitch = torch.empty(PARTICLES).uniform_(2.0, 6.0, generator=self.draws)
        self.glide = torch.empty(PARTICLES).normal_(0.0, 0.02, generator=self.draws)
        self.weight = torch.full((PARTICLES,), 1.0 / PARTICLES)
        self.resampled = 0

    def jitter(self):
        return torch.randn(PARTICLES, generator=self.draws)

    def move(self):
        self.glide.mul_(0.95).add_(self.jitter(), alpha=0.01)
        self.pitch.add_(self.glide).add_(self.jitter(), alpha=0.02).clamp_(1.0, 8.0)

    def weigh(self, heard, width=0.15):
        miss = (self.pitch - heard) / width
        self.weight.mul_(torch.exp(-0.5 * miss * miss) + 1e-6)
        self.weight.div_(self.weight.sum())

    def spread(self):
        return float(1.0 / (self.weight * self.weight).sum())

    def mean(self):
        return float((self.weight * self.pitch).sum())

    def resample(self):
        steps = (PLACES + torch.rand(1, generator=self.draws)) / PARTICLES
        chosen = torch.searchsorted(self.weight.cumsum(0), steps).clamp_(max=PARTICLES - 1)
        self.pitch.copy_(self.pitch[chosen])
        self.glide.copy_(self.glide[chosen])
        self.weight.fill_(1.0 / PARTICLES)
        self.resampled += 1


def make_song(seed, frames):
    draws = torch.Generator().manual_seed(seed + 1)
    phase, depth = torch.rand(2, generator=draws).tolist()
    clean = [4 + (0.5 + depth) * math.sin(phase * 6 + 0.09 * frame) for frame in range(frames)]
    noise = torch.randn(frames, generator=draws).mul_(0.1).tolist()
    return clean, [pitch + error for pitch, error in zip(clean, noise)]


def follow(tracker, heard):
    for pitch in heard:
        tracker.move()
        tracker.weigh(pitch)
        if tracker.spread() < 0.5 * PARTICLES:
            tracker.resample()
        yield tracker.mean()


def one_pass(number, _):
    clean, heard = make_song(number, 120)
    tracker = Tracker(number)
    found = list(follow(tracker, heard))
    error = math.sqrt(sum((a - b) ** 2 for a, b in zip(clean, found)) / len(clean))
    return [error, found[-1], tracker.resampled]


if __name__ == "__main__":
    run(one_pass)
