#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`serve --all-python` among many processes that do little: are all of them seen, how soon, how often, and for how much.

    tests/bench/node_mode.py [--processes 200] [--groups 20] [--seconds 60] [--share 1%] [--push] [-- OPTION...]

Starts so many Python processes, each of which works for a millisecond every second: workers of pre-fork services, each service in
a control group that is named as a container runtime names it (without, where /sys/fs/cgroup cannot be written). Serves the machine
for so long, and starts three more meanwhile. Who has a session is told by TracerPid, five times a second, so that engines without
a tracer cannot be measured. --push has a receiver (tests/e2e/otlp_receiver.py) decode what is pushed every 15 s, and says of how many
processes there was a profile and whether its labels were the process's. What follows -- is for serve.

CPU time is that of the daemon with its sender. The processes' own is compared with that of as long a time without the daemon,
half before and half after. The machine's other Python processes are sampled, too, and take turns from these.
"""
import argparse
import contextlib
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))

from switched import machine, high_water_kib  # noqa: E402  (it finds the harness, too)
from harness import PIEPROFD, default_interpreter, find_packages  # noqa: E402

# Shared libraries as a small service has them; the workers are forked, as a pre-fork server does it.
WORK = """
import collections, ctypes, json, os, random, signal, ssl, sqlite3, sys, threading, time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
for _ in range(int(sys.argv[1]) - 1):
    if not os.fork():
        break
os.write(1, b"%d\\n" % os.getpid())
os.close(1)
time.sleep(random.random())
while True:
    ends = time.thread_time_ns() + 1000000
    while time.thread_time_ns() < ends:
        sum(range(100))
    time.sleep(1)
