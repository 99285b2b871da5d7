# SPDX-License-Identifier: Apache-2.0
"""Touches new memory at one line after another, from the first line of standard input on, and says how much at which.

The figures are its own: what was resident before and after. The program then waits
for the end of its input. With --stay SECONDS it works on what is there already.
"""
import sys
import threading
import time

import numpy

import support

ROUNDS = 30
PAUSE = 0.01
MIB = 1 << 20

kept = []
again = numpy.ones(4 * MIB // 8)


def arrays():
    for _ in range(3):
        array = numpy.empty(MIB // 8)
        array.fill(1.5)
        kept.append(array)


def dicts():
    kept.append([{"number": number, "list": [number]} for number in range(6000)])


def block():
    kept.append(b"x" * (2 * MIB))


def zeros():
    with open("/dev/zero", "rb", buffering=0) as file:
        kept.append(file.read(2 * MIB))


def in_thread():
    thread = threading.Thread(target=block, name="grower")
    thread.start()
    thread.join()


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


def grow():
    growth = {"arrays": 0, "dicts": 0, "block": 0, "zeros": 0}
    support.ready()
    sys.stdin.readline()
    for _ in range(ROUNDS):
        for name, work in (("arrays", arrays), ("dicts", dicts), ("block", in_thread), ("zeros", zeros)):
            before = resident()
            work()
            growth[name] += resident() - before
            time.sleep(PAUSE)
    print("grown", *("%s=%d" % item for item in growth.items()), flush=True)
    sys.stdin.read()


def stay():
    support.ready()
    end = time.monotonic() + float(sys.argv[2])
    while time.monotonic() < end:
        again.__imul__(1.0)


if sys.argv[1:2] == ["--stay"]:
    stay()
else:
    grow()
support.finish("memory_growth", [] if again[0] == 1.0 else ["the array is %s" % again[:4]])
