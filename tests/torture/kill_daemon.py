#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kills the daemon with SIGKILL at random moments and asks after the target.

    tests/torture/kill_daemon.py [--rounds N] [--seed N]

One target lives through many daemons. The moments are drawn over all phases:
reading files, attaching, the first samples, the middle of a run with all
watchpoints armed, and the end.
"""
import argparse
import os
import random
import signal
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))

from harness import Daemon, Failure, Target, find_interpreters, status_of, take_breakpoints  # noqa: E402

TARGETS = (
    ("conv_backprop.py", ()),
    ("threads.py", ("--threads", "4")),
    ("sigurg_handler.py", ()),
)
ROUNDS_PER_TARGET = 17


class Result:
    def __init__(self):
        self.rounds = self.deaths = self.left_stopped = self.left_traced = self.breakpoints_taken = 0
        self.while_attached = 0

    def __str__(self):
        return (
            "rounds %(rounds)d, of them while attached %(while_attached)d, deaths %(deaths)d, "
            "left stopped %(left_stopped)d, left traced %(left_traced)d, "
            "breakpoints taken %(breakpoints_taken)d" % vars(self)
        )


def thread_ids(pid):
    return [int(tid) for tid in os.listdir("/proc/%d/task" % pid)]


def kill_at_random(target, generator, result):
    attached = generator.random() < 0.85
    with Daemon("--pid", target.pid, "-d", generator.choice((0.3, 60)), "--rate", generator.choice((99, 999)),
                "--max-overhead", "50", "-q") as daemon:
        if attached:
            # Wait for the attach, then for a moment of the run.
            end = time.monotonic() + 5
            while target.status()["TracerPid"] == "0" and daemon.process.poll() is None and time.monotonic() < end:
                time.sleep(0.0005)
            time.sleep(generator.choice((0, 0.001, 0.3)) * generator.random())
        else:
            time.sleep(0.2 * generator.random())
        result.while_attached += target.process.poll() is None and target.status()["TracerPid"] != "0"
        daemon.signal(signal.SIGKILL)
        daemon.process.wait()


def inspect(target, result):
    if target.process.poll() is not None:
        result.deaths += 1
        return
    # The kernel needs a moment to let go of every thread.
    time.sleep(0.005)
    for tid in thread_ids(target.pid):
        status = status_of(target.pid, tid)
        result.left_traced += status["TracerPid"] != "0"
        result.left_stopped += status["State"][0] in "tT"
        try:
            take_breakpoints(tid)
        except Failure:
            result.breakpoints_taken += 1


def torture(interpreters, rounds, seed):
    """Counts over all rounds; the targets' own checks raise Failure."""
    generator = random.Random(seed)
    result = Result()
    number = 0
    while result.rounds < rounds:
        interpreter = interpreters[number % len(interpreters)]
        script, arguments = TARGETS[number % len(TARGETS)]
        number += 1
        with Target(interpreter, script, *arguments, "--seconds", 100000) as target:
            for _ in range(min(ROUNDS_PER_TARGET, rounds - result.rounds)):
                kill_at_random(target, generator, result)
                inspect(target, result)
                result.rounds += 1
                if target.process.poll() is not None:
                    print("%s died: %s" % (script, target.process.stdout.read()))
                    break
            else:
                # It still works: CPU time goes on.
                before = os.times(), read_cpu(target.pid)
                time.sleep(0.3)
                if read_cpu(target.pid) == before[1]:
                    result.left_stopped += 1
    return result


def read_cpu(pid):
    with open("/proc/%d/stat" % pid) as stat:
        return stat.read().rpartition(")")[2].split()[11]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    result = torture(find_interpreters(), arguments.rounds, arguments.seed)
    print(result)
    bad = result.deaths + result.left_stopped + result.left_traced + result.breakpoints_taken
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
