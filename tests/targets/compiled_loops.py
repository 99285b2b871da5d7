# SPDX-License-Identifier: Apache-2.0
"""
Loops that the interpreter's JIT compiles where it is on, and a library's function beside them, until standard input
is at its end.
"""
import select
import sys
import zlib

import support

TEXT = bytes(range(256)) * 200


def multiply(n):
    x = 0
    for i in range(n):
        x += i * i % 7  # python
    return x


def call(n):
    total = 0
    for _ in range(n):
        total += multiply(300)
    return total


def work():
    while not select.select([sys.stdin], [], [], 0)[0]:
        call(100)
        zlib.compress(TEXT, 6)  # native


def main():
    call(10000)
    jit = getattr(sys, "_jit", None)
    support.ready()
    work()
    support.finish("compiled_loops", [], "jit=%d" % bool(jit and jit.is_enabled()))


main()
