# SPDX-License-Identifier: Apache-2.0
"""Calls in loops for daemon_argument_sampler: each round waits, in or below the call, for a byte."""
import os
import random

ROUNDS = 24

# A library's: what it reads there is no matter of the program's.
PAUSE = """
def pause():
    os.write(1, b".\\n")
    os.read(0, 1)
"""
# Of another name for each case: of an instruction that is well known not all samples are looked at.
WAITING = """
def wait%d(x):
    pause()
    return x is not None and %s
"""


def waiting(number, also="x", names=()):
    names = dict(names, os=os)
    exec(compile(PAUSE, "/usr/lib/python3/dist-packages/pause.py", "exec"), names)
    exec(compile(WAITING % (number, also), "/project/waiting.py", "exec"), names)
    return names["wait%d" % number]


def same_in_library(m, wait):
    for i in range(ROUNDS):
        r = max(m, key=wait)
    return r


def alike_in_library(wait):
    for i in range(ROUNDS):
        m = [7] * 1
        r = max(m, key=wait)
    return r


def other_in_library(wait):
    for i in range(ROUNDS):
        m = [i]
        r = max(m, key=wait)
    return r


def opaque_in_library(m, wait):
    for i in range(ROUNDS):
        r = max(m, key=wait)
    return r


def dropped_in_library(m, wait):
    for i in range(ROUNDS):
        max(m, key=wait)


def same_in_own(m, wait):
    for i in range(ROUNDS):
        r = wait(m)
    return r


def other_in_own(wait):
    for i in range(ROUNDS):
        m = [i]
        r = wait(m)
    return r


def few_in_own(wait):
    for i in range(ROUNDS):
        m = "ab"[i % 2]
        r = wait(m)
    return r


def drawing_in_own(m, wait):
    for i in range(ROUNDS):
        r = wait(m)
    return r


def table_in_own(m, wait):
    for i in range(ROUNDS):
        r = wait(m)
    return r


def changed_in_own(m, wait, table):
    for i in range(ROUNDS):
        table["rate"] = i
        r = wait(m)
    return r


def stream_in_own(m, wait):
    for i in range(ROUNDS):
        r = wait(m)
    return r


def known_well(m, wait):
    for i in range(4 * ROUNDS):
        r = wait(m)
    return r


def known_keys(wait):
    for i in range(6 * ROUNDS):
        r = wait(i)
    return r


WAITS = [waiting(i) for i in range(9)]
same_in_library([7], WAITS[0])
alike_in_library(WAITS[1])
other_in_library(WAITS[2])
opaque_in_library([iter(())], WAITS[3])
dropped_in_library([7], WAITS[4])
same_in_own([7], WAITS[5])
other_in_own(WAITS[6])
few_in_own(WAITS[7])
drawing_in_own([7], waiting(9, "random.random()", {"random": random}))
table_in_own([7], waiting(10, "TABLE['rate']", {"TABLE": {"rate": 2}}))
TABLE = {"rate": 0}
changed_in_own([7], waiting(11, "TABLE['rate']", {"TABLE": TABLE}), TABLE)
stream_in_own([7], waiting(12, "next(STREAM)", {"STREAM": iter(range(1000))}))
known_well([7], WAITS[8])
known_keys(waiting(13))
os.write(1, b"END\n")
os.read(0, 1)
