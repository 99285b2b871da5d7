# SPDX-License-Identifier: Apache-2.0
"""A lens maker bends four surfaces until rays from far away meet in a point: descent whose step is decided by the errors measured."""

import torch

from common import run

RAYS, ROUNDS = 300, 14
INDEX = (1.0, 1.62, 1.0, 1.52, 1.0)


class Lens:
    """Curvatures to be found; thicknesses and the place of the plate are given."""

    def __init__(self, generator):
        self.bends = torch.tensor([0.012, -0.008, 0.004, -0.011]) + 0.002 * torch.randn(4, generator=generator)
        self.gaps = 2.0 + 3.0 * torch.rand(4, generator=generator)
        self.plate = 70.0 + 10.0 * torch.rand(1, generator=generator)

    def trace(self, bends, heights, angles):
        """Heights at the plate, by refraction at each surface with a term of the third order."""
        height, angle = heights, angles
        for at in range(4):
            before, after = INDEX[at], INDEX[at + 1]
            slope = height * bends[at]
            slope = slope + slope**3 / 6
            angle = (before * angle - (after - before) * slope) / after
            angle = angle - 0.02 * angle**3
            height = height + self.gaps[at] * angle
        return height + self.plate * angle


def beams(generator):
    heights = 12 * (torch.rand(RAYS, generator=generator) - 0.5)
    fields = torch.randint(0, 3, (RAYS,), generator=generator)
    return heights, 0.03 * fields, fields


class Bench:
    def __init__(self, lens):
        self.lens = lens
        self.step = 1e-6
        self.tried = 0

    def light(self, heights, angles, fields):
        """Other rays for each round, so that none is favoured."""
        self.rays = heights, angles
        self.fields = torch.nn.functional.one_hot(fields, 3).float()
        self.counts = self.fields.sum(dim=0).clamp(min=1)

    def error(self, bends):
        """Spread of each field's spot, and how far the middle one lies from the axis."""
        spots = self.lens.trace(bends, *self.rays)
        middles = spots @ self.fields / self.counts
        spread = (spots - self.fields @ middles) ** 2
        return spread.mean() + 0.05 * middles[0] ** 2 + 40 * (bends**2).sum()

    def descend(self):
        """One round: the step is halved until the error falls enough, and doubled for the next."""
        bends = self.lens.bends.clone().requires_grad_()
        error = self.error(bends)
        (slope,) = torch.autograd.grad(error, bends)
        now, steep = error.item(), slope.square().sum().item()
        with torch.no_grad():
            while self.step > 1e-12:
                self.tried += 1
                bent = bends - self.step * slope
                then = self.error(bent).item()
                if then <= now - 0.3 * self.step * steep:
                    self.lens.bends = bent
                    self.step *= 2
                    return now - then
                self.step /= 2
        return 0.0


def one_pass(number, step):
    torch.set_num_threads(1)
    torch.manual_seed(number)
    generator = torch.Generator().manual_seed(number)
    rows = []
    for order in range(2):
        bench, gains = Bench(Lens(generator)), []
        for _ in range(ROUNDS):
            bench.light(*beams(generator))
            gains.append(bench.descend())
        rows.append((sum(gains), bench.tried, bench.lens.bends.tolist()))
    return rows


if __name__ == "__main__":
    run(one_pass)
