#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What profiling time costs, beside py-spy and Austin: one process, profiled and left alone in turn.

    tests/bench/overhead.py [--rounds N] [--seconds S] [--threads 1,150] [--rates 100,1000] [--profilers WORD,WORD]

The process notes after each pass of its work how much wall time and CPU time it has used. Each profiler attaches to it for
a while, time and again, the others in between; a pass in such a window is compared with passes in the windows just before
and just after, without any. So the machine's drift, and where the memory of a process happens to lie, fall out; two
processes of the same work differ more than any profiler here costs. What attaching itself costs is not in the windows.

Native frames are on in all of them. One thread works, the others wait, as in a server; `--busy` has all of them work.
py-spy and Austin come from the Python registry, into a virtual environment in the cache; one that cannot be had
is left out and named. Wall time is worth looking at on a quiet machine alone. Beside medians stand their
95% intervals, by drawing the rounds anew.
"""
import argparse
import collections
import os
import random
import select
import statistics
import subprocess
import sys
import threading
import time

import paired
from harness import CACHE, PIEPROFD, TARGETS, default_interpreter

# The last Austin that runs on glibc 2.36.
PACKAGES = ("py-spy==0.4.3", "austin-dist==3.7.0")
# From a profiler's start until its window begins: it has read by then what it reads at first.
SETTLE = 1.5
# A profiler with which no pass is done within so many windows' time is left out.
STALLED = 8
# Drawn to see how far chance moves a median.
DRAWS = 2000

Window = collections.namedtuple("Window", "wall cpu profiler_cpu")


def tools():
    """The folder with py-spy and austinp, as far as they can be had."""
    folder = os.path.join(CACHE, "profilers")
    programs = os.path.join(folder, "bin")
    if not os.path.exists(os.path.join(programs, "pip")):
        subprocess.run([sys.executable, "-m", "venv", folder], check=False, stdout=subprocess.DEVNULL)
    for package, program in zip(PACKAGES, ("py-spy", "austinp")):
        path = os.path.join(programs, program)
        if not os.path.exists(path):
            subprocess.run([os.path.join(programs, "pip"), "install", "-q", package], check=False)
    return programs


def profilers(programs, rate):
    def pieprofd(*arguments):
        return lambda pid: [PIEPROFD, "--pid", str(pid), "-d", "0", "-q", "-r", str(rate), "-o", "/dev/null",
                            "--format", "json", *arguments]

    return {
        "pieprofd, time": pieprofd("--mode", "time"),
        "pieprofd, defaults": pieprofd(),
        "py-spy --native": lambda pid: [os.path.join(programs, "py-spy"), "record", "--native", "-r", str(rate), "-d",
                                        "3600", "-f", "raw", "-o", "/dev/null", "-p", str(pid)],
        "austinp": lambda pid: [os.path.join(programs, "austinp"), "-i", str(1000000 // rate), "-o", "/dev/null",
                                "-p", str(pid)],
    }


def worker(threads, busy):
    """Works until its input ends; a line for each pass: when it ended, and the CPU time until then."""
    sys.path.insert(0, TARGETS)
    import conv_backprop

    layer, d = conv_backprop.make(size=6)
    end = threading.Event()

    def other():
        while busy and not end.is_set():
            layer.backprop(d)
        end.wait()

    for _ in range(threads - 1):
        threading.Thread(target=other, daemon=True).start()
    while not select.select([sys.stdin], [], [], 0)[0]:
        layer.backprop(d)
        sys.stdout.write("%d %d\n" % (time.monotonic_ns(), time.process_time_ns()))
        sys.stdout.flush()
    end.set()


class Worker:
    """A process that works, and what it said of its passes."""

    def __init__(self, interpreter, threads, busy):
        command = [interpreter.path, os.path.abspath(__file__), "--worker", "--threads", str(threads)]
        self.process = subprocess.Popen(command + (["--busy"] if busy else []), stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True,
                                        env=dict(os.environ, OPENBLAS_NUM_THREADS="1", **interpreter.environment))
        self.passes = []
        threading.Thread(target=self.read, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def read(self):
        for line in self.process.stdout:
            self.passes.append(tuple(map(int, line.split())))

    def window(self, seconds):
        """Seconds of wall and CPU time that a pass takes, from now on for so long; None when nothing gets done."""
        first = len(self.passes)
        began = time.monotonic()
        while time.monotonic() - began < seconds or len(self.passes) - first < 3:
            time.sleep(0.05)
            if time.monotonic() - began > STALLED * seconds:
                return None
        passes = self.passes[first:]
        count = 1e9 * (len(passes) - 1)
        return Window((passes[-1][0] - passes[0][0]) / count, (passes[-1][1] - passes[0][1]) / count, None)


def cpu_seconds(pid):
    with open("/proc/%d/stat" % pid) as file:
        words = file.read().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def profiled_window(worker, command, seconds):
    """The window and the share of a processor that the profiler used meanwhile; raises RuntimeError."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        time.sleep(SETTLE)
        if process.poll() is not None:
            raise RuntimeError("ended with %d" % process.returncode)
        began, used = time.monotonic(), cpu_seconds(process.pid)
        window = worker.window(seconds)
        if not window:
            raise RuntimeError("no three passes in %g s" % (STALLED * seconds))
        return window._replace(profiler_cpu=(cpu_seconds(process.pid) - used) / (time.monotonic() - began))
    finally:
        process.terminate()
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def interval(ratios):
    """The middle 95% of medians of as many ratios, drawn from these."""
    drawn = sorted(statistics.median(random.choices(ratios, k=len(ratios))) for _ in range(DRAWS))
    return drawn[DRAWS // 40], drawn[-DRAWS // 40]


def ratios(windows, attribute):
    """Of each profiled window to the mean of the bare ones around it."""
    return [getattr(profiled, attribute) * 2 / (getattr(before, attribute) + getattr(after, attribute))
            for before, profiled, after in windows]


def show(threads, rate, name, windows):
    cells = []
    for attribute in ("wall", "cpu"):
        values = ratios(windows, attribute)
        cells.append("%.3f (%.3f to %.3f)" % ((statistics.median(values),) + interval(values)))
    used = statistics.median(profiled.profiler_cpu for _, profiled, _ in windows)
    print("| %d | %d | %s | %s | %s | %.1f%% |" % (threads, rate, name, cells[0], cells[1], 100 * used), flush=True)


def compare(interpreter, threads, busy, rate, chosen, arguments):
    """All profilers at one rate, in turn, on one process."""
    windows = {name: [] for name in chosen}
    failed = {}
    with Worker(interpreter, threads, busy) as worker:
        time.sleep(SETTLE)
        before = worker.window(arguments.seconds)
        for _ in range(arguments.rounds):
            for name, command in chosen.items():
                if name in failed:
                    continue
                try:
                    profiled = profiled_window(worker, command(worker.process.pid), arguments.seconds)
                except (OSError, RuntimeError) as error:
                    failed[name] = str(error)
                    profiled = None
                time.sleep(0.2)
                after = worker.window(arguments.seconds)
                if profiled:
                    windows[name].append((before, profiled, after))
                before = after
    for name in chosen:
        if name in failed:
            print("| %d | %d | %s | %s | | |" % (threads, rate, name, failed[name]), flush=True)
        else:
            show(threads, rate, name, windows[name])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=2, help="length of one window")
    parser.add_argument("--threads", default="1,150")
    parser.add_argument("--rates", default="100,1000")
    parser.add_argument("--profilers", default="", help="only those with one of these words in their name")
    parser.add_argument("--busy", action="store_true")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        worker(int(arguments.threads), arguments.busy)
        return
    interpreter, programs = default_interpreter(), tools()
    print("%s; CPython %s; %d rounds, windows of %g s" % (paired.machine(), interpreter.name, arguments.rounds,
                                                          arguments.seconds))
    print("| threads | rate | profiler | wall time of a pass | target's CPU time of a pass | "
          "profiler's CPU time, of a processor |")
    print("|---|---|---|---|---|---|")
    words = arguments.profilers.split(",")
    for threads in map(int, arguments.threads.split(",")):
        for rate in map(int, arguments.rates.split(",")):
            chosen = {name: command for name, command in profilers(programs, rate).items()
                      if any(word in name for word in words)}
            compare(interpreter, threads, arguments.busy, rate, chosen, arguments)


if __name__ == "__main__":
    main()
