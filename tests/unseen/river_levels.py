# SPDX-License-Identifier: Apache-2.0
"""Levels of a river's gauges for the coming day: a small net learns last week's and runs on with the rain to come."""

import math

import torch
from torch import nn

from runner import run

GAUGES, BEHIND, AHEAD = 12, 60, 24


def weather(source):
    """Rain and thaw at each gauge, hour by hour, in showers that pass from one gauge to the next."""
    hours = BEHIND + AHEAD
    fell = torch.rand(hours + GAUGES, generator=source, dtype=torch.float64) ** 8 * 9
    rain = torch.stack([fell[GAUGES - gauge : GAUGES - gauge + hours] for gauge in range(GAUGES)])
    warm = torch.sin(torch.arange(hours, dtype=torch.float64) * (2 * math.pi / 24))
    thaw = (0.3 * warm + 0.1 * torch.randn((GAUGES, hours), generator=source, dtype=torch.float64)).clamp(min=0)
    return torch.stack([rain, thaw], dim=2)


def flow(poured, source):
    """What the gauges would show: a store at each, emptied the faster the fuller, into the next one."""
    store = 1 + torch.rand(GAUGES, generator=source, dtype=torch.float64)
    leak = 0.05 + 0.1 * torch.rand(GAUGES, generator=source, dtype=torch.float64)
    gain = poured.sum(dim=2) * 0.2
    shown = []
    for hour in range(poured.shape[1]):
        out = leak * store**1.3
        store = store + gain[:, hour] - out
        store[1:] += 0.3 * out[:-1]
        shown.append(store.sqrt())
    return torch.stack(shown, dim=1)


def learn(gru, head, record, rounds):
    """One hour ahead all along the record."""
    weights = [*gru.parameters(), *head.parameters()]
    steps = torch.optim.Adam(weights, lr=0.02)
    wanted = record[:, 1:, 0]
    for _ in range(rounds):
        steps.zero_grad()
        hidden, _ = gru(record[:, :-1])
        loss = nn.functional.mse_loss(head(hidden).squeeze(2), wanted)
        loss.backward()
        nn.utils.clip_grad_norm_(weights, 1.0)
        steps.step()
    return float(loss.detach())


def forecaster(gru, head):
    def ahead(record, coming):
        levels = []
        for hour in range(coming.shape[1]):
            hidden, _ = gru(record)
            level = head(hidden[:, -1])
            levels.append(level)
            row = torch.cat([level, coming[:, hour]], dim=1)
            record = torch.cat([record, row[:, None]], dim=1)
        return torch.cat(levels, dim=1)

    return ahead


def forecaster_fixed(gru, head):
    def ahead(record, coming):
        levels, memory = [], None
        for hour in range(coming.shape[1]):
            hidden, memory = gru(record, memory)
            level = head(hidden[:, -1])
            levels.append(level)
            row = torch.cat([level, coming[:, hour]], dim=1)
            record = row[:, None]
        return torch.cat(levels, dim=1)

    return ahead


def warnings(levels, known):
    """Hours above each gauge's high mark, and when the crest passes it."""
    marks = torch.quantile(known, 0.8, dim=1, keepdim=True)
    return (levels > marks).sum(dim=1).tolist(), levels.argmax(dim=1).tolist()


def one_pass(number, forecasting):
    torch.manual_seed(number)
    source = torch.Generator().manual_seed(1_000 + number)
    poured = weather(source)
    shown = flow(poured, source)
    record = torch.cat([shown[:, :, None], poured], dim=2)
    gru = nn.GRU(3, 24, batch_first=True, dtype=torch.float64)
    head = nn.Linear(24, 1, dtype=torch.float64)
    loss = learn(gru, head, record[:, :BEHIND], 5)
    with torch.no_grad():
        levels = forecasting(gru, head)(record[:, :BEHIND], poured[:, BEHIND:])
        off = (levels - shown[:, BEHIND:]).abs().mean(dim=1)
    return loss, off.tolist(), levels[:, -1].tolist(), warnings(levels, shown[:, :BEHIND])


if __name__ == "__main__":
    torch.set_num_threads(1)
    run(one_pass, forecaster, forecaster_fixed)
