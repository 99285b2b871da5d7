# SPDX-License-Identifier: Apache-2.0
"""
The scenarios: what a target does, what happens to it, what is checked
afterwards. Each is a function that takes a Run and goes through its rounds.
"""
import os
import random
import resource
import shutil
import signal
import subprocess
import tempfile
import time

import kill_daemon
from frame import (RSS_SLACK_KIB, Daemon, Failure, Result, Subject, attached, find_interpreters, finish, profiler,
                   status_of, take_breakpoints, wait_until)

# Where cgroups are mounted, the file that freezes one, and what is written there for it and for the contrary.
FREEZERS = {"v2": (("/sys/fs/cgroup", "/sys/fs/cgroup/unified"), "cgroup.freeze", "1", "0"),
            "v1": (("/sys/fs/cgroup/freezer",), "freezer.state", "FROZEN", "THAWED")}


class Skip(Exception):
    """A scenario cannot be played here, for the reason given."""


class Run:
    def __init__(self, count, seed):
        self.count = count
        self.random = random.Random(seed)
        self.result = Result()
        self.interpreter = find_interpreters()[0]

    def rounds(self):
        for _ in range(self.count):
            yield
            self.result.rounds += 1

    def subject(self, kind, **more):
        return Subject(self.interpreter, kind, self.result, **more)


SCENARIOS = []  # (name, function, rounds in the short version, rounds in the long one)


def scenario(name, short, long):
    def add(function):
        SCENARIOS.append((name, function, short, long))
        return function

    return add


@scenario("attach and detach", 15, 1000)
def attach_and_detach(run):
    with run.subject("workers") as target:
        before = None
        for _ in run.rounds():
            with profiler(target, "-d", 0.1) as daemon:
                run.result.while_attached += attached(target, daemon)
                finish(daemon, run.result)
            target.inspect()
            before = before or target.resident_kib()
        run.result.grown += target.alive() and target.resident_kib() > before + RSS_SLACK_KIB
        target.end()


@scenario("daemon ended by a signal", 0, 1000)  # tests/e2e/test_survival.py has the short one
def daemon_ended(run):
    run.result, run.result.ending = kill_daemon.torture(find_interpreters(), run.count, run.random.randrange(1000))


def storm(kind, breakpoints=4):
    """A target of this kind, profiled, and in every second round left by a daemon that is killed."""

    def play(run):
        with run.subject(kind) as target:
            for _ in run.rounds():
                killed = run.result.rounds % 2
                with profiler(target, "-d", 60 if killed else 0.4) as daemon:
                    run.result.while_attached += attached(target, daemon)
                    if killed:
                        time.sleep(0.3 * run.random.random())
                        daemon.process.kill()
                    # A target that becomes another program ends it before we do.
                    finish(daemon, run.result, (-9, 0, 3, 6) if killed else (0, 3, 6))
                target.inspect(breakpoints)
            target.end()

    return play


for title, storm_kind, taken in (
        ("200 threads start and end", "threads", 4), ("fork", "fork", 4),
        ("vfork and exec of a child", "spawn", 4), ("clone(2), with and without SIGCHLD", "clone", 4),
        ("exec of itself", "exec", 4), ("three timers and signals at 1 kHz", "signals", 4),
        ("handles SIGURG, SIGTRAP, SIGCHLD", "handle", 4), ("blocks them", "block", 4), ("ignores them", "ignore", 4),
        ("its own breakpoints and clock", "perf", 0),
        ("traces a child of its own", "trace", 4), ("dlopen and dlclose", "load", 4)):
    scenario(title, 2, 40)(storm(storm_kind, taken))


@scenario("SIGSTOP and SIGCONT by others", 2, 40)
def stopped_and_continued(run):
    with run.subject("workers", own_eintr=True) as target:
        for _ in run.rounds():
            killed = run.result.rounds % 2
            with profiler(target, "-d", 60 if killed else 0.4) as daemon:
                run.result.while_attached += attached(target, daemon)
                for _ in range(20):
                    os.kill(target.pid, signal.SIGSTOP)
                    time.sleep(0.01 * run.random.random())
                    os.kill(target.pid, signal.SIGCONT)
                    time.sleep(0.01 * run.random.random())
                if killed:
                    daemon.process.kill()
                finish(daemon, run.result, (-9,) if killed else (0, 3, 6))
            target.inspect()
        target.end()


