# SPDX-License-Identifier: Apache-2.0
"""Which museum pieces look like the visitors' photographs: search by embedding, then by patches."""

import torch
import torch.nn.functional as F

from common import run

PIECES, WIDTH = 4000, 128
PATCHES, PATCH_WIDTH = 12, 48
SHORTLIST = 30


def make_museum(seed):
    rng = torch.Generator().manual_seed(seed)
    gallery = torch.randn(PIECES, WIDTH, generator=rng) * (0.5 + torch.rand(PIECES, 1, generator=rng))
    patches = F.normalize(torch.randn(PIECES, PATCHES, PATCH_WIDTH, generator=rng), dim=2)
    return rng, gallery, patches


def photographs(rng, gallery, patches, count):
    shown = torch.randint(0, PIECES, (count,), generator=rng)
    noise = torch.randn(count, WIDTH, generator=rng)
    views = patches[shown] + 0.2 * torch.randn(count, PATCHES, PATCH_WIDTH, generator=rng)
    return shown, gallery[shown] + 0.6 * noise, F.normalize(views, dim=2)


def patch_score(view, candidates):
    likeness = torch.einsum("pw,nqw->npq", view, candidates)
    there = likeness.amax(dim=2).mean(dim=1)
    back = likeness.amax(dim=1).mean(dim=1)
    return there + back


def search(gallery, patches, queries, views):
    answers = []
    for query, view in zip(queries, views):
        scores = F.normalize(gallery, dim=1) @ F.normalize(query, dim=0)
        best = scores.topk(SHORTLIST)
        fine = patch_score(view, patches[best.indices]) + best.values
        answers.append(best.indices[fine.argsort(descending=True)[:5]])
    return torch.stack(answers)


def search_fixed(gallery, patches, queries, views):
    answers = []
    unit = F.normalize(gallery, dim=1)
    for query, view in zip(queries, views):
        scores = unit @ F.normalize(query, dim=0)
        best = scores.topk(SHORTLIST)
        fine = patch_score(view, patches[best.indices]) + best.values
        answers.append(best.indices[fine.argsort(descending=True)[:5]])
    return torch.stack(answers)


def one_pass(number, find):
    rng, gallery, patches = make_museum(number)
    shown, queries, views = photographs(rng, gallery, patches, 200)
    answers = find(gallery, patches, queries, views)
    first = int((answers[:, 0] == shown).sum())
    among = int((answers == shown[:, None]).any(dim=1).sum())
    return first, among, answers[:, 0].tolist()


if __name__ == "__main__":
    torch.set_num_threads(1)
    run(one_pass, search, search_fixed)
