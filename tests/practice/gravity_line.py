# SPDX-License-Identifier: Apache-2.0
"""A gravity survey: stations read along a line, blocks of rock fitted below, and how sure the pull is at places not yet read."""

import numpy as np

from common import run

BLOCKS, STATIONS, PLACES = 70, 160, 600


def kernel(at, middles, depths, width=40.0):
    """Pull of blocks of unit density, as of thin sheets, at places along the line."""
    away = at[:, None] - middles[None, :]
    return width * depths[None, :] / (away**2 + depths[None, :] ** 2)


class Survey:
    def __init__(self, rng):
        self.middles = np.linspace(0, 3_000, BLOCKS)
        self.depths = rng.uniform(60, 220, BLOCKS)
        self.rock = np.cumsum(rng.normal(0, 0.1, BLOCKS))
        self.stations = np.sort(rng.uniform(0, 3_000, STATIONS))
        noise = rng.normal(0, 0.05, STATIONS)
        self.read = kernel(self.stations, self.middles, self.depths) @ self.rock + noise


def predicted_variance(pull, covariance):
    return np.diag(pull @ covariance @ pull.T)


def predicted_variance_fixed(pull, covariance):
    return np.einsum("ij,ij->i", pull @ covariance, pull)


class Fit:
    """Least squares with a smooth prior; misfits weigh less from round to round."""

    def __init__(self, survey, variance):
        self.survey = survey
        self.variance = variance
        self.design = kernel(survey.stations, survey.middles, survey.depths)
        steps = np.diff(np.eye(BLOCKS), axis=0)
        self.prior = 25.0 * steps.T @ steps + 1e-3 * np.eye(BLOCKS)
        self.weights = np.full(STATIONS, 400.0)
        self.rock = np.zeros(BLOCKS)

    def solve(self):
        normal = self.design.T @ (self.weights[:, None] * self.design) + self.prior
        self.covariance = np.linalg.inv(normal)
        self.rock = self.covariance @ (self.design.T @ (self.weights * self.survey.read))
        misfit = self.survey.read - self.design @ self.rock
        scale = np.median(np.abs(misfit)) + 1e-9
        self.weights = 400.0 / np.maximum(1.0, np.abs(misfit) / (2.5 * scale))
        return float(np.sqrt(np.mean(misfit**2)))

    def next_places(self, places, count):
        """The places where a reading would tell most."""
        pull = kernel(places, self.survey.middles, self.survey.depths)
        spread = np.sqrt(self.variance(pull, self.covariance))
        best = np.argsort(spread, kind="stable")[-count:]
        return places[best], float(spread.mean()), float(spread.max())


def profile(fit):
    """The rock as the report has it: its ups and downs and the steepest step."""
    steps = np.diff(fit.rock)
    turns = int(np.sum(np.sign(steps[1:]) != np.sign(steps[:-1])))
    error = np.sqrt(np.diagonal(fit.covariance))
    return turns, float(np.abs(steps).max()), float((np.abs(fit.rock) > 2 * error).mean())


def one_pass(number, variance):
    rng = np.random.default_rng(number)
    fit = Fit(Survey(rng), variance)
    told = []
    for _ in range(4):
        misfit = fit.solve()
        places, mean, worst = fit.next_places(rng.uniform(-200, 3_200, PLACES), 5)
        told.append([misfit, mean, worst, float(places.sum())])
    return told, profile(fit)


if __name__ == "__main__":
    run(one_pass, predicted_variance, predicted_variance_fixed)
