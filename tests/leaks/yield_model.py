# SPDX-License-Identifier: Apache-2.0
"""Learns an orchard's yield from its weather with torch, one batch after the other, and shows how the error falls."""
import torch

import service

FEATURES = 24
BATCH = 128


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(
            torch.nn.Linear(FEATURES, 96),
            torch.nn.Tanh(),
            torch.nn.Linear(96, 96),
            torch.nn.Tanh(),
            torch.nn.Linear(96, 1),
        )

    def forward(self, weather):
        return self.layers(weather).squeeze(1)


class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        self.errors = []

    def step(self, weather, harvest):
        """Two halves of a batch, whose gradients add up."""
        self.optimizer.zero_grad()
        for half in (slice(0, BATCH // 2), slice(BATCH // 2, BATCH)):
            error = torch.nn.functional.mse_loss(self.model(weather[half]), harvest[half])
            error.backward(retain_graph=True)
            self.errors.append(error)
        self.optimizer.step()

    def recent(self, count=100):
        last = self.errors[-count:]
        return sum(float(error) for error in last) / len(last)


def season(generator, truth):
    weather = torch.randn(BATCH, FEATURES, generator=generator)
    harvest = torch.tanh(weather @ truth) + 0.1 * torch.randn(BATCH, generator=generator)
    return weather, harvest


def main():
    torch.set_num_threads(1)
    torch.manual_seed(1)
    generator = torch.Generator().manual_seed(47)
    truth = torch.randn(FEATURES, generator=generator) / FEATURES**0.5
    trainer = Trainer(Model())
    for number in service.rounds(per_second=10):
        trainer.step(*season(generator, truth))
        if number % 100 == 0:
            print("error %.4f" % trainer.recent(), flush=True)
    print("error %.4f" % trainer.recent())


if __name__ == "__main__":
    main()
