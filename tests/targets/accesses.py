#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Loads and stores that are redundant in part (the extension accesses.c).

    accesses.py --folder WHERE-accesses.so-IS [--seconds N | --marked ROUNDS]
"""
import argparse
import sys
import time

from support import finish, ready


def one_round(accesses, number):
    accesses.change_words(number)
    accesses.load_words(number)
    accesses.load_again(number)
    accesses.load_halves(number)
    accesses.store_words(number)
    accesses.add_words(number)
    accesses.store_wide(number + 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--marked", type=int, help="so many rounds and one more between marks, for the oracle")
    arguments = parser.parse_args()
    sys.path.insert(0, arguments.folder)
    import accesses

    ready()
    number = 1
    if arguments.marked:
        accesses.mark(0)
        for number in range(1, arguments.marked + 1):
            one_round(accesses, 2 * number)
        accesses.mark(0)
        one_round(accesses, 2 * number + 2)
        accesses.mark(1)
        return
    end = time.monotonic() + arguments.seconds
    while time.monotonic() < end:
        number += 1
        one_round(accesses, 2 * number)
    finish("accesses", [], "rounds=%d" % number)


if __name__ == "__main__":
    main()
