# SPDX-License-Identifier: Apache-2.0
"""A small net learns when peptides leave the column, from the pairs of residues they are made of."""

import torch
from torch import nn
from torch.nn import functional

from common import run

RESIDUES = 20 + 6  # six are those that were modified
PAIRS = RESIDUES * RESIDUES
LENGTH = 24
BATCH = 48


def make_peptides(generator, count):
    """Residues of each peptide, and its time: how greasy it is, its ends more so, with a bend and noise."""
    residues = torch.randint(RESIDUES, (count, LENGTH + 1), generator=generator)
    grease = torch.randn(RESIDUES, generator=generator)
    weight = 1.0 + 0.8 * torch.exp(-torch.arange(LENGTH + 1) / 3.0)
    score = (grease[residues] * weight).mean(dim=1)
    return residues, 20 + 15 * torch.tanh(score) + 0.3 * torch.randn(count, generator=generator)


class PairVectors(nn.Module):
    """A learned vector for each pair of neighbours."""

    def __init__(self, width, generator):
        super().__init__()
        self.table = nn.Parameter(0.2 * torch.randn(PAIRS, width, generator=generator))

    def forward(self, pairs):
        return functional.one_hot(pairs, PAIRS).float() @ self.table


class PairVectorsLooked(PairVectors):
    def forward(self, pairs):
        return functional.embedding(pairs, self.table)


class Retention(nn.Module):
    def __init__(self, vectors, width, generator):
        super().__init__()
        self.vectors = vectors
        self.mix = nn.Conv1d(width, 32, 5, padding=2)
        self.narrow = nn.Conv1d(32, 32, 3, padding=1)
        self.out = nn.Linear(64, 1)
        for weight in (self.mix.weight, self.narrow.weight, self.out.weight):
            with torch.no_grad():
                weight.copy_(0.1 * torch.randn(weight.shape, generator=generator))
        for layer in (self.mix, self.narrow, self.out):
            nn.init.zeros_(layer.bias)

    def forward(self, residues):
        pairs = residues[:, :-1] * RESIDUES + residues[:, 1:]
        signal = self.vectors(pairs).transpose(1, 2)
        signal = functional.gelu(self.mix(signal))
        signal = signal + functional.gelu(self.narrow(signal))
        pooled = torch.cat([signal.mean(dim=2), signal.amax(dim=2)], dim=1)
        return 20 + 10 * self.out(pooled).squeeze(1)


def train(net, residues, times, generator, epochs):
    descent = torch.optim.Adam(net.parameters(), lr=3e-3)
    for _ in range(epochs):
        order = torch.randperm(len(residues), generator=generator)
        for rows in order.split(BATCH):
            loss = functional.smooth_l1_loss(net(residues[rows]), times[rows])
            descent.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 5.0)
            descent.step()


def one_pass(number, make_vectors):
    torch.set_num_threads(1)
    generator = torch.Generator().manual_seed(number)
    residues, times = make_peptides(generator, 10 * BATCH)
    held = 2 * BATCH
    net = Retention(make_vectors(24, generator), 24, generator)
    train(net, residues[held:], times[held:], generator, 2)
    with torch.no_grad():
        wrong = (net(residues[:held]) - times[:held]).abs()
    return round(wrong.mean().item(), 2), round(wrong.quantile(0.9).item(), 1)


if __name__ == "__main__":
    run(one_pass, PairVectors, PairVectorsLooked)
