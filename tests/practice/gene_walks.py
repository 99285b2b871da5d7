# SPDX-License-Identifier: Apache-2.0
"""Genes near those of a disease: lines of a protein network become a sparse matrix, on which walkers with restart start from the known ones."""

import numpy as np
from scipy import sparse

from common import run

GENES = 450
LINES = 1800
PANELS = 14


def make_network(seed):
    """Text as the download has it: two names and a score, the well-known ones often."""
    rng = np.random.default_rng(seed)
    names = ["%s%d" % ("".join(chr(65 + letter) for letter in rng.integers(0, 26, 3)), at) for at in range(GENES)]
    fame = rng.pareto(1.6, GENES) + 0.2
    fame /= fame.sum()
    ends = rng.choice(GENES, (LINES, 2), p=fame)
    text = "\n".join("%s\t%s\t%d" % (names[a], names[b], rng.integers(150, 1000)) for a, b in ends if a != b)
    panels = [[names[at] for at in rng.choice(GENES, 6, replace=False, p=fame)] for _ in range(PANELS)]
    return names, text, panels


class Register:
    """Names in their order, and the row of each."""

    def __init__(self, names):
        self.names = np.array(sorted(names))

    def __len__(self):
        return len(self.names)

    def row(self, name):
        return int(np.flatnonzero(self.names == name)[0])


class RegisterFixed(Register):
    def __init__(self, names):
        super().__init__(names)
        self.rows = {name: row for row, name in enumerate(self.names.tolist())}

    def row(self, name):
        return self.rows[name]


class Network:
    def __init__(self, register, text, threshold=300):
        self.register = register
        rows, columns, scores = [], [], []
        for first, second, score in self.edges(text, threshold):
            rows.append(first)
            columns.append(second)
            scores.append(score)
        half = sparse.coo_matrix((scores, (rows, columns)), shape=(len(register),) * 2)
        both = (half + half.T).tocsr()
        lost = np.maximum(np.asarray(both.sum(axis=0)).ravel(), 1e-12)
        self.moves = (both @ sparse.diags(1 / lost)).tocsr()

    def edges(self, text, threshold):
        for line in text.splitlines():
            first, second, score = line.split("\t")
            if int(score) >= threshold:
                yield self.register.row(first), self.register.row(second), int(score) / 1000

    def walk(self, genes, back=0.3, close=1e-8):
        home = np.zeros(len(self.register))
        home[[self.register.row(gene) for gene in genes]] = 1 / len(genes)
        here = home
        while True:
            there = (1 - back) * (self.moves @ here) + back * home
            if np.abs(there - here).sum() < close:
                return there
            here = there


def candidates(network, genes, count=5):
    chances = network.walk(genes)
    names = network.register.names
    wanted = count + len(genes)
    top = np.argpartition(-chances, wanted)[:wanted]
    ranked = names[top[np.argsort(-chances[top], kind="stable")]].tolist()
    return [name for name in ranked if name not in genes][:count], float(chances.max())


def one_pass(number, make_register):
    names, text, panels = make_network(number)
    network = Network(make_register(names), text)
    return [candidates(network, genes) for genes in panels]


if __name__ == "__main__":
    run(one_pass, Register, RegisterFixed)
