# SPDX-License-Identifier: Apache-2.0
"""The same work with and without a profiler: what the benches of cost share.

A worker is a program that prints `ready`, waits for a line, works, and prints what report() says. So a profiler has
attached, and read what it reads at first, before the work begins; only the work is timed.
"""
import os
import platform
import resource
import select
import statistics
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))


def high_water_kib(pid="self"):
    with open("/proc/%s/status" % pid) as status:
        for line in status:
            if line.startswith("VmHWM:"):
                return int(line.split()[1])
    return 0


def wait_for_go():
    print("ready", flush=True)
    sys.stdin.readline()


def report(wall, cpu):
    print("%.6f %.6f %d" % (wall, cpu, high_water_kib()), flush=True)


class Figures:
    """Of one run: seconds of wall and CPU time of the work, KiB of the worker, and the same of the profiler."""

    def __init__(self, line, profiler):
        words = line.split()
        self.wall, self.cpu, self.kib = float(words[0]), float(words[1]), int(words[2])
        self.profiler_cpu = profiler.ru_utime + profiler.ru_stime if profiler else 0.0
        self.profiler_kib = profiler.ru_maxrss if profiler else 0


def run(command, environment, profiler=None, settle=1.5, limit=600):
    """One run, of limit seconds at most. profiler: from a process id to a command line; ends when the process does."""
    worker = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                              env=dict(os.environ, **environment))
    process = None
    try:
        if worker.stdout.readline() != "ready\n":
            raise RuntimeError("%s did not start" % command)
        if profiler:
            process = subprocess.Popen(profiler(worker.pid), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
            time.sleep(settle)
            if process.poll() is not None:
                raise RuntimeError("%s ended with %d" % (process.args[0], process.returncode))
        worker.stdin.write("go\n")
        worker.stdin.flush()
        if not select.select([worker.stdout], [], [], limit)[0]:
            raise RuntimeError("over %.0f s" % limit)
        line = worker.stdout.readline()
        worker.stdin.close()
        worker.wait(timeout=60)
        usage = None
        if process:
            _, _, usage = os.wait4(process.pid, 0)
            process.returncode = 0
        return Figures(line, usage)
    finally:
        for child in (worker, process):
            if child and child.returncode is None:
                child.kill()
                child.wait()
        worker.stdout.close()


def median_ratio(pairs, attribute):
    return statistics.median(getattr(with_, attribute) / getattr(without, attribute) for with_, without in pairs)


def machine():
    model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "?")
    return "%s %s, %s, %d processors; load %.1f" % (platform.system(), platform.release(), model, os.cpu_count(),
                                                    os.getloadavg()[0])


def timed(work, passes):
    """Works so often and reports."""
    wall, cpu = time.monotonic(), resource.getrusage(resource.RUSAGE_SELF)
    for _ in range(passes):
        work()
    after = resource.getrusage(resource.RUSAGE_SELF)
    report(time.monotonic() - wall, after.ru_utime - cpu.ru_utime + after.ru_stime - cpu.ru_stime)
