# SPDX-License-Identifier: Apache-2.0
"""Learns to land probes: many at once are flown by the net as it stands, what came of it is reckoned backwards, and the net is moved a little."""

import torch
from torch import nn
from torch.distributions import Categorical

from common import run

PROBES, STEPS, ROUNDS, SEEN = 48, 24, 2, 5
SPREAD, START = torch.tensor([0.2, 0.5, 0.1, 0.1, 0.0]), torch.tensor([2.0, 0.0, 0.0, 0.0, 1.0])


class Probes:
    """Height, drift and speeds of all probes, moved in place; a probe that is down or lost begins anew."""

    def __init__(self, generator, gravity, wind):
        self.generator = generator
        self.gravity, self.wind = gravity, wind
        self.state = torch.zeros(PROBES, SEEN)
        self.begin(torch.ones(PROBES, dtype=torch.bool))
        self.landed = 0

    def begin(self, which):
        fresh = torch.randn(int(which.sum()), SEEN, generator=self.generator)
        self.state[which] = fresh * SPREAD + START

    def step(self, moves):
        height, aside, fall, drift, fuel = self.state.unbind(dim=1)
        fire = (moves == 1) & (fuel > 0)
        fall.add_(0.25 * fire - self.gravity)
        drift.add_(0.12 * ((moves == 2).float() - (moves == 3).float()))
        drift.add_(torch.randn(PROBES, generator=self.generator), alpha=self.wind)
        height.add_(fall, alpha=0.5)
        aside.add_(drift, alpha=0.5)
        fuel.sub_(0.05 * fire)
        down, lost = height <= 0, (aside.abs() > 3) | (height > 4)
        soft = down & (fall > -0.4) & (aside.abs() < 1)
        reward = 2.0 * soft - 1.0 * (down & ~soft) - 1.0 * lost - 0.02 * aside.abs() - 0.01 * fire
        done = down | lost
        self.landed += int(soft.sum())
        self.begin(done)
        return reward, done


class Pilot(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(SEEN, 48), nn.Tanh(), nn.Linear(48, 48), nn.Tanh())
        self.moves, self.worth = nn.Linear(48, 4), nn.Linear(48, 1)

    def forward(self, seen):
        inner = self.body(seen)
        return Categorical(logits=self.moves(inner)), self.worth(inner).squeeze(-1)


class Flight:
    """What was seen, done and gained in one round, in tensors that all rounds share."""

    def __init__(self):
        self.seen = torch.empty(STEPS, PROBES, SEEN)
        self.moves = torch.empty(STEPS, PROBES, dtype=torch.long)
        self.chance, self.worth, self.reward, self.goes_on = (torch.empty(STEPS, PROBES) for _ in range(4))

    @torch.no_grad()
    def fly(self, pilot, probes):
        for at in range(STEPS):
            self.seen[at] = probes.state
            choice, self.worth[at] = pilot(self.seen[at])
            self.moves[at] = choice.sample()
            self.chance[at] = choice.log_prob(self.moves[at])
            self.reward[at], done = probes.step(self.moves[at])
            self.goes_on[at] = ~done
        return pilot(probes.state)[1]

    def gains(self, after, fade=0.98, trust=0.95):
        """Backwards: what a step was better than thought depends on the step after it."""
        kept = fade * self.goes_on
        gains = self.reward + kept * torch.cat([self.worth[1:], after[None]]) - self.worth
        kept *= trust
        for at in reversed(range(STEPS - 1)):
            gains[at].addcmul_(kept[at], gains[at + 1])
        return gains


class Trainer:
    def __init__(self, pilot):
        self.pilot = pilot
        self.optimizer = torch.optim.Adam(pilot.parameters(), lr=2e-3)
        self.losses = []

    def loss(self, seen, moves, chance, gains, wanted):
        choice, worth = self.pilot(seen)
        ratio = (choice.log_prob(moves) - chance).exp()
        gains = (gains - gains.mean()) / (gains.std() + 1e-6)
        better = torch.minimum(ratio * gains, ratio.clamp(0.8, 1.2) * gains).mean()
        return (worth - wanted).square().mean() * 0.5 - better - 0.01 * choice.entropy().mean()

    def learn(self, flight, gains, parts=3):
        rows = [flight.seen, flight.moves, flight.chance, gains, gains + flight.worth]
        rows = [row.flatten(0, 1) for row in rows]
        for _ in range(2):
            for part in torch.randperm(STEPS * PROBES).chunk(parts):
                loss = self.loss(*(row[part] for row in rows))
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                self.losses.append(loss.item())


def one_pass(number, step):
    generator = torch.Generator().manual_seed(number)
    torch.manual_seed(number)
    probes = Probes(generator, 0.05 + 0.01 * (number % 5), 0.01)
    trainer, flight = Trainer(Pilot()), Flight()
    for _ in range(ROUNDS):
        after = flight.fly(trainer.pilot, probes)
        trainer.learn(flight, flight.gains(after))
    return trainer.losses, probes.landed, float(flight.reward.mean())


if __name__ == "__main__":
    torch.set_num_threads(1)
    run(one_pass)
