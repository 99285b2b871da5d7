# SPDX-License-Identifier: Apache-2.0
"""Where a tracer in a river network came from: landweber steps on a sparse transport matrix."""

import numpy as np
from scipy import sparse

from common import run


def make_transport(rng, cells):
    downstream = np.minimum(np.arange(cells) + rng.integers(1, 40, cells), cells - 1)
    stay = rng.uniform(0.3, 0.6, cells)
    rows = np.concatenate([np.arange(cells), downstream])
    columns = np.concatenate([np.arange(cells), np.arange(cells)])
    values = np.concatenate([stay, 1 - stay])
    return sparse.csr_matrix((values, (rows, columns)), shape=(cells, cells))


def make_case(rng, cells):
    source = np.zeros(cells)
    source[rng.integers(0, cells, 12)] = rng.gamma(3, 2, 12)
    return source


def smooth(field):
    inner = 0.25 * field[:-2] + 0.5 * field[1:-1] + 0.25 * field[2:]
    return np.concatenate([field[:1], inner, field[-1:]])


def trace(transport, seen, rounds, pace=0.4):
    guess = np.zeros(len(seen))
    misfits = []
    for _ in range(rounds):
        misfit = seen - transport @ (transport @ guess)
        pull = transport.T.tocsr()
        guess = guess + pace * (pull @ (pull @ misfit))
        guess = np.maximum(smooth(guess), 0)
        misfits.append(float(np.sqrt(misfit @ misfit)))
    return guess, misfits


def trace_fixed(transport, seen, rounds, pace=0.4):
    guess = np.zeros(len(seen))
    misfits = []
    pull = transport.T.tocsr()
    for _ in range(rounds):
        misfit = seen - transport @ (transport @ guess)
        guess = guess + pace * (pull @ (pull @ misfit))
        guess = np.maximum(smooth(guess), 0)
        misfits.append(float(np.sqrt(misfit @ misfit)))
    return guess, misfits


def one_pass(number, solve):
    rng = np.random.default_rng(number)
    transport = make_transport(rng, 20_000)
    found = []
    for _ in range(3):
        source = make_case(rng, transport.shape[0])
        seen = transport @ (transport @ source) + rng.normal(0, 0.01, len(source))
        guess, misfits = solve(transport, seen, 25)
        found += [float(guess.sum()), int(guess.argmax()), misfits[-1]]
    return found


if __name__ == "__main__":
    run(one_pass, trace, trace_fixed)
