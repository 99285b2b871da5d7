# SPDX-License-Identifier: Apache-2.0
"""Prior art of new patents: texts are hashed into vectors, the nearest of the archive are asked twice, with feedback, and judged by their classes."""

import zlib

import torch
from torch import nn

from common import run

torch.set_num_threads(1)

ARCHIVE = 3000
WIDTH = 48
SLOTS = 1024
CLASSES = 20
NEAR = 10
DISCOUNT = 1 / torch.log2(torch.arange(NEAR) + 2.0)
WORDS = ["%s%s" % (head, tail) for head in "valve rotor lens beam pump gear coil gate lock seal".split() for tail in "ed ing er less ful ist ary".split()]


class Hasher(nn.Module):
    """Words and pairs of words go to slots of one table; a text is the mean of its slots."""

    def __init__(self):
        super().__init__()
        self.table = nn.EmbeddingBag(SLOTS, WIDTH, mode="mean")

    def slots(self, words):
        pairs = [first + " " + second for first, second in zip(words, words[1:])]
        return [zlib.crc32(gram.encode()) % SLOTS for gram in words + pairs]

    @torch.no_grad()
    def forward(self, texts):
        flat, starts = [], []
        for words in texts:
            starts.append(len(flat))
            flat += self.slots(words)
        return nn.functional.normalize(self.table(torch.tensor(flat), torch.tensor(starts)), dim=1)


class Archive:
    def __init__(self, vectors, classes):
        self.vectors = vectors
        self.classes = classes

    def nearest(self, asked):
        scores = asked @ self.vectors.T
        order = torch.argsort(scores, dim=1, descending=True)[:, :NEAR]
        return order, scores.gather(1, order)

    def search(self, asked, rounds=2, trust=0.4):
        """Rocchio's way: what was found pulls the question towards itself."""
        for turn in range(rounds):
            found, scores = self.nearest(asked)
            if turn + 1 < rounds:
                weights = torch.softmax(8 * scores, dim=1)
                pull = torch.einsum("qk,qkw->qw", weights, self.vectors[found])
                asked = nn.functional.normalize((1 - trust) * asked + trust * pull, dim=1)
        return found, scores


class ArchiveFixed(Archive):
    def nearest(self, asked):
        scores, order = torch.topk(asked @ self.vectors.T, NEAR, dim=1)
        return order, scores


def judge(archive, found, truth):
    """Gain of each list by the places where the asked text's class stands."""
    hit = (archive.classes[found] == truth[:, None]).float()
    return float((hit * DISCOUNT).sum() / DISCOUNT.sum() / len(found)), float(hit.any(dim=1).float().mean())


def make_texts(generator, count):
    """Texts of a class use its own words more."""
    classes = torch.randint(CLASSES, (count,), generator=generator)
    picks = torch.randint(len(WORDS), (count, 12), generator=generator)
    own = torch.rand(count, 12, generator=generator) < 0.6
    picks = torch.where(own, (picks % 7 + 7 * classes[:, None]) % len(WORDS), picks)
    return [[WORDS[at] for at in row] for row in picks.tolist()], classes


def one_pass(number, make_archive):
    generator = torch.Generator().manual_seed(number)
    torch.manual_seed(number)
    hasher = Hasher()
    vectors = nn.functional.normalize(torch.randn(ARCHIVE, WIDTH, generator=generator), dim=1)
    texts, classes = make_texts(generator, 400)
    vectors[:400] = hasher(texts)
    archive = make_archive(vectors, torch.cat((classes, torch.randint(CLASSES, (ARCHIVE - 400,), generator=generator))))
    marks = []
    for _ in range(6):
        texts, truth = make_texts(generator, 24)
        found, scores = archive.search(hasher(texts))
        marks.append((*judge(archive, found, truth), float(scores.sum())))
    return marks


if __name__ == "__main__":
    run(one_pass, Archive, ArchiveFixed)
