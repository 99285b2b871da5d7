#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What profilers cost the program that they look at, pieprofd beside its peers, and whether they name its hot line.

    tests/bench/peers.py [--minutes M] [--seconds S] [--programs WORD,WORD] [--profilers WORD,WORD] [--markdown FILE]

A program of each kind (peer_targets.py): a loop in Python, numpy, a web server with a client that asks at a steady rate.
Those that attach are switched on and off in turn on one process (switched.py), in each round in another order, and a
profiled window's passes are compared with those of the bare windows around it. memray has a process of its own, as its library
stays. Scalene starts the program, so a whole run under it is compared with the bare runs around it, which differ by
more than windows of one process do. Of the server, wall time is how long a client waits for its answers.

Each is what its manual says first: pieprofd at its defaults, and for time alone; py-spy at 100 Hz, also without
stopping and with native frames; Austin at its default, 10,000 Hz; Scalene; memray. They come from the Python registry, into
a virtual environment in build/peers, which the programs run in, too. What cannot be had or does not work is left out and
named. As many rounds are made as there is time for, --least at least. --markdown puts the table between its marks in FILE.
Wall time is worth looking at on a quiet machine alone.
"""
import argparse
import collections
import datetime
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import switched
from harness import PIEPROFD, ROOT
from overhead import PACKAGES, tools

sys.path.append(os.path.join(ROOT, "tests", "torture"))

from frame import write_table  # noqa: E402

TARGET = os.path.join(os.path.dirname(os.path.abspath(__file__)), "peer_targets.py")
PROGRAMS = {"loop": "Python loop", "array": "numpy", "server": "web server"}
# Until a program, or a profiler of it, works as it will.
SETTLE = 1.0
# Of fewer windows an interval is the least and the most: medians drawn from them are hardly others.
INTERVAL_WINDOWS = 5
HEADS = ("program", "profiler", "CPU time of a pass", "wall time of a pass", "its own CPU time, of a processor",
         "planted line first", "windows")


class Failed(Exception):
    """A profiler did not do what it is for."""


def planted_line(program):
    with open(TARGET) as file:
        return next(number for number, line in enumerate(file, 1) if line.endswith("# planted: %s\n" % program))


# ---- the lines that have most CPU time, by each one's own output: several where these have the same

def most(times):
    highest = max(times.values(), default=0)
    if not highest:
        raise Failed("no sample")
    return [place for place, time in times.items() if time == highest]


def hottest_of_pieprofd(path):
    with open(path) as file:
        lines = json.load(file)["lines"]
    return most({(line["file"], line["line"]): line["python_ns"] + line["native_ns"] + line["system_ns"] for line in lines})


def hottest_of_stacks(path, frame):
    """Collapsed stacks: the innermost frame that is Python's; frame has its file and its line."""
    times = collections.Counter()
    with open(path) as file:
        for line in file:
            stack, _, weight = line.rstrip("\n").rpartition(" ")
            found = [match for match in map(frame.search, stack.split(";")) if match]
            if found and weight.isdigit():
                times[found[-1].group(1), int(found[-1].group(2))] += int(weight)
    return most(times)


def hottest_of_py_spy(path):
    return hottest_of_stacks(path, re.compile(r"\(([^()]*\.py):(\d+)\)$"))


def hottest_of_austin(path):
    return hottest_of_stacks(path, re.compile(r"^([^;]*\.py):[^:]*:(\d+)$"))


def hottest_of_scalene(path):
    with open(path) as file:
        files = json.load(file)["files"]
    return most({(name, line["lineno"]): line["n_cpu_percent_python"] + line["n_cpu_percent_c"]
                 for name, entry in files.items() for line in entry["lines"]})


# ---- profilers

class Attached:
    """A program of its own that looks at a process for as long as it runs."""

    def __init__(self, command, hottest, ends_by=signal.SIGTERM):
        """command: of a process and the file to write; hottest: of that file."""
        self.command = command
        self.hottest = hottest
        self.ends_by = ends_by

    def window(self, worker, path, seconds):
        return switched.profiled_window(worker, self.command(str(worker.process.pid), path), seconds, self.ends_by, SETTLE)


class Injected:
    """memray: a library that is put into the process, and stays there."""

    hottest = None

    def __init__(self, program):
        self.program = program

    def call(self, *words):
        run = subprocess.run([self.program, *words], capture_output=True, text=True, check=False, timeout=60,
                             stdin=subprocess.DEVNULL)
        if run.returncode:
            raise Failed((run.stderr.strip() or run.stdout.strip()).splitlines()[-1][:120])

    def window(self, worker, path, seconds):
        pid = str(worker.process.pid)
        self.call("attach", "-f", "-o", path, pid)
        try:
            time.sleep(SETTLE)
            window = worker.window(seconds)
        finally:
            self.call("detach", pid)
        if not window:
            raise Failed("no three passes in %g s" % (switched.STALLED * seconds))
        return window


