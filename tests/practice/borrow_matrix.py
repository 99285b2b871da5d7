# SPDX-License-Identifier: Apache-2.0
"""Which books of a library are borrowed with which: loans as a sparse matrix, one report a reader."""

import numpy as np
from scipy import sparse

from common import run

SHELVES = 24


def make_loans(rng, readers, books):
    count = readers * 25
    rows = rng.integers(0, readers, count)
    columns = (books * rng.beta(1.2, 3, count)).astype(int)
    times = rng.integers(1, 4, count)
    return sparse.csr_matrix((times, (rows, columns)), shape=(readers, books))


def neighbours(loans, keep=30):
    """For each book, those that share the most readers."""
    together = (loans.T @ loans).tocsr()
    together.setdiag(0)
    near = []
    for book in range(together.shape[0]):
        low, high = together.indptr[book], together.indptr[book + 1]
        order = np.lexsort((together.indices[low:high], -together.data[low:high]))[:keep]
        near.append(together.indices[low:high][order])
    return near


def shelf_profile(loans, reader, shelves):
    profile = np.zeros(SHELVES)
    for book in range(loans.shape[1]):
        profile[shelves[book]] += loans[reader, book]
    return profile


def shelf_profile_fixed(loans, reader, shelves):
    row = loans[reader].toarray()[0]
    return np.bincount(shelves, weights=row, minlength=SHELVES)


def suggest(loans, near, reader, profile, shelves):
    owned = loans[reader].indices
    score = {}
    for book in owned:
        for rank, other in enumerate(near[book]):
            score[other] = score.get(other, 0) + profile[shelves[other]] / (2 + rank)
    for book in owned:
        score.pop(book, None)
    return sorted(score, key=lambda book: (-score[book], book))[:5]


def one_pass(number, profile_of):
    rng = np.random.default_rng(number)
    loans = make_loans(rng, 1200, 500)
    shelves = rng.integers(0, SHELVES, loans.shape[1])
    near = neighbours(loans)
    lines = []
    for reader in rng.choice(loans.shape[0], 5, replace=False):
        profile = profile_of(loans, reader, shelves)
        books = suggest(loans, near, reader, profile, shelves)
        lines.append([int(profile.argmax()), float(profile.max()), *map(int, books)])
    return lines


if __name__ == "__main__":
    run(one_pass, shelf_profile, shelf_profile_fixed)
