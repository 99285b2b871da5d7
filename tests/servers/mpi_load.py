# SPDX-License-Identifier: Apache-2.0
"""Two ranks of mpirun: each makes the table of its part anew in each step, and both have the sum of both parts."""
import time

import numpy
from mpi4py import MPI

from load import Count, say_ready
from work import SEEDS, checksum, words_of

DISTANCES = numpy.arange(300000) / 3000
STEPS_PER_SECOND = 80


def part_of(number, rank):
    kernel = numpy.exp(-DISTANCES)  # planted
    return float(kernel[number + rank::5].sum()), words_of(2 * number + rank)


def main():
    world = MPI.COMM_WORLD
    rank, size = world.Get_rank(), world.Get_size()
    parts = [[part_of(number, each) for each in range(size)] for number in range(SEEDS)]
    expected = [checksum(sum(part[0] for part in each), [part[1] for part in each]) for each in parts]
    count = Count() if rank == 0 else None
    step, goes_on = 0, True
    begin = time.monotonic()
    while goes_on:
        number = step % SEEDS
        gathered = world.allgather(part_of(number, rank))
        answer = checksum(sum(part[0] for part in gathered), [part[1] for part in gathered])
        if rank == 0:
            count.take(number, answer, expected[number])
            goes_on = not count.ended.is_set()
        elif answer != expected[number]:
            raise SystemExit("rank %d: step %d: %s, not %s" % (rank, step, answer, expected[number]))
        goes_on = world.bcast(goes_on)
        if step == 0 and rank == 0:
            say_ready(0)
        step += 1
        time.sleep(max(0, begin + step / STEPS_PER_SECOND - time.monotonic()))
    if rank == 0:
        count.say()


if __name__ == "__main__":
    main()
