# SPDX-License-Identifier: Apache-2.0
"""Several threads that do the same work; each checks its own result."""
import argparse
import threading
import time

import numpy as np

import conv_backprop
import support


def work(number, start, seconds, passes, problems):
    layer, d = conv_backprop.make(seed=number, size=14)
    expected = layer.backprop_fixed(d)
    start.wait()
    end = time.monotonic() + seconds
    # Once at least: with many threads on few cores the time may be over at once.
    while passes[number] == 0 or time.monotonic() < end:
        if not np.allclose(layer.backprop(d), expected, rtol=1e-12):
            problems.append("thread %d computed another gradient" % number)
            return
        passes[number] += 1


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=10)
    arguments = parser.parse_args()

    start = threading.Barrier(arguments.threads + 1)
    passes = [0] * arguments.threads
    problems = []
    threads = [
        threading.Thread(target=work, args=(number, start, arguments.seconds, passes, problems))
        for number in range(arguments.threads)
    ]
    for thread in threads:
        thread.start()
    start.wait()
    support.ready()
    for thread in threads:
        thread.join()
    if not problems and min(passes) == 0:
        problems.append("a thread did no work: %s" % passes)
    support.finish("threads", problems, "threads=%d passes=%d" % (arguments.threads, sum(passes)))


if __name__ == "__main__":
    main()
