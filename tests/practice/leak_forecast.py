# SPDX-License-Identifier: Apache-2.0
"""A waterworks guesses tomorrow's night flow in its districts, and how sure it is: a net whose dropout stays on is asked many times."""

import torch
from torch import nn

from common import run

DISTRICTS, DAYS, LOOK_BACK = 24, 60, 14
EPOCHS, ASKED = 3, 15


class Forecaster(nn.Module):
    def __init__(self, width=96, drop=0.2):
        super().__init__()
        self.enter = nn.Linear(LOOK_BACK, width)
        self.middle = nn.Linear(width, width)
        self.leave = nn.Linear(width, 1)
        self.drop = nn.Dropout(drop)

    def forward(self, days):
        hidden = self.drop(torch.relu(self.enter(days)))
        hidden = self.drop(torch.relu(self.middle(hidden)))
        return self.leave(hidden).squeeze(-1)


def night_flows(draw):
    """Litres a second by district and day, with a leak here and there that grows."""
    base = 2 + 6 * torch.rand(DISTRICTS, 1, generator=draw)
    week = torch.sin(2 * torch.pi * torch.arange(DAYS) / 7 + torch.rand(DISTRICTS, 1, generator=draw))
    flows = base + 0.4 * week + 0.2 * torch.randn(DISTRICTS, DAYS, generator=draw)
    leaky = torch.rand(DISTRICTS, 1, generator=draw) < 0.3
    start = torch.randint(30, DAYS, (DISTRICTS, 1), generator=draw)
    growth = 0.15 * (torch.arange(DAYS) - start).clamp(min=0)
    return flows + leaky * growth, leaky.squeeze(1)


def windows(flows):
    """All stretches of two weeks, and the night after each."""
    stretched = flows.unfold(1, LOOK_BACK + 1, 1).reshape(-1, LOOK_BACK + 1)
    return stretched[:, :-1], stretched[:, -1]


def train(net, inputs, wanted, draw):
    optimizer = torch.optim.AdamW(net.parameters(), lr=2e-3)
    loss_of = nn.HuberLoss()
    for _ in range(EPOCHS):
        for chosen in torch.randperm(len(inputs), generator=draw).split(128):
            optimizer.zero_grad()
            loss = loss_of(net(inputs[chosen]), wanted[chosen])
            loss.backward()
            optimizer.step()
    return loss.item()


class Asked:
    """Running mean and spread of the answers, so that they needn't be kept."""

    def __init__(self, like):
        self.count = 0
        self.mean = torch.zeros_like(like)
        self.square = torch.zeros_like(like)

    def add(self, answer):
        self.count += 1
        step = answer - self.mean
        self.mean += step / self.count
        self.square += step * (answer - self.mean)

    def spread(self):
        return torch.sqrt(self.square / (self.count - 1))


@torch.no_grad()
def ask(net, inputs, like):
    """The net stays in training mode: each answer leaves other cells out."""
    asked = Asked(like)
    for _ in range(ASKED):
        asked.add(net(inputs))
    return asked


def one_pass(number, step):
    torch.manual_seed(number)
    draw = torch.Generator().manual_seed(number)
    flows, leaky = night_flows(draw)
    middle, spread = flows[:, :30].mean(), flows[:, :30].std()
    inputs, wanted = windows((flows - middle) / spread)
    net = Forecaster()
    loss = train(net, inputs, wanted, draw)
    asked = ask(net, inputs, wanted)
    unsure = asked.spread()
    odd = ((wanted - asked.mean).abs() > 4 * unsure).reshape(DISTRICTS, -1).float().mean(dim=1)
    return loss, float(unsure.mean()), float(odd[leaky].sum()), float(odd[~leaky].sum())


if __name__ == "__main__":
    run(one_pass)
