# SPDX-License-Identifier: Apache-2.0
"""A help desk's search: tickets are tokenised, put into buckets by length, encoded by a small transformer and matched to older ones."""

import math
import random
import re

import torch
import torch.nn.functional as F
from torch import nn

from common import run

WIDTH, HEADS, LAYERS, WORDS = 48, 8, 5, 600
BUCKETS = (32, 48, 64, 80)
WORD = re.compile(r"[a-z]+")


def buckets(length, exact=8, most=16, reach=64):
    """A number for the distance of each two places: near ones have their own, far ones share by the logarithm."""
    places = torch.arange(length)
    away = places - places[:, None]
    near = away.abs()
    far = exact + (torch.log(near / exact) / math.log(reach / exact) * (most - exact)).long()
    return torch.where(near < exact, near, far.clamp(max=most - 1)) + most * (away > 0)


class DistanceBias(nn.Module):
    """What is added to each head's scores by the distance of two places; all layers share it."""

    def __init__(self, heads):
        super().__init__()
        self.table = nn.Embedding(32, heads)

    def forward(self, length):
        return self.table(buckets(length)).permute(2, 0, 1)


class DistanceBiasFixed(DistanceBias):
    def __init__(self, heads):
        super().__init__(heads)
        self.built = {}

    def forward(self, length):
        if length not in self.built:
            self.built[length] = super().forward(length)
        return self.built[length]


class Attention(nn.Module):
    def __init__(self, bias):
        super().__init__()
        self.mixed = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.bias = bias

    def forward(self, x, blank):
        batch, length, _ = x.shape
        q, k, v = self.mixed(x).view(batch, length, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-1, -2) * (WIDTH // HEADS) ** -0.5
        scores += self.bias(length)
        scores.masked_fill_(blank, -1e9)
        mixed = scores.softmax(dim=-1) @ v
        return self.out(mixed.transpose(1, 2).reshape(batch, length, WIDTH))


class Block(nn.Module):
    def __init__(self, bias):
        super().__init__()
        self.attention = Attention(bias)
        self.first, self.second = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.net = nn.Sequential(nn.Linear(WIDTH, 2 * WIDTH), nn.GELU(), nn.Linear(2 * WIDTH, WIDTH))

    def forward(self, x, blank):
        x = x + self.attention(self.first(x), blank)
        return x + self.net(self.second(x))


class Encoder(nn.Module):
    def __init__(self, bias):
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH, padding_idx=0)
        self.blocks = nn.ModuleList(Block(bias) for _ in range(LAYERS))

    def forward(self, tokens):
        empty = tokens == 0
        x = self.words(tokens)
        for block in self.blocks:
            x = block(x, empty[:, None, None, :])
        x = x.masked_fill(empty[..., None], 0).sum(dim=1)
        return F.normalize(x, dim=-1)


class Index:
    def __init__(self, encoder):
        self.encoder = encoder
        self.known = {}

    def tokens(self, text):
        return [self.known.setdefault(word, len(self.known) % (WORDS - 1) + 1) for word in WORD.findall(text.lower())]

    def batches(self, texts):
        waiting = {bucket: [] for bucket in BUCKETS}
        for at, text in enumerate(texts):
            tokens = self.tokens(text)[: BUCKETS[-1]]
            waiting[next(bucket for bucket in BUCKETS if len(tokens) <= bucket)].append((at, tokens))
        for bucket, rows in waiting.items():
            for start in range(0, len(rows), 2):
                part = rows[start : start + 2]
                yield [at for at, _ in part], torch.tensor([tokens + [0] * (bucket - len(tokens)) for _, tokens in part])

    @torch.no_grad()
    def encode(self, texts):
        vectors = torch.empty(len(texts), WIDTH)
        for places, tokens in self.batches(texts):
            vectors[places] = self.encoder(tokens)
        return vectors


def tickets(rnd, count):
    words = ["".join(rnd.choices("aeioulnrstkmpd", k=rnd.randint(3, 9))) for _ in range(500)]
    return [" ".join(rnd.choices(words, k=rnd.randint(12, 80))) + "." for _ in range(count)]


def one_pass(number, bias):
    torch.manual_seed(number)
    rnd = random.Random(number)
    index = Index(Encoder(bias(HEADS)).eval())
    vectors = index.encode(tickets(rnd, 30))
    alike = vectors @ vectors.T
    alike.fill_diagonal_(-1)
    best = alike.topk(3, dim=1).values
    return best.mean(dim=0).tolist(), float(vectors.abs().sum())


if __name__ == "__main__":
    torch.set_num_threads(1)
    run(one_pass, DistanceBias, DistanceBiasFixed)
