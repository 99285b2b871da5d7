# SPDX-License-Identifier: Apache-2.0
"""Scores sentences with a little transformer decoder of eight causal layers."""

import math

import torch
from torch import nn

from common import run

torch.set_num_threads(1)


def distance_bias(length, slope=0.7):
    """What is added to the scores: less the further back, and nothing from ahead."""
    place = torch.arange(length, dtype=torch.float32)
    back = place[:, None] - place[None, :]
    return torch.where(back < 0, -math.inf, -slope * torch.log1p(back.clamp(min=0)))


class Layer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.join = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.before = nn.LayerNorm(width)
        self.after = nn.LayerNorm(width)
        self.forward_part = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def attend(self, x, bias):
        batch, length, width = x.shape
        query, key, value = self.join(x).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        weights = (query @ key.transpose(-1, -2)) / math.sqrt(query.shape[-1]) + bias
        return self.out((weights.softmax(-1) @ value).transpose(1, 2).reshape(batch, length, width))

    def forward(self, x, bias):
        x = x + self.attend(self.before(x), bias)
        return x + self.forward_part(self.after(x))


class Decoder(nn.Module):
    def __init__(self, words, width=16, layers=8, heads=1):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.layers = nn.ModuleList(Layer(width, heads) for _ in range(layers))
        self.score = nn.Linear(width, words)

    def forward(self, tokens):
        x = self.words(tokens)
        for layer in self.layers:
            x = layer(x, distance_bias(tokens.shape[1]))
        return self.score(x)


class DecoderFixed(Decoder):
    def forward(self, tokens):
        x = self.words(tokens)
        bias = distance_bias(tokens.shape[1])
        for layer in self.layers:
            x = layer(x, bias)
        return self.score(x)


def surprise(model, tokens):
    with torch.no_grad():
        chances = model(tokens[:, :-1]).log_softmax(-1)
    return float(-chances.gather(2, tokens[:, 1:, None]).mean())


def one_pass(number, kind):
    torch.manual_seed(number)
    model = kind(60).eval()
    return [surprise(model, torch.randint(0, 60, (1, length))) for length in torch.randint(110, 160, (8,)).tolist()]


if __name__ == "__main__":
    run(one_pass, Decoder, DecoderFixed)
