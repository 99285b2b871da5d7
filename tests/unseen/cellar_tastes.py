# SPDX-License-Identifier: Apache-2.0
"""A wine merchant's service for similar wines: guests' notes become vectors, and the nearest wines of the cellar are offered."""

import random

import torch
import torch.nn.functional as F

from runner import run

WIDTH = 160
WINES = 900
WORDS = 400


class Tongue:
    """Turns words of a note into one vector."""

    def __init__(self, generator):
        self.table = torch.randn(WORDS, WIDTH, generator=generator)
        self.mix = torch.randn(WIDTH, WIDTH, generator=generator) / WIDTH**0.5

    def vector(self, words):
        rows = self.table[torch.tensor(words)]
        return torch.tanh(2 * rows.mean(dim=0) @ self.mix)


class Cellar:
    def __init__(self, tastes, bottles):
        self.tastes = tastes
        self.bottles = bottles
        self.offered = {}

    def directions(self):
        return F.normalize(self.tastes, dim=1)

    def likeness(self, wanted):
        return self.directions() @ F.normalize(wanted, dim=0)

    def offer(self, wanted, count=6):
        likeness = self.likeness(wanted)
        likeness[self.bottles == 0] = -1.0
        best = likeness.topk(count)
        for wine in best.indices.tolist():
            self.offered[wine] = self.offered.get(wine, 0) + 1
        return best.indices.tolist(), best.values.tolist()

    def sell(self, wine):
        if self.bottles[wine] > 0:
            self.bottles[wine] -= 1

    def taste_again(self, wine, vector):
        self.tastes[wine] = 0.8 * self.tastes[wine] + 0.2 * vector


class CellarFixed(Cellar):
    def __init__(self, tastes, bottles):
        super().__init__(tastes, bottles)
        self.kept = F.normalize(tastes, dim=1)

    def directions(self):
        return self.kept

    def taste_again(self, wine, vector):
        super().taste_again(wine, vector)
        self.kept[wine] = F.normalize(self.tastes[wine], dim=0)


def one_pass(number, step):
    generator = torch.Generator().manual_seed(number)
    rnd = random.Random(number)
    tongue = Tongue(generator)
    cellar = step(torch.randn(WINES, WIDTH, generator=generator), torch.randint(1, 12, (WINES,), generator=generator))
    score, sold = 0.0, []
    for guest in range(260):
        wanted = tongue.vector([rnd.randrange(WORDS) for _ in range(rnd.randint(4, 20))])
        wines, values = cellar.offer(wanted)
        chosen = rnd.choice(wines)
        cellar.sell(chosen)
        sold.append(chosen)
        score += values[0]
        if guest % 20 == 13:
            cellar.taste_again(chosen, wanted)
    return score, sold[-8:], max(cellar.offered.values()), int(cellar.bottles.sum())


if __name__ == "__main__":
    torch.set_num_threads(1)
    with torch.no_grad():
        run(one_pass, Cellar, CellarFixed)