class Starter:
    """Scalene: it starts the program, and lives in it."""

    hottest = staticmethod(hottest_of_scalene)

    def __init__(self, python):
        self.python = python

    def command(self, program, path):
        return [self.python, "-m", "scalene", "run", "-o", path, TARGET, program]


def profilers(programs):
    """Those that attach, those whose library stays, those that start the program."""
    def program(name):
        return os.path.join(programs, name)

    def pieprofd(*words):
        return Attached(lambda pid, path: [PIEPROFD, "--pid", pid, "-d", "0", "-q", "-o", path, "--format", "json", *words],
                        hottest_of_pieprofd)

    def py_spy(*words):
        return Attached(lambda pid, path: [program("py-spy"), "record", "-r", "100", "-f", "raw", "-o", path, "-p", pid, *words],
                        hottest_of_py_spy, signal.SIGINT)

    attached = {
        "pieprofd": pieprofd(),
        "pieprofd --mode time": pieprofd("--mode", "time"),
        "py-spy": py_spy(),
        "py-spy --nonblocking": py_spy("--nonblocking"),
        "py-spy --native": py_spy("--native"),
        "Austin": Attached(lambda pid, path: [program("austin"), "-o", path, "-p", pid], hottest_of_austin, signal.SIGINT),
    }
    return attached, {"memray": Injected(program("memray"))}, {"Scalene": Starter(program("python"))}


# ---- measuring

class Outcome:
    """What was seen of one profiler and one program."""

    def __init__(self):
        self.windows = []  # before, profiled, after
        self.named = []    # whether the planted line was first
        self.problem = None

    def note_line(self, profiler, path, planted):
        if not profiler.hottest:
            return
        places = [(os.path.basename(name), line) for name, line in profiler.hottest(path)]
        self.named.append((os.path.basename(TARGET), planted) in places)

    def cells(self, profiler):
        if not self.windows:
            return [self.problem or "no time for it", "", "", "", "0"]
        cells = []
        for attribute in ("cpu", "wall"):
            values = switched.ratios(self.windows, attribute)
            few = len(values) < INTERVAL_WINDOWS
            figures = (statistics.median(values),) + ((min(values), max(values)) if few else switched.interval(values))
            cells.append("%+.1f%% (%+.1f to %+.1f)" % tuple(100 * figure - 100 for figure in figures))
        used = statistics.median(profiled.profiler_cpu for _, profiled, _ in self.windows)
        cells.append("%.1f%%" % (100 * used) if isinstance(profiler, Attached) else "within the program's")
        cells.append("%d of %d" % (sum(self.named), len(self.named)) if self.named else "-")
        return cells + [str(len(self.windows)) + (", then: " + self.problem if self.problem else "")]


def rounds(seconds, least):
    """Numbers, as long as one more round fits into the time, by the longest so far."""
    began, longest, number = time.monotonic(), 0, 0
    while number < least or time.monotonic() - began + longest <= seconds:
        start = time.monotonic()
        yield number
        longest = max(longest, time.monotonic() - start)
        number += 1


FAILURES = (OSError, RuntimeError, Failed, ValueError, KeyError, subprocess.TimeoutExpired)


def switch(program, chosen, arguments, seconds, outcomes):
    """These profilers on and off in turn, on one process."""
    command = [arguments.python, TARGET, program]
    with switched.Worker(command, {}, subprocess.DEVNULL) as worker, tempfile.TemporaryDirectory() as folder:
        worker.wait_for_passes()
        time.sleep(SETTLE)
        before = worker.window(arguments.seconds)
        for number in rounds(seconds, arguments.least):
            names = [name for name in chosen if not outcomes[name].problem]
            # Whoever comes behind another is not always the same.
            for name in reversed(names) if number % 2 else names:
                path = os.path.join(folder, "output.json")
                profiled = None
                try:
                    profiled = chosen[name].window(worker, path, arguments.seconds)
                    outcomes[name].note_line(chosen[name], path, planted_line(program))
                except FAILURES as error:
                    outcomes[name].problem = str(error)
                if worker.process.poll() is not None:
                    outcomes[name].problem = "the program died of it"
                    return
                if os.path.exists(path):
                    os.unlink(path)
                time.sleep(0.2)
                after = worker.window(arguments.seconds)
                if profiled and before and after:
                    outcomes[name].windows.append((before, profiled, after))
                before = after


