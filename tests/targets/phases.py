# SPDX-License-Identifier: Apache-2.0
"""From when it is traced, works in one function, then in another; a second thread works beside the latter alone."""
import argparse
import threading
import time

import support


def spin(end):
    total = 0
    while time.monotonic() < end:
        for i in range(1000):
            total += i * i
    return total


def work_first(end):
    return spin(end)


def work_second(end):
    return spin(end)


def work_beside(begin, end):
    time.sleep(max(0, begin - time.monotonic()))
    return spin(end)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--phase", type=float, default=3, help="how long each of the two lasts, in seconds")
    arguments = parser.parse_args()

    support.ready()
    problems = [] if support.wait_traced(60) else ["nobody traces us"]
    begin = time.monotonic()
    middle, end = begin + arguments.phase, begin + 2 * arguments.phase
    beside = threading.Thread(target=work_beside, args=(middle, end), name="beside")
    beside.start()
    work_first(middle)
    work_second(end)
    beside.join()
    support.finish("phases", problems)


if __name__ == "__main__":
    main()
