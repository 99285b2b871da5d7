# SPDX-License-Identifier: Apache-2.0
"""Trains a small sentence classifier on token lists of uneven length."""

import random

import torch
from torch import nn

from common import run

torch.set_num_threads(1)
VOCABULARY = 800
PAD = 0


class Sentences(nn.Module):
    def __init__(self, width=32, classes=4):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, width, padding_idx=PAD)
        self.mix = nn.Sequential(nn.Linear(width, width), nn.Tanh())
        self.head = nn.Linear(width, classes)

    def forward(self, tokens, lengths):
        states = self.mix(self.embed(tokens))
        inside = tokens != PAD
        pooled = (states * inside[:, :, None]).sum(1) / lengths[:, None]
        return self.head(pooled)


def make_corpus(seed, count):
    rng = random.Random(seed)
    corpus = []
    for _ in range(count):
        label = rng.randrange(4)
        low = 1 + label * 150
        corpus.append(([rng.randrange(low, low + 300) for _ in range(rng.randrange(5, 45))], label))
    return corpus


def pad(sentences):
    longest = max(len(words) for words in sentences)
    tokens = torch.full((len(sentences), longest), PAD, dtype=torch.long)
    for row, words in enumerate(sentences):
        for column, word in enumerate(words):
            tokens[row, column] = word
    return tokens


def pad_fixed(sentences):
    longest = max(len(words) for words in sentences)
    tokens = torch.full((len(sentences), longest), PAD, dtype=torch.long)
    for row, words in enumerate(sentences):
        tokens[row, : len(words)] = torch.tensor(words)
    return tokens


def train(corpus, make_tokens, batch=32):
    model = Sentences()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    losses = []
    for start in range(0, len(corpus), batch):
        part = corpus[start : start + batch]
        tokens = make_tokens([words for words, _ in part])
        lengths = torch.tensor([len(words) for words, _ in part])
        labels = torch.tensor([label for _, label in part])
        loss = nn.functional.cross_entropy(model(tokens, lengths), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def one_pass(number, make_tokens):
    torch.manual_seed(number)
    return train(make_corpus(number, 640), make_tokens)


if __name__ == "__main__":
    run(one_pass, pad, pad_fixed)
