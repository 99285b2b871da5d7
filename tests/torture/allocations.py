#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lets allocations of the daemon fail, one a run, and looks at how it ends.

    tests/torture/allocations.py [offline] [attached] [--stride N] [--runs N] [--seed N]

offline: `pieprofd report` of a recording, in each format, with each N-th
allocation failing in turn. attached: a profile of a live process, with random
ones failing, and in every second run all that follow, too. It must end with
what it should have written, or say that it cannot; never crash, hang, or
disturb the target.
"""
import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile

from frame import Result, Subject, find_interpreters, harness

SHIM = os.path.join(harness.ROOT, "tests", "tools", "fail_malloc.c")
LAST = 6  # of each run, in every case: what is closed and joined at its end
FORMATS = ("txt", "json", "folded", "pb.gz", "speedscope.json", "firefox.json", "html", "pieprof")


class Shim:
    """The preloaded library, built; and runs under it."""

    def __init__(self, folder):
        self.folder = folder
        self.library = os.path.join(folder, "fail_malloc.so")
        self.count = os.path.join(folder, "count")
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", self.library, SHIM], check=True)

    def run(self, arguments, **settings):
        """(exit code, stderr); the code is None when it hangs."""
        environment = dict(os.environ, LD_PRELOAD=self.library, FAIL_MALLOC_COUNT=self.count,
                           **{name: str(value) for name, value in settings.items()})
        process = subprocess.Popen([harness.PIEPROFD] + [str(argument) for argument in arguments], env=environment,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                   text=True, errors="replace")
        try:
            said = process.communicate(timeout=60)[1]
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return None, "hangs"
        return process.returncode, said

    def allocations(self):
        with open(self.count) as file:
            return int(file.read())


def record(path):
    """A recording of something."""
    interpreter = find_interpreters()[0]
    with Subject(interpreter, "workers", Result()) as target:
        harness.pieprofd("--pid", target.pid, "-d", 0.3, "--rate", 49, "--max-overhead", 50, "-q", "-o", path)
        target.end()


def contents(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


def offline(folder, stride, offset, progress=None):
    """Fails each stride-th allocation of each writer, and the last; (runs, what was wrong in words)."""
    shim = Shim(folder)
    recording = os.path.join(folder, "recording.pieprof")
    record(recording)
    wrong, runs = [], 0
    for extension, more in [(extension, ()) for extension in FORMATS] + [
            (extension, ("--diff", recording)) for extension in ("txt", "json")]:
        output = os.path.join(folder, "report." + extension)
        command = ("report", recording, "-q", "-o", output) + more
        code, said = shim.run(command)
        if code != 0:
            wrong.append("%s without failures: %s %s" % (extension, code, said))
            continue
        total, expected = shim.allocations(), contents(output)
        tolerated = 0
        for number in sorted({*range(1 + offset % stride, total + 1, stride), *range(max(1, total - LAST), total + 1)}):
            if os.path.exists(output):
                os.remove(output)
            code, said = shim.run(command, FAIL_MALLOC_AT=number)
            runs += 1
            got = contents(output)
            if code == 0:
                tolerated += 1
                if got != expected:
                    wrong.append("%s at %d of %d: another report, and code 0" % (extension, number, total))
            elif code not in (1, 2, 3, 7):
                wrong.append("%s at %d of %d: ended with %s: %s" % (extension, number, total, code, said[-300:]))
            elif not said.strip():
                wrong.append("%s at %d of %d: ended with %s without a word" % (extension, number, total, code))
            elif got is not None and got != expected:
                wrong.append("%s at %d of %d: a broken report is left" % (extension, number, total))
        if progress:
            progress("%s: %d allocations, %d did not matter" % (extension, total, tolerated))
    return runs, wrong


def attached(folder, runs, seed, progress=None):
    """Random allocations of a daemon that profiles; a Result and how many runs went on to the end."""
    shim = Shim(folder)
    generator = random.Random(seed)
    result = Result()
    output = os.path.join(folder, "profile.json")
    went_on = 0
    with Subject(find_interpreters()[0], "workers", result) as target:
        command = ("--pid", target.pid, "-d", "0.3", "--rate", "499", "--max-overhead", "50", "-q", "-o", output)
        code, said = shim.run(command)
        if code != 0:
            result.other.append("without failures: %s %s" % (code, said))
        total = shim.allocations()
        for run in range(runs):
            # Most are made while names are read: as often before that, when threads are traced.
            number = generator.randrange(1, total + 1) if run % 4 < 2 else generator.randrange(1, max(2, total // 10))
            name = "FAIL_MALLOC_FROM" if run % 2 else "FAIL_MALLOC_AT"
            code, said = shim.run(command, **{name: number})
            result.rounds += 1
            went_on += code == 0
            if code not in (0, 1, 3, 4, 5, 6, 7):
                result.other.append("%s=%d of %d: ended with %s: %s" % (name, number, total, code, said[-300:]))
            elif code and not said.strip():
                result.other.append("%s=%d of %d: ended with %d without a word" % (name, number, total, code))
            target.inspect()
            if progress and run % 50 == 49:
                progress("attached: %d runs" % (run + 1))
        target.end()
    return result, went_on


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=("offline", "attached", []), default=[])
    parser.add_argument("--stride", type=int, default=1)
    parser.add_argument("--offset", type=int, default=0)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    parts = arguments.parts or ["offline", "attached"]
    bad = 0
    folder = tempfile.mkdtemp(prefix="pieprofd-allocations-")

    def say(words):
        print(words, flush=True)

    try:
        if "offline" in parts:
            runs, wrong = offline(folder, arguments.stride, arguments.offset, say)
            say("offline: %d runs, %d wrong" % (runs, len(wrong)))
            for words in wrong:
                say("  " + words)
            bad += len(wrong)
        if "attached" in parts:
            result, went_on = attached(folder, arguments.runs, arguments.seed, say)
            say("attached: %s; went on to the end: %d" % (result, went_on))
            bad += result.bad()
    finally:
        shutil.rmtree(folder)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