"""
LOOK = 0.2
RECEIVER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e", "otlp_receiver.py")


def read(path):
    try:
        with open(path, "rb") as file:
            return file.read().decode(errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return ""


def hierarchy():
    """A writable one of control groups; None: there is none."""
    for path in ("/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/pids"):
        if os.access(path + "/cgroup.procs", os.W_OK):
            return path
    return None


def tracer_of(pid):
    return int(read("/proc/%d/status" % pid).partition("\nTracerPid:")[2].partition("\n")[0] or "0")


class Group:
    def __init__(self, root, number):
        self.service = "service-%d" % number
        self.container = "%064x" % (0xfeed0000 + number)
        self.path = root and "%s/docker-%s.scope" % (root, self.container)
        if self.path:
            os.makedirs(self.path, exist_ok=True)

    def begin(self, python, count):
        """So many processes, once they run."""
        def enter():
            if self.path:
                with open(self.path + "/cgroup.procs", "w") as procs:
                    procs.write(str(os.getpid()))
        environment = dict(os.environ, OTEL_SERVICE_NAME=self.service,
                           OTEL_RESOURCE_ATTRIBUTES="service.version=%d" % len(self.service))
        with subprocess.Popen([python, "-c", WORK, str(count)], env=environment, preexec_fn=enter, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE) as self.process:
            watched = [Watched(int(line), self) for line in self.process.stdout]
            # It is ended with the others.
            self.process.returncode = 0
        return watched


def end_groups(groups):
    for group in groups:
        for _ in range(50):
            with contextlib.suppress(OSError):
                if group.path:
                    os.rmdir(group.path)
                break
            time.sleep(0.1)


class Watched:
    """A process of ours: its turns, as far as they were seen."""

    def __init__(self, pid, group):
        self.pid, self.group, self.began = pid, group, time.monotonic()
        self.traced, self.turns, self.first, self.waits = False, 0, None, []
        self.left = self.began  # when its last turn ended

    def look(self, daemon, now):
        tracer = tracer_of(self.pid)
        # A thread of the daemon's; it may have ended by now.
        traced = tracer > 0 and os.path.exists("/proc/%d/task/%d" % (daemon, tracer))
        if traced and not self.traced:
            self.turns += 1
            self.first = self.first if self.first is not None else now - self.began
            self.waits.append(now - self.left)
        elif self.traced and not traced:
            self.left = now
        self.traced = traced


def cpu_seconds(pid):
    """Of a process and its children, grandchildren too."""
    fields = read("/proc/%d/stat" % pid).rpartition(")")[2].split()
    ticks = int(fields[11]) + int(fields[12]) if fields else 0
    children = " ".join(read("/proc/%d/task/%s/children" % (pid, tid))
                        for tid in (os.listdir("/proc/%d/task" % pid) if fields else ()))
    return ticks / os.sysconf("SC_CLK_TCK") + sum(cpu_seconds(int(child)) for child in children.split())


def run_ns(watched):
    return sum(int((read("/proc/%d/schedstat" % one.pid) or "0").split()[0]) for one in watched)


def rest(watched, seconds):
    """CPU time that the processes take when left alone."""
    began, before = time.monotonic(), run_ns(watched)
    time.sleep(seconds)
    return (run_ns(watched) - before) / 1e9 / (time.monotonic() - began)


def check_labels(log, watched):
    """How many processes there were profiles of, and which had wrong labels."""
    by_pid = {one.pid: one.group for one in watched}
    seen, wrong = set(), set()
    for line in read(log).splitlines():
        for profile in json.loads(line).get("profiles", ()):
            resource = profile["resource"]
            group = by_pid.get(resource.get("process.pid"))
            if not group:
                continue
            seen.add(resource["process.pid"])
            if resource.get("service.name") != group.service or resource.get("service.version") != str(len(group.service)) or \
                    (group.path and resource.get("container.id") != group.container):
                wrong.add(resource["process.pid"])
    return seen, wrong


def begin_receiver(stack, folder):
    packages, reason = find_packages(default_interpreter(), "opentelemetry-proto")
    if not packages:
        sys.exit("no receiver: %s" % reason)
    log = os.path.join(folder, "log")
    receiver = subprocess.Popen([default_interpreter().path, RECEIVER, log], stdout=subprocess.PIPE, text=True,
                                env=dict(os.environ, PYTHONPATH=packages))
    stack.callback(receiver.kill)
    return log, ("--push", "http://127.0.0.1:%d" % int(receiver.stdout.readline()), "--push-spool", folder + "/spool")


def serve(options, watched, groups, words):
    """What the daemon used, and how many are newcomers."""
    daemon = subprocess.Popen([PIEPROFD, "serve", "--all-python", "--node-overhead", options.share, "--mode", "time", *words],
                              stdin=subprocess.DEVNULL, start_new_session=True)
    began, before = time.monotonic(), run_ns(watched)
    for one in watched:
        one.began = one.left = began
    old, threads, peak = list(watched), 0, 0
    first_half = None
    while (now := time.monotonic()) < began + options.seconds:
        for one in watched:
            one.look(daemon.pid, now)
        if now > began + options.seconds / 2 and len(watched) == len(old):
            first_half = cpu_seconds(daemon.pid)
            watched += groups[0].begin(options.python, 3)
        threads = max(threads, len(os.listdir("/proc/%d/task" % daemon.pid)))
        time.sleep(LOOK)
    took = time.monotonic() - began
    used = {"cpu": cpu_seconds(daemon.pid) / took, "late cpu": (cpu_seconds(daemon.pid) - first_half) * 2 / took,
            "work": (run_ns(old) - before) / 1e9 / took, "took": took, "threads": threads,
            "peak": high_water_kib(daemon.pid) / 1024}
    daemon.terminate()
    used["status"] = daemon.wait(60)
    return used


def show(options, watched, used, bare, log):
    old, new = watched[:-3], watched[-3:]
    ends = time.monotonic()
    met = [one for one in old if one.turns]
    waits = [wait for one in old for wait in one.waits]
    never = [ends - one.left for one in old if not one.traced]
    percent = 100 / os.cpu_count()
    print("%d processes in %d %s, share %s, %.0f s; %s" % (
        len(old), options.groups, "control groups" if hierarchy() else "groups without control groups", options.share,
        used["took"], machine()))
    print("  sampled at least once       %d of %d" % (len(met), len(old)))
    if met:
        print("  until the first turn        median %.1f s, longest %.1f s" % (
            statistics.median(one.first for one in met), max(one.first for one in met)))
        print("  turns                       %d, each process %d to %d" % (
            len(waits), min(one.turns for one in old), max(one.turns for one in old)))
        print("  between two turns           median %.1f s, longest %.1f s, unfinished %.1f s" % (
            statistics.median(waits), max(waits), max(never, default=0)))
    print("  new ones, first turn after  %s" % ", ".join("%.1f s" % one.first if one.turns else "never" for one in new))
    print("  the daemon's CPU time       %.2f%% of the machine, %.2f%% in the second half; exit status %d" % (
        percent * used["cpu"], percent * used["late cpu"], used["status"]))
    print("  its memory, threads         %.0f MB, %d at most" % (used["peak"], used["threads"]))
    print("  the processes' CPU time     %.2f%% of the machine, %.2f%% and %.2f%% before and after" % (
        percent * used["work"], percent * bare[0], percent * bare[1]))
    if log:
        seen, wrong = check_labels(log, watched)
        print("  pushed                      profiles of %d processes, labels wrong in %d" % (len(seen), len(wrong)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--processes", type=int, default=200)
    parser.add_argument("--groups", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--share", default="1%")
    parser.add_argument("--push", action="store_true")
    parser.add_argument("--rest", type=float, default=10, help="seconds without the daemon, before and after")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("words", nargs="*", help="options of serve")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with contextlib.ExitStack() as stack:
        folder = tempfile.mkdtemp()
        stack.callback(shutil.rmtree, folder, True)
        groups = [Group(hierarchy(), number) for number in range(options.groups)]
        stack.callback(end_groups, groups)
        watched = []

        def end_processes():
            for one in watched:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(one.pid, signal.SIGKILL)
        stack.callback(end_processes)
        for group in groups:
            watched += group.begin(options.python, options.processes // options.groups)
        # They give way to whatever else the machine does; the daemon does not.
        with contextlib.suppress(OSError), open("/proc/self/autogroup", "w") as autogroup:
            autogroup.write("10")
        log, words = begin_receiver(stack, folder) if options.push else (None, ())
        before = rest(watched, options.rest)
        used = serve(options, watched, groups, ("--listen", "unix:" + folder + "/socket", *words, *options.words))
        bare = before, rest(watched[:-3], options.rest)
        show(options, watched, used, bare, log)


if __name__ == "__main__":
    main()
