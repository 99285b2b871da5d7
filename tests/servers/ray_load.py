# SPDX-License-Identifier: Apache-2.0
"""Ray, on this machine alone: two actors, which make the same table of exponentials for each question."""
import logging
import threading

import numpy
import ray

from load import drive
from work import SEEDS, checksum, words_of

DISTANCES = numpy.arange(300000) / 3000


class Simulation:
    def answer_of(self, number):
        kernel = numpy.exp(-DISTANCES)  # planted
        return checksum(round(float(kernel[number::7].sum()), 6), words_of(number))


def main():
    answers = [Simulation().answer_of(number) for number in range(SEEDS)]
    ray.init(num_cpus=2, include_dashboard=False, logging_level=logging.ERROR, log_to_driver=False,
             object_store_memory=80 << 20, address="local")
    try:
        actors = [ray.remote(num_cpus=1)(Simulation).remote() for _ in range(2)]
        mine = threading.local()
        turn = iter(range(1 << 30))

        def ask(number):
            if not hasattr(mine, "actor"):
                mine.actor = actors[next(turn) % 2]
            return ray.get(mine.actor.answer_of.remote(number), timeout=60)

        for actor in actors:
            ray.get(actor.answer_of.remote(0))
        drive(ask, answers, rate=120)
    finally:
        ray.shutdown()


if __name__ == "__main__":
    main()
