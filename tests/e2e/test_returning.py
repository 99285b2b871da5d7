# SPDX-License-Identifier: Apache-2.0
"""Targets chosen by control group, and those that come later and come back."""
import contextlib
import json
import os
import signal
import subprocess
import tempfile
import time

from harness import (PIEPROFD, Daemon, Skip, check, check_equal, check_sampled, default_interpreter, pieprofd,
                     wait_attached, wait_until)
from test_follow import check_sums, time_of

WORK = "def work():\n    while True:\n        sum(range(1000))\nwork()"


@contextlib.contextmanager
def worker(*words, prepare=None):
    process = subprocess.Popen([default_interpreter().path, "-c", WORK, *words], preexec_fn=prepare)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def cpu_seconds(pid):
    with open("/proc/%d/stat" % pid) as file:
        return sum(map(int, file.read().rsplit(")", 1)[1].split()[11:13])) / os.sysconf("SC_CLK_TCK")


def let_work(pid, seconds):
    """Wait until the process is profiled and has used so much CPU time since, however busy the machine is."""
    wait_attached(pid)
    began = cpu_seconds(pid)
    wait_until(lambda: cpu_seconds(pid) > began + seconds, 30, "%d to work" % pid)


def unique():
    return "pieprofd-returning-%d" % os.getpid()


@contextlib.contextmanager
def reporting(*arguments):
    """A daemon that is ended by an interrupt; the report is filled in then."""
    report = {}
    with tempfile.TemporaryDirectory(prefix="pieprofd-returning-") as folder:
        path = os.path.join(folder, "x.json")
        with Daemon(*arguments, "--mode", "time", "--engine", "ptrace", "-d", 0, "-o", path) as daemon:
            yield daemon, report
            daemon.signal(signal.SIGINT)
            daemon.finish()
            with open(path) as file:
                report.update(json.load(file))


def test_waits_and_takes_it_again():
    pids = []
    with reporting("--name", unique(), "--wait", "--strict") as (daemon, report):
        time.sleep(1)
        check_equal(daemon.process.poll(), None, "the daemon waits")
        for _ in range(3):
            with worker(unique()) as process:
                let_work(process.pid, 0.8)
                pids.append(process.pid)
    check_sums(report)
    found = {process["pid"]: process for process in report["processes"]}
    check_equal(sorted(found), sorted(pids), "processes")
    for pid in pids:
        check_equal(found[pid]["end"], {"signal": 9}, "end of %d" % pid)
        check_sampled(time_of(found[pid]) > 0.4e9, "time of %d: %s" % (pid, found[pid]))
    check_sampled("work" in [line["function"] for line in report["lines"]], "lines %s" % report["lines"])
    check("PROCESSES  3: pid " in daemon.stdout, daemon.stdout)


def test_nobody_comes():
    run = pieprofd("--name", unique(), "--wait", "-d", 0.5, code=3)
    check("no such Python process appeared" in run.stderr, run.stderr)
    run = pieprofd("--cgroup", unique(), "-d", 0.5, code=3)
    check("no process in a cgroup" in run.stderr, run.stderr)
    check_equal(run.stdout, "", "stdout")


@contextlib.contextmanager
def cgroup():
    """A new one: its folder, and what puts a process into it."""
    folders = []
    for base in ("/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/pids"):
        if os.path.exists(os.path.join(base, "cgroup.procs")):
            with contextlib.suppress(OSError):
                os.mkdir(os.path.join(base, unique()))
                folders.append(os.path.join(base, unique()))
                break
    if not folders:
        raise Skip("needs root that may make a cgroup")
    folder = folders[0]

    def enter(child=""):
        with open(os.path.join(folder, child, "cgroup.procs"), "w") as file:
            file.write("%d\n" % os.getpid())

    try:
        yield folder, enter
    finally:
        wait_until(lambda: not open(os.path.join(folder, "cgroup.procs")).read(), what="an empty cgroup")
        for path in (os.path.join(folder, "inner"), folder):
            if os.path.exists(path):
                os.rmdir(path)


def check_in_a_container(folder):
    """What is mounted there is a group of the host's, whose paths /proc/PID/cgroup tells."""
    place = os.path.dirname(folder)
    said = [subprocess.run(["unshare", "--mount", "sh", "-c", 'mount --bind "$1" "$2" && shift 2 && exec "$@"', "sh",
                            folder, place, PIEPROFD, "--cgroup", path], capture_output=True, text=True, check=False)
            for path in (place, place + "/none")]
    check_equal([run.returncode for run in said], [3, 3], "exit codes, with %s" % [run.stderr for run in said])
    check("none of the 1 processes" in said[0].stderr, said[0].stderr)
    check("no process in a cgroup" in said[1].stderr, said[1].stderr)


def test_cgroup():
    """All Python processes in it and below, also those that come; nobody else."""
    with cgroup() as (folder, enter):
        sleeper = subprocess.Popen(["sleep", "60"], preexec_fn=enter)
        try:
            run = pieprofd("--cgroup", folder, code=3)
            check("none of the 1 processes" in run.stderr and "runs Python" in run.stderr, run.stderr)
            check_in_a_container(folder)
            os.mkdir(os.path.join(folder, "inner"))
            with worker(), worker(prepare=enter) as first, worker(prepare=lambda: enter("inner")) as second, \
                    reporting("--cgroup", unique()) as (_, report):
                for process in (first, second):
                    wait_attached(process.pid)
                with worker(prepare=enter) as third:
                    let_work(third.pid, 0.5)
            check_sums(report)
            found = {process["pid"]: process for process in report["processes"]}
            check_equal(sorted(found), sorted(process.pid for process in (first, second, third)), "processes")
            check_equal(found[third.pid]["end"], {"signal": 9}, "end of the third")
        finally:
            sleeper.kill()
            sleeper.wait()
