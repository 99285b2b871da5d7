# SPDX-License-Identifier: Apache-2.0
"""Groups a mail-order firm's customers by what they do (k-means, a few starts), and names the groups for the people of marketing."""

import numpy as np

from runner import run

TRAITS = ("orders", "basket", "returns", "visits", "age", "sale")


def customers(rng, count):
    kinds = rng.normal(0, 2, (5, len(TRAITS)))
    raw = np.exp(0.3 * (kinds[rng.integers(0, 5, count)] + rng.normal(0, 0.7, (count, len(TRAITS)))))
    return np.log(raw)


def scaled(raw):
    low, high = np.percentile(raw, (5, 95), axis=0)
    return np.clip((raw - low) / (high - low), -0.5, 1.5)


def assign(points, centres):
    labels = np.empty(len(points), dtype=np.int64)
    for i in range(len(points)):
        labels[i] = np.argmin(((centres - points[i]) ** 2).sum(axis=1))
    return labels


def assign_fixed(points, centres):
    return np.argmin(((centres[None, :, :] - points[:, None, :]) ** 2).sum(axis=2), axis=1)


class Grouping:
    def __init__(self, points, groups, assign):
        self.points = points
        self.groups = groups
        self.assign = assign
        self.centres = self.labels = None
        self.cost = np.inf

    def start(self, rng):
        """Each centre is drawn by how far it is from those there are."""
        centres = [self.points[rng.integers(len(self.points))]]
        far = ((self.points - centres[0]) ** 2).sum(axis=1)
        while len(centres) < self.groups:
            centres.append(self.points[rng.choice(len(self.points), p=far / far.sum())])
            far = np.minimum(far, ((self.points - centres[-1]) ** 2).sum(axis=1))
        return np.array(centres)

    def settle(self, centres, most=6):
        labels = None
        for _ in range(most):
            fresh = self.assign(self.points, centres)
            if labels is not None and (fresh == labels).all():
                break
            labels = fresh
            sizes = np.bincount(labels, minlength=self.groups)
            sums = np.stack([np.bincount(labels, self.points[:, trait], self.groups) for trait in range(self.points.shape[1])], axis=1)
            centres = np.where(sizes[:, None] > 0, sums / np.maximum(sizes, 1)[:, None], centres)
        return centres, labels

    def fit(self, rng, starts):
        for _ in range(starts):
            centres, labels = self.settle(self.start(rng))
            cost = float(((self.points - centres[labels]) ** 2).sum())
            if cost < self.cost:
                self.centres, self.labels, self.cost = centres, labels, cost
        return self

    def silhouette(self):
        """How much nearer the customers are to their own group than to the next one."""
        gaps = np.sqrt(((self.points[:, None, :] - self.points[None, :, :]) ** 2).sum(axis=2))
        member = np.eye(self.groups)[self.labels]
        means = gaps @ member / np.maximum(member.sum(axis=0), 1)
        rows = np.arange(len(self.points))
        own = means[rows, self.labels]
        means[rows, self.labels] = np.inf
        other = means.min(axis=1)
        return float(np.mean((other - own) / np.maximum(other, own)))

    def names(self):
        middle = self.points.mean(axis=0)
        for centre in self.centres:
            trait = int(np.abs(centre - middle).argmax())
            yield ("many " if centre[trait] > middle[trait] else "few ") + TRAITS[trait]


def one_pass(number, step):
    rng = np.random.default_rng(number)
    grouping = Grouping(scaled(customers(rng, 350)), 5, step).fit(rng, 2)
    return grouping.cost, grouping.silhouette(), sorted(grouping.names()), np.bincount(grouping.labels).tolist()


if __name__ == "__main__":
    run(one_pass, assign, assign_fixed)