@scenario("a stopped target (T)", 2, 40)
def stopped_target(run):
    with run.subject("workers", own_eintr=True) as target:
        for _ in run.rounds():
            killed = run.result.rounds % 2
            os.kill(target.pid, signal.SIGSTOP)
            with profiler(target, "-d", 60 if killed else 0.3) as daemon:
                run.result.while_attached += attached(target, daemon)
                time.sleep(0.1 * run.random.random())
                if killed:
                    daemon.process.kill()
                finish(daemon, run.result, (-9,) if killed else (0, 6))
            target.inspect(stopped=True)
            if target.status()["State"][0] != "T":
                run.result.other.append("the stop ended with the daemon: %s" % target.status()["State"])
            os.kill(target.pid, signal.SIGCONT)
            time.sleep(0.02)
            target.inspect()
        target.end()


def frozen(run, version):
    roots, file_name, freeze, thaw = FREEZERS[version]
    root = next((path for path in roots if os.access(os.path.join(path, "cgroup.procs"), os.W_OK)), None)
    try:
        group = tempfile.mkdtemp(prefix="pieprofd-torture-", dir=root) if root else None
    except OSError:
        group = None
    if not group:
        raise Skip("cgroup %s is not writable here" % version)

    def write(name, value):
        with open(os.path.join(group, name), "w") as file:
            file.write(str(value))

    try:
        with run.subject("workers", own_eintr=True) as target:
            write("cgroup.procs", target.pid)
            for _ in run.rounds():
                killed = run.result.rounds % 2
                write(file_name, freeze)
                with profiler(target, "-d", 60 if killed else 0.3) as daemon:
                    run.result.while_attached += attached(target, daemon)
                    time.sleep(0.2 * run.random.random())
                    if killed:
                        daemon.process.kill()
                    finish(daemon, run.result, (-9,) if killed else (0, 6))
                write(file_name, thaw)
                time.sleep(0.02)
                target.inspect()
            target.end()
    finally:
        for _ in range(100):
            try:
                os.rmdir(group)
                break
            except OSError:
                time.sleep(0.01)


@scenario("a frozen cgroup (v2)", 2, 40)
def frozen_v2(run):
    frozen(run, "v2")


@scenario("a frozen cgroup (v1)", 1, 40)
def frozen_v1(run):
    frozen(run, "v1")


@scenario("exit while we attach", 4, 100)
def exit_while_attaching(run):
    for _ in run.rounds():
        with run.subject("workers") as target:
            with profiler(target, "-d", 60) as daemon:
                time.sleep(0.1 * run.random.random())
                run.result.while_attached += target.status()["TracerPid"] != "0"
                target.end()
                finish(daemon, run.result)


def end_target(target, killed):
    """killed: by us, so it is no death that counts."""
    if killed:
        target.process.kill()
        target.process.wait()
    else:
        target.end()


@scenario("exit during a stop", 2, 40)
def exit_during_stops(run):
    for _ in run.rounds():
        killed = run.result.rounds % 2
        with run.subject("workers") as target:
            with profiler(target, "-d", 60) as daemon:
                run.result.while_attached += attached(target, daemon)
                time.sleep(0.2 * run.random.random())
                end_target(target, killed)
                finish(daemon, run.result)


def armed(target):
    """Whether somebody has debug registers of its threads: for a boundary, or a watch."""
    try:
        for tid in os.listdir("/proc/%d/task" % target.pid):
            take_breakpoints(int(tid))
    except Failure:
        return True
    return False


