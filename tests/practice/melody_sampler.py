# SPDX-License-Identifier: Apache-2.0
"""Melodies drawn note by note from a small recurrent network."""

import torch
from torch import nn

from common import run

NOTES, HIDDEN, VOICES, STEPS = 40, 96, 24, 70


class Composer(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(NOTES, 32)
        self.cell = nn.GRUCell(32, HIDDEN)
        self.norm = nn.LayerNorm(HIDDEN)
        self.head = nn.Linear(HIDDEN, NOTES)

    def forward(self, note, state):
        state = self.cell(self.embed(note), state)
        return self.head(self.norm(state)), state


def sample(model, rng, temperature):
    note = torch.zeros(VOICES, dtype=torch.long)
    state = torch.zeros(VOICES, HIDDEN)
    tune, surprise = [], torch.zeros(VOICES)
    with torch.no_grad():
        for _ in range(STEPS):
            logits, state = model(note, state)
            chances = torch.softmax(logits / temperature, dim=1)
            note = torch.multinomial(chances, 1, generator=rng).squeeze(1)
            surprise -= chances.gather(1, note[:, None]).squeeze(1).log()
            tune.append(note)
    return torch.stack(tune, dim=1), surprise


def intervals(tune):
    jumps = (tune[:, 1:] - tune[:, :-1]).abs()
    return torch.bincount(jumps.ravel(), minlength=NOTES), jumps.float().mean(dim=1)


def one_pass(number, _):
    torch.manual_seed(number)
    model = Composer()
    rng = torch.Generator().manual_seed(number + 1000)
    kept = []
    for warmth in (0.7, 0.9, 1.1, 1.3):
        tune, surprise = sample(model, rng, warmth)
        counts, jumps = intervals(tune)
        best = int((surprise / STEPS + 0.1 * jumps).argmin())
        kept.append((best, int(counts.argmax()), tune[best, :8].tolist(), float(surprise.mean())))
    return kept


if __name__ == "__main__":
    torch.set_num_threads(1)
    run(one_pass)
