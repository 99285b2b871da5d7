#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ends the daemon by signals at random moments and asks after the target.

    tests/torture/kill_daemon.py [--rounds N] [--seed N]

One target lives through many daemons. The moments are drawn over all phases:
reading files, attaching, the first samples, the middle of a run with all
watchpoints armed, and the end. So are the signal, half of the time SIGKILL, and
the mode.
"""
import argparse
import random
import resource
import signal
import subprocess
import sys
import time

from frame import Daemon, Result, Subject, attached, find_interpreters

KINDS = ("plain", "workers", "handle", "fork")
ROUNDS_PER_TARGET = 17
# Asked to end, out of memory, a bug, a failed check.
SIGNALS = (signal.SIGKILL,) * 4 + (signal.SIGINT, signal.SIGTERM, signal.SIGSEGV, signal.SIGABRT)
MODES = (("--mode", "all"), ("--mode", "time"), ("--idle",), ("--follow",))


def kill_at_random(target, generator, result):
    wait = generator.random() < 0.85
    number = generator.choice(SIGNALS)
    with Daemon("--pid", target.pid, "-d", generator.choice((0.3, 60)), "--rate", generator.choice((99, 999)),
                "--max-overhead", "50", "-q", *generator.choice(MODES)) as daemon:
        if wait:
            # Wait for the attach, then for a moment of the run.
            attached(target, daemon)
            time.sleep(generator.choice((0, 0.001, 0.3)) * generator.random())
        else:
            time.sleep(0.2 * generator.random())
        result.while_attached += target.alive() and target.status()["TracerPid"] != "0"
        daemon.signal(number)
        try:
            daemon.process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            result.other.append("the daemon outlives %s" % number.name)


def torture(interpreters, rounds, seed):
    """Counts over all rounds."""
    # Its cores are of no use.
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    generator = random.Random(seed)
    result = Result()
    number = 0
    while result.rounds < rounds:
        interpreter = interpreters[number % len(interpreters)]
        kind = KINDS[number % len(KINDS)]
        number += 1
        with Subject(interpreter, kind, result) as target:
            for _ in range(min(ROUNDS_PER_TARGET, rounds - result.rounds)):
                kill_at_random(target, generator, result)
                target.inspect()
                result.rounds += 1
                if not target.alive():
                    break
            target.end()
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    result = torture(find_interpreters(), arguments.rounds, arguments.seed)
    print(result)
    sys.exit(1 if result.bad() else 0)


if __name__ == "__main__":
    main()
