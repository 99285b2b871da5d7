#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Functions that spend their time in the kernel, each for one reason, and one that does not.

    kernel_calls.py [--seconds N]
"""
import argparse
import mmap
import os
import tempfile
import time

from support import finish, ready

SIZE = 1 << 20


def randomness():
    os.getrandom(SIZE)  # call: getrandom


def zeroes(device):
    device.readinto(zeroes.buffer)  # call: read


zeroes.buffer = bytearray(SIZE)


def written(file):
    file.seek(0)
    file.write(zeroes.buffer)  # call: write


def touched():
    memory = mmap.mmap(-1, SIZE)
    for page in range(0, SIZE, mmap.PAGESIZE):
        memory[page] = 1  # call: none
    memory.close()


def computed():
    return sum(i * i for i in range(5000))


def timed(work, *arguments):
    """Until it has taken a few milliseconds of CPU time, whatever it is."""
    end = time.thread_time() + 0.004
    while time.thread_time() < end:
        work(*arguments)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    arguments = parser.parse_args()
    with open("/dev/zero", "rb", buffering=0) as device, tempfile.TemporaryFile(buffering=0) as file:
        ready()
        end = time.monotonic() + arguments.seconds
        while time.monotonic() < end:
            timed(randomness)
            timed(zeroes, device)
            timed(written, file)
            timed(touched)
            timed(computed)
    finish("kernel_calls", [])


if __name__ == "__main__":
    main()
