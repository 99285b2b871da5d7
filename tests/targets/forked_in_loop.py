# SPDX-License-Identifier: Apache-2.0
"""
Workers that are forked within a loop: its frame stays around all that they do, in the round of the fork. What calls
them again is no line's loop: map(). One line does the same each time.
"""
import argparse
import itertools
import os
import random
import time

import support

WORKERS = 2
VALUES = [random.Random(1).random() for _ in range(2000)]
end = 0.0


def answer(number):
    """Whether to go on."""
    middle = sorted(VALUES)[1000]
    above = sum(divmod(number * 7919, k)[1] > middle for k in range(1, 400))
    return above >= 0 and time.monotonic() < end


def fork_workers():
    pids = []
    for _ in range(WORKERS):
        pid = os.fork()
        if not pid:
            os._exit(all(map(answer, itertools.count())))
        pids.append(pid)
    support.ready()
    return [os.waitpid(pid, 0)[1] for pid in pids]


def main():
    global end
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10, help="how long to work")
    arguments = parser.parse_args()
    end = time.monotonic() + arguments.seconds
    codes = fork_workers()
    support.finish("forked_in_loop", ["exit codes %s" % codes] if any(codes) else [], "%d workers" % WORKERS)


if __name__ == "__main__":
    main()
