# SPDX-License-Identifier: Apache-2.0
"""How well the playlists of a music club fit their members' tastes, from sparse play counts."""

import numpy as np
from scipy import sparse

from runner import run

MEMBERS, SONGS = 300, 3_000


def season(seed):
    rng = np.random.default_rng(seed)
    plays = 60_000
    who = rng.integers(0, MEMBERS, plays)
    what = (SONGS * rng.beta(0.8, 3.0, plays)).astype(int)
    counts = sparse.csr_array((np.ones(plays), (who, what)), shape=(MEMBERS, SONGS))
    counts.sum_duplicates()
    lists = [rng.choice(SONGS, rng.integers(20, 60), replace=False) for _ in range(MEMBERS)]
    return counts, lists


def damped(counts):
    heard = counts.copy()
    heard.data = np.log1p(heard.data)
    rarity = np.log(MEMBERS / (1 + np.bincount(counts.indices, minlength=SONGS)))
    return (heard @ sparse.diags_array(rarity)).tocsr()


def neighbours(taste, many):
    length = np.sqrt(taste.multiply(taste).sum(axis=1))
    unit = sparse.diags_array(1 / np.maximum(length, 1e-9)) @ taste
    alike = (unit @ unit.T).toarray()
    np.fill_diagonal(alike, -1)
    return np.argpartition(-alike, many, axis=1)[:, :many]


def known(taste, member, playlist):
    return np.array([taste[member, song] for song in playlist])


def known_fixed(taste, member, playlist):
    return taste[member, playlist].toarray()


def one_pass(number, look_up):
    counts, lists = season(number)
    taste = damped(counts)
    friends = neighbours(taste, 5)
    fits = np.zeros(MEMBERS)
    fresh = 0
    for member, playlist in enumerate(lists):
        own = look_up(taste, member, playlist)
        others = taste[friends[member]].sum(axis=0)[playlist]
        fits[member] = own.mean() + 0.3 * others.mean()
        fresh += int(((own == 0) & (others > 0)).sum())
    return fresh, float(fits.mean()), int(fits.argmax()), np.sort(fits)[-5:].tolist()


if __name__ == "__main__":
    run(one_pass, known, known_fixed)
