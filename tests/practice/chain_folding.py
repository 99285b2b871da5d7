# SPDX-License-Identifier: Apache-2.0
"""Chains of beads fold while they cool: forces by automatic differentiation, fresh kicks at each step, and the tightest shapes kept."""

import torch

from common import run

torch.set_num_threads(1)

BEADS = 36
CHAINS = 4
STEPS = 70


class Energy:
    """Springs along the chain, stiffness at each bead, and pulls between beads that like one another."""

    def __init__(self, kinds):
        first, second = torch.triu_indices(BEADS, BEADS, offset=3)
        self.first, self.second = first, second
        self.pulls = 0.8 + 1.6 * (kinds[:, first] * kinds[:, second])

    def __call__(self, places):
        bonds = places[:, 1:] - places[:, :-1]
        lengths = bonds.norm(dim=2)
        straight = (bonds[:, 1:] * bonds[:, :-1]).sum(dim=2) / (lengths[:, 1:] * lengths[:, :-1])
        away = places[:, self.first] - places[:, self.second]
        near = 1 / (away.square().sum(dim=2) + 0.4)
        cubes = near**3
        springs = 40 * (lengths - 1).square().sum(dim=1)
        stiff = (1 - straight).sum(dim=1)
        contacts = (cubes * (cubes - self.pulls)).sum(dim=1)
        return springs + stiff + contacts


class Bath:
    def __init__(self, energy, generator, step=2e-3):
        self.energy = energy
        self.generator = generator
        self.step = step

    def push(self, places, warmth):
        """One step of Langevin's: down the slope, and a kick by chance."""
        places.requires_grad_(True)
        energies = self.energy(places)
        (slope,) = torch.autograd.grad(energies.sum(), places)
        kick = torch.randn(places.shape, generator=self.generator)
        with torch.no_grad():
            places = places - self.step * slope.clamp(-60, 60) + (2 * self.step * warmth) ** 0.5 * kick
        return places, energies.detach()


class Folding:
    def __init__(self, bath, places):
        self.bath = bath
        self.places = places
        self.best = torch.full((CHAINS,), float("inf"))
        self.shapes = places.clone()

    def cool(self, steps, hot=1.5, cold=0.1):
        for at in range(steps):
            before = self.places
            self.places, energies = self.bath.push(before, hot * (cold / hot) ** (at / steps))
            better = energies < self.best
            self.best = torch.where(better, energies, self.best)
            self.shapes[better] = before.detach()[better]
        return self.best

    def width(self):
        middle = self.shapes.mean(dim=1, keepdim=True)
        return (self.shapes - middle).square().sum(dim=2).mean(dim=1).sqrt()


def one_pass(number, _):
    generator = torch.Generator().manual_seed(number)
    kinds = (torch.rand(CHAINS, BEADS, generator=generator) < 0.5).float()
    steps = torch.nn.functional.normalize(torch.randn(CHAINS, BEADS, 3, generator=generator) + torch.tensor([1.5, 0, 0]), dim=2)
    folding = Folding(Bath(Energy(kinds), generator), steps.cumsum(dim=1))
    best = folding.cool(STEPS)
    return [round(value, 3) for value in best.tolist()], float(folding.width().mean())


if __name__ == "__main__":
    run(one_pass, None)
