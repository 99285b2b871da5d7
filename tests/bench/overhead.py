#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What profiling time costs, beside py-spy and Austin: the same work, run in turn alone and under each of them.

    tests/bench/overhead.py [--rounds N] [--seconds S] [--threads 1,150] [--rates 100,1000]

Native frames are on in all of them. One thread works, the others wait, as in a server; `--busy` has all of them work.
py-spy and Austin come from the Python registry, into a virtual environment in the cache; one that cannot be had
is left out and named. Wall time is worth looking at on a quiet machine alone; CPU time of the target nearly always.
"""
import argparse
import os
import subprocess
import sys
import threading

import paired
from harness import CACHE, PIEPROFD, TARGETS, default_interpreter

# The last Austin that runs on glibc 2.36.
PACKAGES = ("py-spy==0.4.3", "austin-dist==3.7.0")


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


def worker(passes, threads, busy):
    sys.path.insert(0, TARGETS)
    import conv_backprop

    layer, d = conv_backprop.make(size=14)
    go = threading.Event()
    end = threading.Event()

    def other():
        go.wait()
        while busy and not end.is_set():
            layer.backprop(d)
        end.wait()

    others = [threading.Thread(target=other, daemon=True) for _ in range(threads - 1)]
    for thread in others:
        thread.start()
    layer.backprop(d)
    paired.wait_for_go()
    go.set()
    paired.timed(lambda: layer.backprop(d), passes)
    end.set()


def command(interpreter, passes, threads, busy):
    return [interpreter.path, os.path.abspath(__file__), "--worker", str(passes), "--threads", str(threads)] + (
        ["--busy"] if busy else [])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=2, help="length of one run")
    parser.add_argument("--threads", default="1,150")
    parser.add_argument("--rates", default="100,1000")
    parser.add_argument("--busy", action="store_true")
    parser.add_argument("--worker", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        worker(arguments.worker, int(arguments.threads), arguments.busy)
        return
    interpreter, programs = default_interpreter(), tools()
    environment = dict(interpreter.environment, OPENBLAS_NUM_THREADS="1")
    print("%s; CPython %s; %d rounds of %g s" % (paired.machine(), interpreter.name, arguments.rounds,
                                                 arguments.seconds))
    print("| threads | rate | profiler | wall time | target's CPU time | profiler's CPU time, of a processor |")
    print("|---|---|---|---|---|---|")
    for threads in map(int, arguments.threads.split(",")):
        first = paired.run(command(interpreter, 40, threads, arguments.busy), environment)
        passes = max(1, int(40 * arguments.seconds / first.wall))
        work = command(interpreter, passes, threads, arguments.busy)
        for rate in map(int, arguments.rates.split(",")):
            runs = {name: [] for name in profilers(programs, rate)}
            failed = {}
            for _ in range(arguments.rounds):
                for name, profiler in profilers(programs, rate).items():
                    if name in failed:
                        continue
                    # Each has a run alone right before its own: the machine drifts.
                    alone = paired.run(work, environment)
                    try:
                        runs[name].append((paired.run(work, environment, profiler, limit=20 * alone.wall), alone))
                    except (OSError, RuntimeError, subprocess.TimeoutExpired) as error:
                        failed[name] = "%s; alone %.1f s" % (error, alone.wall)
            for name, pairs in runs.items():
                if name in failed:
                    print("| %d | %d | %s | %s | | |" % (threads, rate, name, failed[name]))
                    continue
                used = [profiled.profiler_cpu / profiled.wall for profiled, _ in pairs]
                print("| %d | %d | %s | %.3f | %.3f | %.1f%% |" % (
                    threads, rate, name, paired.median_ratio(pairs, "wall"), paired.median_ratio(pairs, "cpu"),
                    100 * sorted(used)[len(used) // 2]), flush=True)


if __name__ == "__main__":
    main()
