#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What profiling time costs, beside py-spy and Austin: one process, profiled and left alone in turn (switched.py).

    tests/bench/overhead.py [--rounds N] [--seconds S] [--threads 1,150] [--rates 100,1000] [--profilers WORD,WORD]

Native frames are on in all of them. One thread works, the others wait, as in a server; `--busy` has all of them work.
py-spy and Austin come from the Python registry, into a virtual environment in the cache; one that cannot be had
is left out and named. Wall time is worth looking at on a quiet machine alone. Beside medians stand their
95% intervals, by drawing the rounds anew.
"""
import argparse
import os
import statistics
import subprocess
import sys
import threading
import time

import switched
from harness import CACHE, PIEPROFD, TARGETS, default_interpreter

# A program of each. The last Austin that runs on glibc 2.36.
PACKAGES = {"py-spy==0.4.3": "py-spy", "austin-dist==3.7.0": "austinp"}


def tools(folder=os.path.join(CACHE, "profilers"), packages=None, python=sys.executable):
    """The programs of a virtual environment with these packages, as far as they can be had."""
    programs = os.path.join(folder, "bin")
    if not os.path.exists(os.path.join(programs, "pip")):
        subprocess.run([python, "-m", "venv", folder], check=False, stdout=subprocess.DEVNULL)
    for package, program in (packages or PACKAGES).items():
        if not os.path.exists(os.path.join(programs, program)):
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
    switched.work_until_end(lambda: layer.backprop(d))
    end.set()


def show(threads, rate, name, windows):
    cells = []
    for attribute in ("wall", "cpu"):
        values = switched.ratios(windows, attribute)
        cells.append("%.3f (%.3f to %.3f)" % ((statistics.median(values),) + switched.interval(values)))
    used = statistics.median(profiled.profiler_cpu for _, profiled, _ in windows)
    print("| %d | %d | %s | %s | %s | %.1f%% |" % (threads, rate, name, cells[0], cells[1], 100 * used), flush=True)


def compare(interpreter, threads, busy, rate, chosen, arguments):
    """All profilers at one rate, in turn, on one process."""
    windows = {name: [] for name in chosen}
    failed = {}
    command = [interpreter.path, os.path.abspath(__file__), "--worker", "--threads", str(threads)]
    with switched.Worker(command + (["--busy"] if busy else []), interpreter.environment) as process:
        process.wait_for_passes()
        before = process.window(arguments.seconds)
        for _ in range(arguments.rounds):
            for name, profiler in chosen.items():
                if name in failed:
                    continue
                try:
                    profiled = switched.profiled_window(process, profiler(process.process.pid), arguments.seconds)
                except (OSError, RuntimeError) as error:
                    failed[name] = str(error)
                    profiled = None
                time.sleep(0.2)
                after = process.window(arguments.seconds)
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
    print("%s; CPython %s; %d rounds, windows of %g s" % (switched.machine(), interpreter.name, arguments.rounds,
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