@scenario("exit between boundary and watch", 2, 40)
def exit_while_armed(run):
    for _ in run.rounds():
        killed = run.result.rounds % 2
        with run.subject("workers") as target:
            with profiler(target, "-d", 60) as daemon:
                attached(target, daemon)
                end = time.monotonic() + 5
                while time.monotonic() < end and not armed(target):
                    pass
                run.result.while_attached += time.monotonic() < end
                end_target(target, killed)
                finish(daemon, run.result)


def traced_threads(pid):
    found = 0
    for tid in os.listdir("/proc/%d/task" % pid):
        try:
            found += status_of(pid, tid)["TracerPid"] != "0"
        except (FileNotFoundError, ProcessLookupError):
            pass
    return found


@scenario("a main thread that has ended", 2, 40)
def ended_leader(run):
    """Before it is attached to, or while it is: nothing happens to the other threads."""
    with run.subject("leader") as target:
        for _ in run.rounds():
            with profiler(target, "-d", 0.4) as daemon:
                end = time.monotonic() + 5
                while time.monotonic() < end and daemon.process.poll() is None and not traced_threads(target.pid):
                    pass
                run.result.while_attached += traced_threads(target.pid) > 0
                finish(daemon, run.result)
            # On a busy machine it may take its time.
            wait_until(lambda: target.status()["State"].startswith("Z"), seconds=20, what="its end")
            target.inspect()
        target.end()


@scenario("perf record beside us", 1, 40)
def perf_beside(run):
    if not shutil.which("perf"):
        raise Skip("no perf")
    with run.subject("workers") as target, tempfile.TemporaryDirectory(prefix="pieprofd-torture-") as folder:
        path = os.path.join(folder, "perf.data")
        for _ in run.rounds():
            killed = run.result.rounds % 2
            # A clock, and a debug register for an instruction that does not exist.
            perf = subprocess.Popen(["perf", "record", "-q", "-e", "cpu-clock:u,mem:0x8:x", "-p", str(target.pid), "-o",
                                     path], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                with profiler(target, "-d", 60 if killed else 0.4) as daemon:
                    run.result.while_attached += attached(target, daemon)
                    time.sleep(0.3 * run.random.random() + 0.2)
                    if killed:
                        daemon.process.kill()
                    finish(daemon, run.result, (-9,) if killed else (0, 6))
                if perf.poll() is not None:
                    run.result.other.append("perf ended with %d" % perf.returncode)
            finally:
                perf.send_signal(signal.SIGINT)
                perf.wait(timeout=60)
            target.inspect()
        target.end()


def debugger(target):
    return subprocess.Popen(
        ["gdb", "-q", "-nx", "-batch", "-ex", "set debuginfod enabled off", "-ex", "set auto-load off",
         "-ex", "attach %d" % target.pid, "-ex", "shell echo done; sleep 1"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True)


@scenario("gdb while we profile", 1, 10)
def debugger_later(run):
    with run.subject("workers") as target:
        for _ in run.rounds():
            with profiler(target, "-d", 60) as daemon:
                run.result.while_attached += attached(target, daemon)
                said = debugger(target).communicate(timeout=60)[0]
                if "Operation not permitted" not in said:
                    run.result.other.append("gdb said %r" % said)
                daemon.signal(signal.SIGINT)
                finish(daemon, run.result, (0, 6))
            target.inspect()
        target.end()


@scenario("we while gdb is attached", 1, 10)
def debugger_first(run):
    with run.subject("workers", own_eintr=True) as target:
        for _ in run.rounds():
            gdb = debugger(target)
            try:
                for line in gdb.stdout:
                    if line == "done\n":
                        break
                with profiler(target, "-d", 0.3) as daemon:
                    said = finish(daemon, run.result, (4,))
                if "already traced" not in said:
                    run.result.other.append("no refusal: %r" % said)
            finally:
                gdb.communicate(timeout=60)
            target.inspect()
        target.end()


def play(name, count, seed):
    """One scenario: its Result; Skip."""
    # Cores of daemons that we end are of no use.
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    run = Run(count, seed)
    next(function for title, function, _, _ in SCENARIOS if title == name)(run)
    return run.result
