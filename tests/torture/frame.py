# SPDX-License-Identifier: Apache-2.0
"""What the scenarios share: a target that checks itself, daemons around it, and what is counted afterwards."""
import os
import re
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))

import harness  # noqa: E402
from harness import (Daemon, Failure, Target, find_interpreters, status_of, take_breakpoints,  # noqa: E402
                     wait_until)

RSS_SLACK_KIB = 1024
# Ended, with or without samples, refused, given up; what a daemon may say of a target that goes away, too.
DAEMON_CODES = (0, 3, 6, 130)


class Result:
    """
    Everything but rounds and while_attached must be 0 at the end. other:
    whatever else was wrong, in words. ending: of a scenario that ends daemons, kill_daemon.Ending.
    """

    def __init__(self):
        self.rounds = self.while_attached = self.deaths = self.left_stopped = self.left_traced = 0
        self.breakpoints_taken = self.eintr = self.unexpected = self.grown = 0
        self.other = []
        self.ending = None

    def bad(self):
        return (self.deaths + self.left_stopped + self.left_traced + self.breakpoints_taken + self.eintr +
                self.unexpected + self.grown + len(self.other))

    def __str__(self):
        return (
            "rounds %(rounds)d, of them while attached %(while_attached)d, deaths %(deaths)d, "
            "left stopped %(left_stopped)d, left traced %(left_traced)d, breakpoints taken %(breakpoints_taken)d, "
            "EINTR %(eintr)d, unexpected signals %(unexpected)d, grown %(grown)d" % vars(self) +
            "".join(", %s" % words for words in self.other)
        )


class Subject(Target):
    """
    tests/targets/undisturbed.py doing one kind of thing until its standard
    input ends. own_eintr: what the scenario does interrupts calls by itself.
    """

    def __init__(self, interpreter, kind, result, own_eintr=False):
        super().__init__(interpreter, "undisturbed.py", "--kind", kind, "--until-eof", stdin=subprocess.PIPE)
        self.kind = kind
        self.result = result
        self.own_eintr = own_eintr

    def __exit__(self, *exception):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.process.stdin.close()

    def alive(self):
        return self.process.poll() is None

    def inspect(self, breakpoints=4, stopped=False):
        """Asks the kernel what was left of a daemon that has ended."""
        if not self.alive():
            return
        # The kernel needs a moment to let go of every thread.
        time.sleep(0.005)
        for tid in os.listdir("/proc/%d/task" % self.pid):
            try:
                status = status_of(self.pid, tid)
                self.result.left_traced += status["TracerPid"] != "0"
                self.result.left_stopped += not stopped and status["State"][0] in "tT"
                if breakpoints:
                    take_breakpoints(int(tid))
            except (FileNotFoundError, ProcessLookupError):
                continue
            except Failure:
                self.result.breakpoints_taken += 1

    def resident_kib(self):
        return int(self.status()["VmRSS"].split()[0])

    def end(self):
        """Lets it end, and adds what it says."""
        result = self.result
        try:
            output, _ = self.process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            result.left_stopped += 1
            result.other.append("%s hangs, %s" % (self.kind, self.status()["State"]))
            return
        said = re.search(r"^ok .* eintr=(\d+) unexpected=(\d+)$", output, re.MULTILINE)
        if self.process.returncode < 0:
            result.deaths += 1
            result.other.append("%s was killed by signal %d" % (self.kind, -self.process.returncode))
        elif not said or self.process.returncode:
            result.unexpected += "signal" in output
            result.other.append("%s said %r" % (self.kind, output))
        else:
            result.eintr += 0 if self.own_eintr else int(said.group(1))
            result.unexpected += int(said.group(2))


def attached(target, daemon, seconds=5):
    """Waits until the daemon has attached, or ended."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and target.alive() and daemon.process.poll() is None:
        try:
            if target.status()["TracerPid"] != "0":
                return True
        except (FileNotFoundError, ProcessLookupError):
            return False
        time.sleep(0.0005)
    return False


def profiler(target, *arguments):
    return Daemon("--pid", target.pid, "--rate", 999, "--max-overhead", 50, "-q", *arguments)


def finish(daemon, result, codes=DAEMON_CODES):
    """Lets the daemon end; what it said on stderr."""
    try:
        _, said = daemon.process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        result.other.append("the daemon hangs")
        daemon.process.kill()
        return ""
    if daemon.process.returncode not in codes:
        result.other.append("the daemon ended with %d: %s" % (daemon.process.returncode, said.strip()))
    return said


def write_table(path, name, table):
    """Puts it into a file between the two markers of this name."""
    begin, end = ("<!-- %s: %s -->\n" % (name, side) for side in ("begin", "end"))
    with open(path) as file:
        head, rest = file.read().split(begin)
    with open(path, "w") as file:
        file.write(head + begin + table + end + rest.split(end)[1])


__all__ = ["Daemon", "Failure", "Result", "Subject", "attached", "find_interpreters", "finish", "harness", "profiler",
           "take_breakpoints", "write_table"]
