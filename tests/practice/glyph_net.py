# SPDX-License-Identifier: Apache-2.0
"""Learns to read noisy seven-segment digits with a small net and full-batch steps, until it is good enough."""

import torch
from torch import nn

from common import run

torch.set_num_threads(1)
SEGMENTS = ("1110111", "0010010", "1011101", "1011011", "0111010", "1101011", "1101111", "1010010", "1111111", "1111011")
LIT = torch.tensor([[float(c) for c in row] for row in SEGMENTS])


def shown(generator, many):
    """Pictures of 7 segments, each seen by four cells of differing sensitivity, with noise."""
    digit = torch.randint(0, 10, (many,), generator=generator)
    gain = 0.6 + 0.8 * torch.rand(7, 4, generator=generator)
    cells = LIT[digit][:, :, None] * gain
    cells = cells + 0.35 * torch.randn(many, 7, 4, generator=generator)
    return cells.flatten(1), digit


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(28, 40)
        self.second = nn.Linear(40, 24)
        self.last = nn.Linear(24, 10)

    def forward(self, cells):
        hidden = torch.relu(self.first(cells))
        return self.last(torch.tanh(self.second(hidden)))


def accuracy(net, cells, digit):
    with torch.no_grad():
        return (net(cells).argmax(dim=1) == digit).float().mean().item()


def learn(net, cells, digit, seen, truth):
    """The same pictures at each step, with other weights each time; stops on pictures held back."""
    optimizer = torch.optim.Adam(net.parameters(), lr=0.02, weight_decay=1e-4)
    best, stale, steps = 0.0, 0, 0
    while stale < 4 and steps < 120:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(cells), digit)
        loss.backward()
        optimizer.step()
        steps += 1
        if steps % 10 == 0:
            now = accuracy(net, seen, truth)
            best, stale = (now, 0) if now > best else (best, stale + 1)
    return best, steps


def confusion(net, cells, digit):
    with torch.no_grad():
        guess = net(cells).argmax(dim=1)
    return torch.bincount(digit * 10 + guess, minlength=100).reshape(10, 10)


def one_pass(number, step):
    torch.manual_seed(number)
    generator = torch.Generator().manual_seed(number)
    cells, digit = shown(generator, 800)
    train, held, last = slice(0, 400), slice(400, 600), slice(600, 800)
    net = Net()
    best, steps = learn(net, cells[train], digit[train], cells[held], digit[held])
    table = confusion(net, cells[last], digit[last])
    wrong = table - torch.diag(table.diagonal())
    return best, steps, int(wrong.argmax()), int(wrong.sum())


if __name__ == "__main__":
    run(one_pass)
