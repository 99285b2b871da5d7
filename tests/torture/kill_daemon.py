#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ends the daemon in many ways at random moments and asks after the target.

    tests/torture/kill_daemon.py [WORD ...] [--rounds N] [--seed N] [--write FILE]

One target lives through many daemons, each of another command and mode. The
moments are drawn over all phases: reading files, attaching, the first samples,
the middle of a run with all watchpoints armed, and the end. So is the way in
which the daemon ends, a third of the time by SIGKILL. WORD: only modes whose
name has one of the words. --write: puts the table into a file between its two
markers.
"""
import argparse
import collections
import os
import pty
import random
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

from frame import Daemon, Result, Subject, attached, find_interpreters, harness, write_table
import test_refusals  # noqa: E402  frame knows where it is

KINDS = ("plain", "workers", "handle", "fork")
ROUNDS_PER_TARGET = 17
MEMORY_CGROUPS = ("/sys/fs/cgroup/memory", "/sys/fs/cgroup")
MEMORY_LIMITS = ("memory.limit_in_bytes", "memory.max")
LIMIT_BYTES = 65536

# Arguments beside those of the clock: FOLDER is one of the round's own.
MODES = {
    "default": ("--pid", "PID"),
    "loads": ("--pid", "PID", "--loads"),
    "stores": ("--pid", "PID", "--stores"),
    "time": ("--pid", "PID", "--mode", "time", "--engine", "ptrace"),
    "kernel": ("--pid", "PID", "--mode", "time", "--engine", "kernel"),
    "time asleep": ("--pid", "PID", "--mode", "time", "--idle"),
    "all, with time asleep": ("--pid", "PID", "--idle"),
    "unstopped": ("--pid", "PID"),
    "recording": ("--pid", "PID", "-o", "FOLDER/x.pieprof"),
    "with children": ("--pid", "PID", "--follow"),
    "serve": ("serve", "--pid", "PID", "--listen", "unix:FOLDER/socket"),
    "top": ("top", "--pid", "PID"),
    "dump": ("dump", "--pid", "PID"),
    "a command": ("--", "COMMAND"),
}
UNTRACED = ("unstopped", "dump", "kernel")  # dump traces for a moment, if at all


def blocks_signals(daemon):
    """The first thing that each command does; before it the dynamic loader runs, which crashes without memory."""
    try:
        with open("/proc/%d/status" % daemon.pid) as file:
            return any(line.startswith("SigBlk:") and int(line.split()[1], 16) for line in file)
    except (FileNotFoundError, ProcessLookupError):
        return False


def starve(daemon):
    """From now on its allocations fail; asked to end a moment later, it must."""
    while daemon.poll() is None and not blocks_signals(daemon):
        time.sleep(0.0005)
    if daemon.poll() is not None:
        return
    with open("/proc/%d/statm" % daemon.pid) as file:
        size = int(file.read().split()[0]) * resource.getpagesize()
    try:
        resource.prlimit(daemon.pid, resource.RLIMIT_AS, (size, size))
    except ProcessLookupError:
        return
    try:
        daemon.wait(timeout=0.1)
    except subprocess.TimeoutExpired:
        daemon.send_signal(signal.SIGTERM)


class MemoryCgroup:
    """Whoever is put into it is killed by the kernel where it next touches new memory; False where there is none."""

    def __init__(self):
        self.path = None
        for root in MEMORY_CGROUPS:
            for limit in MEMORY_LIMITS:
                try:
                    self.path = tempfile.mkdtemp(prefix="pieprofd-torture-", dir=root)
                    with open(os.path.join(self.path, limit), "w") as file:
                        file.write(str(LIMIT_BYTES))
                    return
                except OSError:
                    self.remove()

    def __bool__(self):
        return self.path is not None

    def remove(self):
        for _ in range(100):
            if not self.path:
                return
            try:
                os.rmdir(self.path)
                self.path = None
            except OSError:
                time.sleep(0.01)

    def kill(self, daemon):
        if daemon.poll() is not None:
            return
        try:
            with open(os.path.join(self.path, "cgroup.procs"), "w") as file:
                file.write(str(daemon.pid))
        except ProcessLookupError:
            return
        # What touches no new memory is not killed: then it is asked to end.
        try:
            daemon.wait(timeout=0.5)
        except subprocess.TimeoutExpired:
            daemon.kill()


def by_signal(number):
    return lambda daemon: daemon.send_signal(number)


# (name, how, how often)
ENDINGS = [("SIG" + name, by_signal(getattr(signal, "SIG" + name)), often)
           for name, often in (("KILL", 4), ("INT", 1), ("TERM", 1), ("HUP", 1), ("SEGV", 1), ("ABRT", 1))]
ENDINGS.append(("malloc fails", starve, 1))
# With which elfutils ends a process that has no memory for a bigger table; the second where there was none for the first one's
# words either (pieprofd's own sources assert nothing).
LIBRARY_ASSERTIONS = ("dynamicsizehash_concurrent.c", "Unexpected error.")
# These a daemon passes on to the command that it has started, which may well end by them.
PASSED_ON = ("SIGINT", "SIGTERM", "SIGHUP", "malloc fails")


class Ending:
    """How often each mode was ended in each way, and of that while attached."""

    def __init__(self):
        self.count = collections.Counter()
        self.attached = collections.Counter()


class Terminal:
    """A pseudo-terminal that swallows what is written to it."""

    def __init__(self):
        self.master, self.slave = pty.openpty()
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        try:
            while os.read(self.master, 65536):
                pass
        except OSError:
            pass

    def close(self):
        os.close(self.slave)
        self.reader.join()
        os.close(self.master)


class Orphan(Subject):
    """A target that the daemon has started, and that goes on without it."""

    def __init__(self, daemon, result):
        self.process = daemon
        self.kind = "workers"
        self.result = result
        self.own_eintr = False
        line = daemon.stdout.readline()
        self.pid = None
        if line == "ready\n":
            with open("/proc/%d/task/%d/children" % (daemon.pid, daemon.pid)) as file:
                self.pid = int(file.read().split()[0])

    def alive(self):
        try:
            return self.pid is not None and self.status()["State"][0] not in "ZX"
        except (FileNotFoundError, ProcessLookupError):
            return False

    def end(self):
        if not self.alive():
            self.result.deaths += 1
            self.result.other.append("the command ended with the daemon" if self.pid else "the command did not start")
            return
        watchdog = threading.Timer(60, os.kill, (self.pid, signal.SIGKILL))
        watchdog.start()
        self.process.stdin.close()
        said = self.process.stdout.read()
        watchdog.cancel()
        if "eintr=0 unexpected=0" not in said:
            self.result.other.append("the command said %r" % said)


def arguments_of(mode, pid, folder, generator, interpreter):
    words = [str(pid) if word == "PID" else word.replace("FOLDER", folder) for word in MODES[mode]]
    clock = ["--rate", generator.choice(("99", "999")), "--max-overhead", "50"]
    if mode == "a command":
        return ["-q"] + clock + ["--"] + interpreter.command("undisturbed.py", "--kind", "workers", "--until-eof")
    if mode == "dump":
        return words
    if mode != "serve":
        clock += ["-q", "-d", generator.choice(("0.3", "60"))]
    return words + clock


def request(folder):
    """A client that asks for a window, and goes away."""
    with socket.socket(socket.AF_UNIX) as client:
        try:
            client.connect(os.path.join(folder, "socket"))
            client.send(b"GET /debug/pprof/profile?seconds=1 HTTP/1.1\r\nHost: localhost\r\n\r\n")
        except OSError:
            pass  # not listening yet


def refuse_clocks():
    test_refusals.refuse_call(test_refusals.PERF_EVENT_OPEN, test_refusals.EPERM)


def has_program(daemon):
    """Its program runs in the kernel."""
    folder = "/proc/%d/fd" % daemon.process.pid
    try:
        return any(os.readlink(os.path.join(folder, name)) == "anon_inode:bpf-prog" for name in os.listdir(folder))
    except OSError:
        return False


def wait_for_moment(mode, target, daemon, folder, generator):
    """True while it is at work."""
    if mode not in UNTRACED and generator.random() < 0.85:
        # Wait for the attach, then for a moment of the run.
        attached(target, daemon)
        if mode == "serve" and generator.random() < 0.7:
            request(folder)
        time.sleep(generator.choice((0, 0.001, 0.3)) * generator.random())
    elif mode == "kernel":
        harness.wait_until(lambda: has_program(daemon) or daemon.process.poll() is not None, what="the program to be loaded")
        time.sleep(generator.choice((0, 0.001, 0.3)) * generator.random())
    else:
        time.sleep(0.2 * generator.random())
    if not target.alive() or daemon.process.poll() is not None:
        return False
    return mode in UNTRACED or target.status()["TracerPid"] != "0"


def start(mode, arguments, folder, interpreter):
    daemon = Daemon.__new__(Daemon)
    terminal = Terminal() if mode == "top" else None
    output = terminal.slave if terminal else subprocess.PIPE
    given = subprocess.PIPE if mode == "a command" else terminal.slave if terminal else subprocess.DEVNULL
    # What it says goes to a file: nobody reads a pipe while it runs.
    with open(os.path.join(folder, "said"), "w") as said:
        daemon.process = subprocess.Popen(
            [harness.PIEPROFD] + arguments, stdin=given, text=True, stderr=said,
            stdout=output if mode in ("a command", "top") else subprocess.DEVNULL,
            # A SIGSEGV is ours, and no error for a sanitizer to report.
            cwd=interpreter.folder(), env=dict(harness.asan_options("handle_segv=0"), TERM="xterm",
                                               PYTHONDONTWRITEBYTECODE="1", OPENBLAS_NUM_THREADS="1",
                                               **interpreter.environment),
            preexec_fn=refuse_clocks if mode == "unstopped" else None)
    return daemon, terminal


def end_one(mode, target, interpreter, generator, result, ending, endings):
    """One daemon, ended. target: None where it is the daemon that starts it."""
    name, end, _ = generator.choices(endings, [often for _, _, often in endings])[0]
    folder = tempfile.mkdtemp(prefix="pieprofd-torture-")
    arguments = arguments_of(mode, target and target.pid, folder, generator, interpreter)
    daemon, terminal = start(mode, arguments, folder, interpreter)
    process = daemon.process
    try:
        if not target:
            target = Orphan(process, result)
        if wait_for_moment(mode, target, daemon, folder, generator):
            result.while_attached += 1
            ending.attached[mode] += 1
        ending.count[mode, name] += 1
        end(process)
        try:
            process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            result.other.append("%s outlives %s" % (mode, name))
            process.kill()
            process.wait()
        if name == "malloc fails" and process.returncode < 0 and process.returncode != -signal.SIGTERM:
            with open(os.path.join(folder, "said")) as said:
                words = said.read().strip()[-200:]
            if not any(assertion in words for assertion in LIBRARY_ASSERTIONS):
                result.other.append("%s without memory ended by signal %d: %s" % (mode, -process.returncode, words))
        target.inspect()
        if mode == "a command":
            target.end()
    finally:
        if terminal:
            terminal.close()
        if mode == "a command":
            if target and target.alive():
                os.kill(target.pid, signal.SIGKILL)
            process.stdout.close()
            process.stdin.close()
        shutil.rmtree(folder)


def torture(interpreters, rounds, seed, words=(), ret_ending=None):
    """Counts over all rounds; the modes take turns."""
    # Its cores are of no use.
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    modes = [mode for mode in MODES if not words or any(word in mode for word in words)]
    ending = ret_ending or Ending()
    generator = random.Random(seed)
    result = Result()
    group = MemoryCgroup()
    endings = ENDINGS + ([("OOM killer", group.kill, 1)] if group else [])
    plain = next(interpreter for interpreter in interpreters if not interpreter.in_root)
    number = 0
    try:
        while result.rounds < rounds:
            interpreter = interpreters[number % len(interpreters)]
            kind = KINDS[number % len(KINDS)]
            number += 1
            with Subject(interpreter, kind, result) as target:
                for _ in range(min(ROUNDS_PER_TARGET, rounds - result.rounds)):
                    mode = modes[result.rounds % len(modes)]
                    if mode == "a command":
                        end_one(mode, None, plain, generator, result, ending,
                                [one for one in endings if one[0] not in PASSED_ON])
                    else:
                        end_one(mode, target, interpreter, generator, result, ending, endings)
                    target.inspect()
                    result.rounds += 1
                    if not target.alive():
                        break
                target.end()
    finally:
        group.remove()
    return result, ending


def table(result, ending):
    names = [name for name, _, _ in ENDINGS] + ["OOM killer"]
    modes = [mode for mode in MODES if any(ending.count[mode, name] for name in names)]
    rows = ["| %s | %s | %d | %d |\n" % (
        mode, " | ".join(str(ending.count[mode, name]) for name in names),
        sum(ending.count[mode, name] for name in names), ending.attached[mode]) for mode in modes]
    return ("| command or mode | %s | all | while at work |\n|---|%s\n" % (" | ".join(names), "---|" * (len(names) + 2)) +
            "".join(rows) + "\n%d daemons ended: deaths of the target %d, left stopped or traced %d, debug registers kept %d, "
            "EINTR %d, unexpected signals %d, anything else %d.\n" % (
                result.rounds, result.deaths, result.left_stopped + result.left_traced, result.breakpoints_taken,
                result.eintr, result.unexpected, len(result.other)))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", metavar="FILE")
    arguments = parser.parse_args()
    result, ending = torture(find_interpreters(), arguments.rounds, arguments.seed, arguments.words)
    print(table(result, ending))
    print(result)
    if arguments.write:
        write_table(arguments.write, "endings", table(result, ending))
    sys.exit(1 if result.bad() else 0)


if __name__ == "__main__":
    main()
