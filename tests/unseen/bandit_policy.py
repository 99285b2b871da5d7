# SPDX-License-Identifier: Apache-2.0
"""Trains a policy to pick adverts: one fixed view of the page goes in, chances come out, and what is clicked moves the weights."""

import torch
from torch import nn
from torch.distributions import Categorical

from runner import run

ADVERTS = 10
DRAWS = 48


class Policy(nn.Module):
    def __init__(self, inputs, hidden=24):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(inputs, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh())
        self.head = nn.Linear(hidden, ADVERTS)
        self.worth = nn.Linear(hidden, 1)

    def forward(self, view):
        hidden = self.body(view)
        return Categorical(logits=self.head(hidden)), self.worth(hidden).squeeze(-1)


class Page:
    """What visitors like drifts while the policy learns; the view of the page stays."""

    def __init__(self, inputs):
        self.view = torch.randn(inputs)
        self.likes = torch.rand(ADVERTS)

    def clicks(self, shown):
        self.likes = (self.likes + 0.01 * torch.randn(ADVERTS)).clamp(0.02, 0.98)
        return torch.bernoulli(self.likes[shown])


class Trainer:
    def __init__(self, page, policy):
        self.page = page
        self.policy = policy
        self.optimizer = torch.optim.Adam(policy.parameters(), lr=0.01)
        self.rewards = []

    def step(self):
        chances, worth = self.policy(self.page.view)
        shown = chances.sample((DRAWS,))
        clicked = self.page.clicks(shown)
        advantage = clicked - worth.detach()
        gain = (chances.log_prob(shown) * advantage).mean() + 0.01 * chances.entropy()
        loss = (worth - clicked.mean()) ** 2 - gain
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.policy.parameters(), 1.0)
        self.optimizer.step()
        self.rewards.append(clicked.mean().item())

    @torch.no_grad()
    def favourite(self):
        chances, worth = self.policy(self.page.view)
        return int(chances.probs.argmax()), float(worth)


def smooth(values, keep=0.9):
    level = values[0]
    for value in values:
        level = keep * level + (1 - keep) * value
        yield level


def one_pass(number, step):
    torch.manual_seed(number)
    trainer = Trainer(Page(12), Policy(12))
    favourites = []
    for turn in range(24):
        trainer.step()
        if turn % 8 == 7:
            favourites.append(trainer.favourite())
    return favourites, max(smooth(trainer.rewards)), sum(trainer.rewards)


if __name__ == "__main__":
    torch.set_num_threads(1)
    run(one_pass)
