# SPDX-License-Identifier: Apache-2.0
"""Fills fresh pages twice with the same: each first touch is a page fault, each second store redundant."""
import argparse
import mmap
import time

import numpy as np

import support


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10)
    arguments = parser.parse_args()

    support.ready()
    problems = []
    passes = 0
    end = time.monotonic() + arguments.seconds
    while time.monotonic() < end and not problems:
        pages = mmap.mmap(-1, 1 << 20)
        array = np.frombuffer(pages, dtype=np.float64)
        array[:] = 1.5
        array[:] = 1.5
        if array.sum() != 1.5 * array.size:
            problems.append("pass %d: another sum" % passes)
        del array
        pages.close()
        passes += 1
    support.finish("page_faults", problems, "passes=%d" % passes)


if __name__ == "__main__":
    main()
