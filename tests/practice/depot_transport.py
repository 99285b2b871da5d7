# SPDX-License-Identifier: Apache-2.0
"""Which depot serves which shop: a smoothed transport plan is balanced by turns until stocks and wants agree, day by day."""

import torch

from common import run

DEPOTS, SHOPS, DAYS = 50, 320, 8
SMOOTH, CLOSE, MOST = 0.025, 1e-6, 600


def costs(generator):
    """Road kilometres, a toll for crossing the river, in parts of the dearest way."""
    depots = torch.rand(DEPOTS, 2, generator=generator, dtype=torch.float64)
    shops = torch.rand(SHOPS, 2, generator=generator, dtype=torch.float64)
    ways = torch.cdist(depots, shops, p=1)
    river = (depots[:, :1] < 0.5) != (shops[None, :, 0] < 0.5)
    ways = ways + 0.2 * river
    return ways / ways.max()


def day(generator):
    """Shares of the day's goods: what depots have, what shops want."""
    stock = torch.rand(DEPOTS, generator=generator, dtype=torch.float64) + 0.2
    wants = -torch.log(torch.rand(SHOPS, generator=generator, dtype=torch.float64)) + 0.05
    return stock / stock.sum(), wants / wants.sum()


class Planner:
    def __init__(self, ways):
        self.ways = ways
        self.kernel = torch.exp(-ways / SMOOTH)
        self.back = self.kernel.T.contiguous()
        self.rounds = 0

    def balance(self, stock, wants):
        """Weights of rows and columns in turn, until the rows are right too."""
        rows = torch.ones_like(stock)
        for turn in range(MOST):
            columns = wants / (self.back @ rows)
            reached = self.kernel @ columns
            if turn % 10 == 9 and float((rows * reached - stock).abs().sum()) < CLOSE:
                break
            rows = stock / reached
        self.rounds += turn + 1
        return rows[:, None] * self.kernel * columns

    def rounded(self, plan, stock, wants):
        """The plan made exact: rows and columns are cut, and the rest is spread over what is missing."""
        plan = plan * (stock / plan.sum(dim=1)).clamp(max=1.0)[:, None]
        plan = plan * (wants / plan.sum(dim=0)).clamp(max=1.0)
        short, open_wants = stock - plan.sum(dim=1), wants - plan.sum(dim=0)
        rest = short.sum()
        return plan + torch.outer(short, open_wants) / rest if rest > 1e-12 else plan

    def cost(self, plan):
        return float((plan * self.ways).sum())


def tours(plan, load=0.004):
    """Full lorries of each depot, and how many shops it serves with more than a tenth of one."""
    lorries = torch.ceil(plan.sum(dim=1) / load)
    served = (plan > 0.1 * load).sum(dim=1)
    return int(lorries.sum()), int(served.max()), int(served.min())


def one_pass(number, step):
    torch.set_num_threads(1)
    generator = torch.Generator().manual_seed(number)
    planner = Planner(costs(generator))
    rows = []
    for _ in range(DAYS):
        stock, wants = day(generator)
        plan = planner.rounded(planner.balance(stock, wants), stock, wants)
        rows.append((planner.cost(plan), float((plan.sum(dim=0) - wants).abs().max()), *tours(plan)))
    return rows, planner.rounds


if __name__ == "__main__":
    run(one_pass)
