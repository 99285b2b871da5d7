# SPDX-License-Identifier: Apache-2.0
"""A village library's advice desk: what readers of the same books took, who asks, and what is laid aside for them."""

import heapq
from collections import Counter

import numpy as np
from scipy import sparse

from common import run

READERS, BOOKS, VISITS = 1_200, 2_500, 60


def loans(rng):
    """Who took what, and how many weeks it was kept; some books are in many hands."""
    count = READERS * 14
    readers = rng.integers(0, READERS, count)
    books = (BOOKS * rng.random(count) ** 1.7).astype(int)
    weeks = rng.integers(1, 7, count)
    table = sparse.csr_matrix((weeks, (readers, books)), shape=(READERS, BOOKS))
    table.sum_duplicates()
    return table


def row(table, at):
    """The numbers and values of one row."""
    found = table[at]
    return found.indices, found.data


def row_fixed(table, at):
    part = slice(table.indptr[at], table.indptr[at + 1])
    return table.indices[part], table.data[part]


class Desk:
    def __init__(self, table, row):
        self.by_reader = table
        self.by_book = table.T.tocsr()
        self.row = row
        self.fame = 1.0 / np.log2(2.0 + np.diff(self.by_book.indptr))
        self.aside = Counter()

    def like_minded(self, reader):
        """Readers of the same books; the rare books weigh more, long loans too."""
        books, weeks = self.row(self.by_reader, reader)
        likeness = Counter()
        for book, kept in zip(books.tolist(), weeks.tolist()):
            others, their_weeks = self.row(self.by_book, book)
            weight = float(self.fame[book]) * min(kept, 4)
            for other, their in zip(others.tolist(), their_weeks.tolist()):
                likeness[other] += weight * min(their, 4)
        del likeness[reader]
        return heapq.nlargest(25, likeness.items(), key=lambda item: (item[1], -item[0])), set(books.tolist())

    def advise(self, reader):
        others, read = self.like_minded(reader)
        scores = Counter()
        for other, likeness in others:
            books, weeks = self.row(self.by_reader, other)
            for book, kept in zip(books.tolist(), weeks.tolist()):
                if book not in read and self.aside[book] < 2:
                    scores[book] += likeness * kept
        best = heapq.nlargest(3, scores.items(), key=lambda item: (item[1], -item[0]))
        self.aside.update(book for book, _ in best)
        return best


def slip(reader, best):
    return "reader %04d: %s" % (reader, ", ".join("book %04d (%.1f)" % pair for pair in best))


def one_pass(number, row):
    rng = np.random.default_rng(number)
    desk = Desk(loans(rng), row)
    slips = []
    for reader in rng.choice(READERS, VISITS, replace=False).tolist():
        slips.append(slip(reader, desk.advise(reader)))
    return len(desk.aside), sum(map(len, slips)), slips[:2], slips[-1]


if __name__ == "__main__":
    run(one_pass, row, row_fixed)
