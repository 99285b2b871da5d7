# SPDX-License-Identifier: Apache-2.0
"""Listens to bee hives: what is heard when bees pass goes in batches through a small net that tells calm from swarming."""

import numpy as np
import torch
from torch import nn

from runner import run

HIVES = 6
WINDOW = 256
PASSING = 120
BATCH = 32
SECONDS = 12
RATE = 2000


def hum(rng, calm):
    """The sound of one hive as its microphone gives it, and when bees pass its gate."""
    time = np.arange(SECONDS * RATE) / RATE
    pitch = 230 if calm else 300 + 60 * rng.random()
    sound = np.sin(2 * np.pi * pitch * time + rng.random()) + 0.3 * rng.standard_normal(time.size)
    return sound.astype(np.float32), np.sort(rng.integers(0, sound.size - WINDOW, PASSING)).tolist()


class Listener:
    def __init__(self, hives):
        self.net = nn.Sequential(
            nn.Conv1d(1, 8, 16, stride=4),
            nn.ReLU(),
            nn.Conv1d(8, 12, 8, stride=2),
            nn.ReLU(),
            nn.AdaptiveAvgPool1d(4),
            nn.Flatten(),
            nn.Linear(48, 2),
        ).eval()
        self.hives = hives

    def windows(self, sound, passing):
        """The sound while a bee passes, each time made equally loud, in batches."""
        batch = []
        for start in passing:
            window = sound[start : start + WINDOW]
            window = window - window.mean()
            batch.append(window / (np.abs(window).max() + 1e-6))
            if len(batch) == BATCH:
                yield batch
                batch = []
        if batch:
            yield batch

    def tensor(self, batch):
        return torch.tensor(batch)

    def listen(self, sound, passing):
        scores = [self.net(self.tensor(batch).unsqueeze(1)) for batch in self.windows(sound, passing)]
        return torch.cat(scores).softmax(dim=1)[:, 1]

    def report(self):
        for name, (sound, passing) in self.hives.items():
            unrest = self.listen(sound, passing)
            calmest = int(unrest.argmin())
            yield name, float(unrest.mean()), float(unrest.max()), calmest


class ListenerFixed(Listener):
    def tensor(self, batch):
        return torch.from_numpy(np.stack(batch))


@torch.no_grad()
def one_pass(number, step):
    rng = np.random.default_rng(number)
    torch.manual_seed(number)
    hives = {"hive %d" % hive: hum(rng, rng.random() < 0.7) for hive in range(HIVES)}
    return list(step(hives).report())


if __name__ == "__main__":
    run(one_pass, Listener, ListenerFixed)