def run_once(command, seconds):
    with switched.Worker(command, {}, subprocess.DEVNULL) as worker:
        worker.wait_for_passes()
        time.sleep(SETTLE)
        window = worker.window(seconds)
        worker.end()
    if not window:
        raise Failed("no three passes in %g s" % (switched.STALLED * seconds))
    return window


def run_in_turn(program, profiler, arguments, seconds, outcome):
    """Whole runs: one started by the profiler between two bare ones."""
    bare = [arguments.python, TARGET, program]
    with tempfile.TemporaryDirectory() as folder:
        before = run_once(bare, arguments.seconds)
        for _ in rounds(seconds, arguments.least):
            path = os.path.join(folder, "output.json")
            try:
                profiled = run_once(profiler.command(program, path), arguments.seconds)
                outcome.note_line(profiler, path, planted_line(program))
            except FAILURES as error:
                outcome.problem = str(error)
                return
            after = run_once(bare, arguments.seconds)
            outcome.windows.append((before, profiled, after))
            before = after


def measure(program, kinds, arguments):
    """A row for each profiler, shown as soon as it is known."""
    attached, injected, starters = kinds
    # What costs little takes more windows to tell.
    share = 60 * arguments.minutes / arguments.program_count / max(1, 2 * len(attached) + len(injected) + len(starters))
    outcomes = {name: Outcome() for kind in kinds for name in kind}
    for kind, weight in ((attached, 2), (injected, 1)):
        if kind:
            switch(program, kind, arguments, share * weight * len(kind), outcomes)
    for name, profiler in starters.items():
        run_in_turn(program, profiler, arguments, share, outcomes[name])
    rows = []
    for kind in kinds:
        for name, profiler in kind.items():
            rows.append("| %s |" % " | ".join([PROGRAMS[program], name] + outcomes[name].cells(profiler)))
            print(rows[-1], flush=True)
    return rows


def versions(programs):
    """Of all that is compared, as each package says."""
    run = subprocess.run([os.path.join(programs, "pip"), "list", "--format", "json", "--disable-pip-version-check"],
                         capture_output=True, text=True, check=False)
    found = {entry["name"]: entry["version"] for entry in json.loads(run.stdout or "[]")}
    return ", ".join("%s %s" % (name, found.get(package, "could not be had")) for name, package in (
        ("py-spy", "py-spy"), ("Austin", "austin-dist"), ("Scalene", "scalene"), ("memray", "memray"), ("numpy", "numpy")))


def heading(arguments, programs):
    python = subprocess.run([arguments.python, "-V"], capture_output=True, text=True, check=True).stdout.split()[1]
    return "%s, CPython %s, %s; windows of %g s, %d processors, load %.1f when it began." % (
        datetime.datetime.now(datetime.timezone.utc).strftime("%-d %B %Y"), python, versions(programs), arguments.seconds,
        os.cpu_count(), os.getloadavg()[0])


def chosen_of(entries, words):
    return {name: entry for name, entry in entries.items() if any(word in name for word in words.split(","))}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=6.5, help="in all; a minute more where everything is slow")
    parser.add_argument("--least", type=int, default=3, help="rounds, however long they take")
    parser.add_argument("--seconds", type=float, default=1, help="length of one window")
    parser.add_argument("--programs", default="", help="only those with one of these words in their name: loop, array, server")
    parser.add_argument("--profilers", default="", help="likewise")
    parser.add_argument("--venv", default=os.path.join(ROOT, "build", "peers"), help="the virtual environment's folder")
    parser.add_argument("--markdown", metavar="FILE", help="put the table between its marks there")
    arguments = parser.parse_args()
    system = "/usr/bin/python3"
    programs = tools(arguments.venv, {**PACKAGES, "scalene==2.4.0": "scalene", "memray==1.20.0": "memray",
                                      "numpy": "numpy-config"}, system if os.path.exists(system) else sys.executable)
    arguments.python = os.path.join(programs, "python")
    wanted = chosen_of(PROGRAMS, arguments.programs)
    arguments.program_count = max(1, len(wanted))
    kinds = [chosen_of(kind, arguments.profilers) for kind in profilers(programs)]
    rows = [heading(arguments, programs), "", "| %s |" % " | ".join(HEADS), "|" + "---|" * len(HEADS)]
    print("\n".join(rows), flush=True)
    for program in wanted:
        rows += measure(program, kinds, arguments)
    if arguments.markdown:
        write_table(arguments.markdown, "peers", "\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
