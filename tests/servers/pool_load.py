# SPDX-License-Identifier: Apache-2.0
"""multiprocessing's pool of two: documents are scored, and the same vocabulary is sorted for each of them."""
import multiprocessing
import sys

from load import drive
from work import SEEDS, checksum, words_of

VOCABULARY = ["%x" % (i * 2654435761 % (1 << 32)) for i in range(15000)]


def answer_of(number):
    ordered = sorted(VOCABULARY)  # planted
    return checksum(ordered[number], words_of(number))


def main():
    answers = [answer_of(number) for number in range(SEEDS)]
    with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
        drive(lambda number: pool.apply(answer_of, (number,)), answers, rate=150)


if __name__ == "__main__":
    main()
