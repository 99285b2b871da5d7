# SPDX-License-Identifier: Apache-2.0
"""One process, profiled and left alone in turn: what the benches of cost share.

The process notes after each pass of its work how much wall time and CPU time it has used. A profiler attaches to it for a
while, time and again; passes in such a window are compared with those in the windows just before and just after, without any.
So the machine's drift, and where the memory of a process happens to lie, fall out; two processes of the same work differ more
than profiling costs. What attaching itself costs is not in the windows.
"""
import collections
import os
import platform
import random
import select
import signal
import statistics
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))

# From a profiler's start until its window begins: it has read by then what it reads at first.
SETTLE = 1.5
# A profiler with which no three passes are done within so many windows' time is given up.
STALLED = 8
# Drawn to see how far chance moves a median.
DRAWS = 2000

# Seconds of wall and CPU time that a pass takes; of a processor that the profiler uses; KiB that it took at most.
Window = collections.namedtuple("Window", "wall cpu profiler_cpu profiler_kib")


def machine():
    model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "?")
    return "%s %s, %s, %d processors; load %.1f" % (platform.system(), platform.release(), model, os.cpu_count(),
                                                    os.getloadavg()[0])


def high_water_kib(pid):
    with open("/proc/%s/status" % pid) as status:
        for line in status:
            if line.startswith("VmHWM:"):
                return int(line.split()[1])
    return 0


def work_until_end(work, clock=time.monotonic_ns):
    """
    In the process: works until its input ends; a line for each pass: when it ended, and the CPU time until then.
    clock: of what is to be called its wall time, where a pass also waits for others.
    """
    while not select.select([sys.stdin], [], [], 0)[0]:
        work()
        sys.stdout.write("%d %d\n" % (clock(), time.process_time_ns()))
        sys.stdout.flush()


class Worker:
    """A process that works, and what it said of its passes."""

    def __init__(self, command, environment, stderr=None):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, text=True,
                                        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", **environment})
        self.passes = []
        threading.Thread(target=self.read, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def read(self):
        for line in self.process.stdout:
            words = line.split()
            # A profiler that lives in it may say something, too.
            if len(words) == 2 and all(word.isdigit() for word in words):
                self.passes.append(tuple(map(int, words)))

    def end(self, limit=60):
        """Lets it end by itself; raises subprocess.TimeoutExpired."""
        self.process.stdin.close()
        self.process.wait(timeout=limit)

    def wait_for_passes(self, count=3, limit=60):
        """Until it works as it will; raises RuntimeError."""
        began = time.monotonic()
        while len(self.passes) < count:
            if self.process.poll() is not None or time.monotonic() - began > limit:
                raise RuntimeError("the program did not begin to work")
            time.sleep(0.05)

    def kib(self):
        return high_water_kib(self.process.pid)

    def window(self, seconds):
        """From now on for so long; None when nothing gets done."""
        first = len(self.passes)
        began = time.monotonic()
        while time.monotonic() - began < seconds or len(self.passes) - first < 3:
            time.sleep(0.05)
            if time.monotonic() - began > STALLED * seconds:
                return None
        passes = self.passes[first:]
        count = 1e9 * (len(passes) - 1)
        return Window((passes[-1][0] - passes[0][0]) / count, (passes[-1][1] - passes[0][1]) / count, 0, 0)


def cpu_seconds(pid):
    with open("/proc/%d/stat" % pid) as file:
        words = file.read().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def profiled_window(worker, command, seconds, ends_by=signal.SIGTERM, settle=SETTLE):
    """A window with this profiler attached, which a signal ends; raises RuntimeError."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        time.sleep(settle)
        if process.poll() is not None:
            raise RuntimeError("ended with %d" % process.returncode)
        began, used = time.monotonic(), cpu_seconds(process.pid)
        window = worker.window(seconds)
        if not window:
            raise RuntimeError("no three passes in %g s" % (STALLED * seconds))
        return window._replace(profiler_cpu=(cpu_seconds(process.pid) - used) / (time.monotonic() - began),
                               profiler_kib=high_water_kib(process.pid))
    finally:
        process.send_signal(ends_by)
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def ratios(windows, attribute):
    """Of each profiled window to the mean of the bare ones around it."""
    return [getattr(profiled, attribute) * 2 / (getattr(before, attribute) + getattr(after, attribute))
            for before, profiled, after in windows]


def interval(values):
    """The middle 95% of medians of as many values, drawn from these."""
    drawn = sorted(statistics.median(random.choices(values, k=len(values))) for _ in range(DRAWS))
    return drawn[DRAWS // 40], drawn[-DRAWS // 40]
