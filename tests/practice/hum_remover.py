# SPDX-License-Identifier: Apache-2.0
"""A small recurrent net takes the hum out of field recordings, block by block; its state goes on from block to block."""

import torch
from torch import nn

from common import run

BLOCK = 48
STATE = 96


class HumCell(nn.Module):
    def __init__(self):
        super().__init__()
        self.enter = nn.Linear(BLOCK, 2 * STATE)
        self.carry = nn.Linear(STATE, 2 * STATE, bias=False)
        self.leave = nn.Linear(STATE, BLOCK)

    def forward(self, block, state):
        gate, fresh = (self.enter(block) + self.carry(state)).chunk(2, dim=-1)
        gate = torch.sigmoid(gate)
        state = gate * state + (1 - gate) * torch.tanh(fresh)
        return block - self.leave(state), state


class Remover:
    def __init__(self, cell, channels):
        self.cell = cell
        self.state = torch.zeros(channels, STATE)
        self.loudness = torch.zeros(channels)
        self.blocks = 0

    def push(self, block):
        level = block.square().mean(dim=1).sqrt()
        self.loudness = 0.95 * self.loudness + 0.05 * level
        scale = self.loudness[:, None] + 1e-3
        clean, self.state = self.cell(block / scale, self.state)
        self.blocks += 1
        return clean * scale


def recording(generator, channels, blocks):
    time = torch.arange(blocks * BLOCK) / 4_800.0
    phase = torch.rand(channels, 1, generator=generator) * 6.28
    hum = 0.4 * torch.sin(2 * torch.pi * 50.0 * time + phase)
    return hum + 0.1 * torch.randn(channels, blocks * BLOCK, generator=generator)


def one_pass(number, step):
    torch.manual_seed(7)
    cell = HumCell()
    generator = torch.Generator().manual_seed(number)
    sound = recording(generator, 6, 260)
    remover = Remover(cell, 6)
    peaks, energy = [], 0.0
    with torch.no_grad():
        for block in sound.split(BLOCK, dim=1):
            clean = remover.push(block)
            energy += float(clean.square().sum())
            peaks.append(float(clean.abs().max()))
    return remover.blocks, energy, max(peaks), float(remover.state.abs().mean())


if __name__ == "__main__":
    torch.set_num_threads(1)
    run(one_pass)
