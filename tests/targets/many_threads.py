# SPDX-License-Identifier: Apache-2.0
"""Many threads that sleep, and a few that work one after the other, each in a function of its own."""
import argparse
import threading
import time

import support

WORKERS = 3


def spin(end):
    while time.monotonic() < end:
        sum(i * i for i in range(2000))


def first_worker(end):
    spin(end)


def second_worker(end):
    spin(end)


def third_worker(end):
    spin(end)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=100, help="that sleep")
    parser.add_argument("--seconds", type=float, default=9, help="how long to work")
    arguments = parser.parse_args()
    threading.stack_size(64 << 10)
    ended, turns, workers = threading.Event(), [threading.Event() for _ in range(WORKERS + 1)], []
    began = []

    def work(number, function):
        turns[number].wait()
        function(began[0] + (number + 1) * arguments.seconds / WORKERS)
        turns[number + 1].set()

    for number, function in enumerate((first_worker, second_worker, third_worker)):
        for _ in range(arguments.threads // WORKERS):
            threading.Thread(target=ended.wait, daemon=True).start()
        workers.append(threading.Thread(target=work, args=(number, function)))
        workers[-1].start()
    support.ready()
    began.append(time.monotonic())
    turns[0].set()
    for worker in workers:
        worker.join()
    ended.set()
    support.finish("many_threads", [], "%d threads" % arguments.threads)


if __name__ == "__main__":
    main()
