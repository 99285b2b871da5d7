# SPDX-License-Identifier: Apache-2.0
"""Trains a net on two spirals: a plain loop with mini-batches, dropout and weight decay."""

import math

import torch
from torch import nn

from common import run

torch.set_num_threads(1)


def make_spirals(count):
    label = torch.arange(count) % 2
    turn = torch.rand(count) * 3 * math.pi + 0.5
    angle = turn + label * math.pi
    points = torch.stack([turn * torch.cos(angle), turn * torch.sin(angle)], dim=1) / 10
    return points + 0.02 * torch.randn(count, 2), label


class Net(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.first = nn.Linear(2, width)
        self.second = nn.Linear(width, width)
        self.last = nn.Linear(width, 2)
        self.drop = nn.Dropout(0.05)

    def forward(self, points):
        hidden = torch.tanh(self.first(points))
        hidden = self.drop(torch.tanh(self.second(hidden)))
        return self.last(hidden)


def train_epoch(net, optimizer, points, labels, batch=64):
    net.train()
    total = torch.zeros(())
    order = torch.randperm(len(points))
    for picked in order.split(batch):
        loss = nn.functional.cross_entropy(net(points[picked]), labels[picked])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.detach()
    return total


@torch.no_grad()
def evaluate(net, points, labels):
    net.eval()
    return int((net(points).argmax(1) == labels).sum())


def one_pass(number, _):
    torch.manual_seed(number)
    points, labels = make_spirals(768)
    held_points, held_labels = make_spirals(256)
    net = Net()
    optimizer = torch.optim.AdamW(net.parameters(), lr=0.01)
    history = []
    for _ in range(16):
        loss = train_epoch(net, optimizer, points, labels)
        history.append((float(loss), evaluate(net, held_points, held_labels)))
    return history


if __name__ == "__main__":
    run(one_pass)
