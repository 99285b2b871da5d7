#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the end-to-end tests: every function test_* of every file test_*.py here.

    tests/e2e/run.py [WORD ...]     only tests whose name has one of the words

A test that takes `interpreter` runs once for every interpreter found; one that
takes `one_interpreter` is about the tracer and runs on the system's own alone,
unless PIEPROFD_TEST_ALL=1 has it run on all. At the end stands a table: a row
for each interpreter, a column for each test. A skip names its reason; with CI
set, a skip that is not in EXPECTED_SKIPS fails.

Each test runs in a process of its own. As many as there are processors (at
most JOBS_MAX; PIEPROFD_TEST_JOBS=N says otherwise) run side by side, and what
each prints is shown when it has ended; those marked `@alone` follow one after
the other. A test that a `check_sampled` failed is run once more, and that
always by itself.
"""
import collections
import ctypes
import importlib
import inspect
import json
import os
import signal
import sys
import tempfile
import time
import traceback

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import surroundings  # noqa: E402

# The harness asks them already.
surroundings.settle()

import harness  # noqa: E402

EXPECTED_SKIPS = ("needs root", "no numpy for", "no greenlet", "no gevent for", "no interpreter with",
                  "no network for playwright", "no ipykernel for", "no uvloop for", "no mcp for", "no mpi4py for",
                  "no pytest for",
                  "no userfaultfd")

# Side by side; more would not have a processor each for the target and what it starts.
JOBS_MAX = 4


class Matrix:
    """What became of each test on each interpreter."""

    def __init__(self):
        self.rows = {}
        self.columns = []
        self.reasons = []

    def add(self, row, column, result, reason):
        if column not in self.columns:
            self.columns.append(column)
        if result == "skipped":
            if reason not in self.reasons:
                self.reasons.append(reason)
            result = "skip %d" % (self.reasons.index(reason) + 1)
        words = {"passed": "ok", "repeated": "ok (2nd)", "failed": "FAILED"}
        self.rows.setdefault(row, {})[column] = words.get(result, result)

    def show(self):
        if not self.columns:
            return
        # Each word of a test's name on a line of its own: columns stay narrow.
        titles = [column.split(".")[1].split("_") for column in self.columns]
        height = max(len(title) for title in titles)
        widths = [max([6] + [len(word) for word in title]) for title in titles]
        margin = max(len(row) for row in self.rows)
        print()
        for line in range(height):
            words = [(title[line] if line < len(title) else "").ljust(width) for title, width in zip(titles, widths)]
            print((" " * margin + "  " + "  ".join(words)).rstrip())
        for row, cells in self.rows.items():
            words = [cells.get(column, "").ljust(width) for column, width in zip(self.columns, widths)]
            print((row.ljust(margin) + "  " + "  ".join(words)).rstrip())
        for number, reason in enumerate(self.reasons):
            print("skip %d: %s" % (number + 1, reason))


def cases():
    for name in sorted(os.listdir(os.path.dirname(os.path.abspath(__file__)))):
        if not name.startswith("test_") or not name.endswith(".py"):
            continue
        module = importlib.import_module(name[:-3])
        for test, function in sorted(vars(module).items(), key=lambda item: str(item[0])):
            if test.startswith("test_") and inspect.isfunction(function):
                yield "%s.%s" % (name[5:-3], test[5:]), function


# What a test with the parameter some_interpreter runs on, beside the default one: a version for each kind of frames and of
# bytecode that matters to it, which unit tests try on all. PIEPROFD_TEST_ALL=1: on each interpreter.
PARAMETERS = ("interpreter", "some_interpreter", "one_interpreter")
SOME_VERSIONS = ("3.6", "3.13", "3.15")


def runs_on(parameter, interpreter, interpreters):
    if parameter == "interpreter" or interpreter is harness.default_interpreter():
        return True
    if parameter == "one_interpreter":
        return False
    version = next((version for version in SOME_VERSIONS if interpreter.name.startswith(version + ".")), None)
    return version and interpreter is next(other for other in interpreters if other.name.startswith(version + "."))


# arguments: of the function. row, column: where in the table its result stands, None for one that has no place there.
Test = collections.namedtuple("Test", "name function arguments row column")


def tests(words, interpreters):
    """All that is to run, and the names of those that cannot."""
    chosen, without = [], []
    everywhere = os.environ.get("PIEPROFD_TEST_ALL") == "1"
    for name, function in cases():
        if words and not any(word in name for word in words):
            continue
        parameters = inspect.signature(function).parameters
        parameter = next((p for p in PARAMETERS if p in parameters), None)
        if parameter is None:
            chosen.append(Test(name, function, {}, None, None))
            continue
        if not harness.find_interpreters():
            without.append(name)
            continue
        for interpreter in interpreters:
            if not everywhere and not runs_on(parameter, interpreter, interpreters):
                continue
            in_table = parameter != "one_interpreter" or everywhere
            chosen.append(Test("%s [%s]" % (name, interpreter.name), function, {parameter: interpreter},
                               interpreter.name if in_table else None, name if in_table else None))
    return chosen, without


def run(test, repeated):
    """One of "passed", "repeated" (passed then), "unlucky" (to be repeated), "failed", "skipped", and why it was."""
    began = time.monotonic()
    interpreter = next((test.arguments[name] for name in PARAMETERS if name in test.arguments), None)
    try:
        if interpreter and interpreter.problem:
            raise harness.Skip(interpreter.problem)
        test.function(**test.arguments)
    except harness.Skip as reason:
        expected = any(text in str(reason) for text in EXPECTED_SKIPS)
        print("[ SKIPPED  ] %s: %s" % (test.name, reason))
        return ("skipped" if expected or not os.environ.get("CI") else "failed"), str(reason)
    except harness.Failure as failure:
        if isinstance(failure, harness.Unlucky) and not repeated:
            print("[ REPEATED ] %s: %.600s" % (test.name, failure))
            return "unlucky", None
        print("[  FAILED  ] %s: %.600s" % (test.name, failure))
        return "failed", None
    except Exception:
        traceback.print_exc(file=sys.stdout)
        print("[  FAILED  ] %s" % test.name)
        return "failed", None
    print("[       OK ] %s (%.1f s, %.1f s of CPU)" % (test.name, time.monotonic() - began, sum(os.times()[:4])))
    return ("repeated" if repeated else "passed"), None


class Process:
    """A test that runs in a process of its own. quiet: what it prints is kept until it has ended."""

    def __init__(self, test, repeated, quiet):
        self.test = test
        self.output = tempfile.TemporaryFile() if quiet else None
        self.answer = tempfile.TemporaryFile()
        sys.stdout.flush()
        self.pid = os.fork()
        if self.pid == 0:
            self._work(repeated)

    def _work(self, repeated):
        status = 1
        try:
            # However the runner ends, what we have started is ended by us.
            ctypes.CDLL(None).prctl(1, signal.SIGINT)  # PR_SET_PDEATHSIG
            if self.output:
                os.dup2(self.output.fileno(), 1)
                os.dup2(self.output.fileno(), 2)
            answer = run(self.test, repeated)
            os.pwrite(self.answer.fileno(), json.dumps(answer).encode(), 0)
            status = 0
        except KeyboardInterrupt:
            status = 130
        finally:
            sys.stdout.flush()
            os._exit(status)

    def finish(self, status):
        """Shows what it printed; what run() returned."""
        if self.output:
            self.output.seek(0)
            sys.stdout.write(self.output.read().decode(errors="replace"))
            self.output.close()
        answer = os.pread(self.answer.fileno(), 65536, 0)
        self.answer.close()
        if not answer:
            print("[  FAILED  ] %s: its process ended with status %d" % (self.test.name, status))
            answer = b'["failed", null]'
        sys.stdout.flush()
        return tuple(json.loads(answer))


def run_all(chosen, jobs):
    """Results of all tests, by test."""
    beside = collections.deque((test, False) for test in chosen if not getattr(test.function, "alone", False))
    single = collections.deque((test, False) for test in chosen if getattr(test.function, "alone", False))
    running, results = {}, {}
    try:
        while beside or single or running:
            if beside and len(running) < jobs:
                process = Process(*beside.popleft(), quiet=jobs > 1)
            elif single and not beside and not running:
                process = Process(*single.popleft(), quiet=False)
            else:
                pid, status = os.wait()
                if pid in running:
                    process = running.pop(pid)
                    result = process.finish(status)
                    if result[0] == "unlucky":
                        single.appendleft((process.test, True))
                    else:
                        results[process.test.name] = result
                continue
            running[process.pid] = process
    finally:
        for pid in running:
            os.kill(pid, signal.SIGINT)
        for pid in running:
            os.waitpid(pid, 0)
    return results


def main(words):
    counts = {"passed": 0, "repeated": 0, "failed": 0, "skipped": 0}
    matrix = Matrix()
    interpreters, missing = harness.matrix()
    print("interpreters: %s" % ", ".join(interpreter.name for interpreter in interpreters))
    chosen, without = tests(words, interpreters)
    processors = min(len(os.sched_getaffinity(0)), JOBS_MAX)
    results = run_all(chosen, int(os.environ.get("PIEPROFD_TEST_JOBS") or processors))
    for name in without:
        counts["failed"] += 1
        print("[  FAILED  ] %s: no interpreter with numpy found" % name)
    for test in chosen:
        result, reason = results[test.name]
        counts[result] += 1
        if test.row:
            matrix.add(test.row, test.column, result, reason)
    for what, reason in missing:
        print("[ SKIPPED  ] %s: %s" % (what, reason))
        counts["skipped"] += 1
        for column in list(matrix.columns):
            matrix.add(what, column, "skipped", reason)
    matrix.show()
    if counts["repeated"]:
        print("\n%(repeated)d passed at their second run only" % counts)
        counts["passed"] += counts["repeated"]
    print("\n%(passed)d passed, %(failed)d failed, %(skipped)d skipped" % counts)
    return 1 if counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
