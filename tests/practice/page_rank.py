# SPDX-License-Identifier: Apache-2.0
"""Ranks pages of a small web by power iteration on a sparse matrix."""

import numpy as np
from scipy import sparse

from common import run

PAGES = 6000


def make_links(seed):
    rng = np.random.default_rng(seed)
    count = PAGES * 9
    source = rng.integers(0, PAGES, count)
    target = np.minimum(rng.pareto(1.2, count) * 40, PAGES - 1).astype(int)
    target = (target + seed) % PAGES
    return source, target


def transition(source, target):
    links = sparse.coo_matrix((np.ones(len(source)), (target, source)), shape=(PAGES, PAGES)).tocsr()
    out = np.asarray(links.sum(axis=0)).ravel()
    scale = np.divide(1.0, out, out=np.zeros_like(out), where=out > 0)
    return (links @ sparse.diags(scale)).tocsr(), np.flatnonzero(out == 0)


def rank_pages(matrix, dangling, damping=0.9, tolerance=1e-9):
    rank = np.full(PAGES, 1 / PAGES)
    for rounds in range(1, 200):
        lost = rank[dangling].sum()
        after = matrix @ rank
        after += lost / PAGES
        after *= damping
        after += (1 - damping) / PAGES
        moved = np.abs(after - rank).sum()
        rank = after
        if moved < tolerance:
            break
    return rank, rounds


def communities(matrix, rank, size=40):
    top = np.argsort(rank)[-size:]
    block = matrix[top][:, top]
    return int(block.nnz)


def one_pass(number, _):
    results = []
    for site in range(8):
        matrix, dangling = transition(*make_links(number * 8 + site))
        rank, rounds = rank_pages(matrix, dangling)
        results.append((rounds, float(rank.max()), communities(matrix, rank)))
    return results


if __name__ == "__main__":
    run(one_pass)
