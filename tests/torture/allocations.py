#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lets allocations of the daemon fail, one a run, and looks at how it ends.

    tests/torture/allocations.py [offline] [COMMAND ...] [--stride N] [--sample N] [--seed N] [--write FILE]

offline: `pieprofd report` of a recording, in each format, with each N-th
allocation failing in turn. The other commands are of a live process, where no
two runs have the same order: the first allocation by each call path fails in
turn, alone, and in another run all that follow, too. It must end with what it
should have written, or say that it cannot; never crash, hang, or disturb the
target.
"""
import argparse
import collections
import ctypes
import os
import random
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

import kill_daemon
from frame import Result, Subject, find_interpreters, harness, write_table

SHIM = os.path.join(harness.ROOT, "tests", "tools", "fail_malloc.c")
LAST = 6  # of each run, in every case: what is closed and joined at its end
LIBC = ctypes.CDLL(None)
ADDR_NO_RANDOMIZE = 0x0040000
CRASHES = (-signal.SIGABRT, -signal.SIGBUS, -signal.SIGSEGV)
NO_CALLERS = ("libc.so", "ld-linux", "fail_malloc.so")
# Of its functions that we call, those that end a process without memory by an assertion or a null pointer of their own.
C_LIBRARY_CRASHES = ("getpwuid_r",)
PATH_RUNS = 3  # whose call paths are put together
REQUESTS = (b"/debug/pprof/profile?seconds=0.2", b"/metrics", b"/")
CLOCK = ("-q", "-d", "0.3", "--rate", "499", "--max-overhead", "50")
# PID and FOLDER: of the target, and of the run.
COMMANDS = {
    "profile": ("--pid", "PID", "-o", "FOLDER/x.json") + CLOCK,
    "loads": ("--pid", "PID", "--loads", "--native-lines", "-o", "FOLDER/x.html") + CLOCK,
    "time asleep": ("--pid", "PID", "--mode", "time", "--idle", "-o", "FOLDER/x.pb.gz") + CLOCK,
    "recording": ("--pid", "PID", "-o", "FOLDER/x.pieprof") + CLOCK,
    "with children": ("--pid", "PID", "--follow", "-o", "FOLDER/x.txt") + CLOCK,
    "serve": ("serve", "--pid", "PID", "--listen", "unix:FOLDER/socket"),
    "top": ("top", "--pid", "PID") + CLOCK,
    "dump": ("dump", "--pid", "PID"),
    "dump --json": ("dump", "--pid", "PID", "--json"),
    "list": ("list",),
    "doctor": ("doctor",),
    "doctor of a process": ("doctor", "--pid", "PID"),
    "a command": CLOCK + ("-o", "FOLDER/x.txt", "--", sys.executable, "-c",
                          "print(sum(i * i for i in range(3000000)) and 'done')"),
}
SCREEN = "screen"  # on standard output, and in no file
FORMATS = ("txt", "json", "folded", "pb.gz", "speedscope.json", "firefox.json", "html", "pieprof")


class Shim:
    """The preloaded library, built; and runs under it."""

    def __init__(self, folder):
        self.folder = folder
        self.library = os.path.join(folder, "fail_malloc.so")
        self.count = self.file("count")
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", self.library, SHIM], check=True)

    def file(self, name):
        return os.path.join(self.folder, name)

    def environment(self, **settings):
        return dict(os.environ, LD_PRELOAD=self.library, FAIL_MALLOC_COUNT=self.count, TERM="xterm",
                    **{name: str(value) for name, value in settings.items()})

    def run(self, arguments, **settings):
        """(exit code, stderr); the code is None when it hangs."""
        process = subprocess.Popen([harness.PIEPROFD] + [str(argument) for argument in arguments],
                                   env=self.environment(**settings),
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                   text=True, errors="replace")
        try:
            said = process.communicate(timeout=60)[1]
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return None, "hangs"
        return process.returncode, said

    def allocations(self):
        with open(self.count) as file:
            return int(file.read())


def record(path):
    """A recording of something."""
    interpreter = find_interpreters()[0]
    with Subject(interpreter, "workers", Result()) as target:
        harness.pieprofd("--pid", target.pid, "-d", 0.3, "--rate", 49, "--max-overhead", 50, "-q", "-o", path)
        target.end()


def contents(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


def offline(folder, stride, offset, progress=None):
    """Fails each stride-th allocation of each writer, and the last; (runs, what was wrong in words)."""
    shim = Shim(folder)
    recording = os.path.join(folder, "recording.pieprof")
    record(recording)
    wrong, runs = [], 0
    for extension, more in [(extension, ()) for extension in FORMATS + (SCREEN,)] + [
            (extension, ("--diff", recording)) for extension in ("txt", "json", SCREEN)]:
        output = os.path.join(folder, "report." + extension)
        command = ("report", recording) + (() if extension == SCREEN else ("-q", "-o", output)) + more
        code, said = shim.run(command)
        if code != 0:
            wrong.append("%s without failures: %s %s" % (extension, code, said))
            continue
        total, expected = shim.allocations(), contents(output)
        tolerated = 0
        for number in sorted({*range(1 + offset % stride, total + 1, stride), *range(max(1, total - LAST), total + 1)}):
            if os.path.exists(output):
                os.remove(output)
            code, said = shim.run(command, FAIL_MALLOC_AT=number)
            runs += 1
            got = contents(output)
            if code == 0:
                tolerated += 1
                if got != expected:
                    wrong.append("%s at %d of %d: another report, and code 0" % (extension, number, total))
            elif code not in (1, 2, 3, 7):
                wrong.append("%s at %d of %d: ended with %s: %s" % (extension, number, total, code, said[-300:]))
            elif not said.strip():
                wrong.append("%s at %d of %d: ended with %s without a word" % (extension, number, total, code))
            elif got is not None and got != expected:
                wrong.append("%s at %d of %d: a broken report is left" % (extension, number, total))
        if progress:
            progress("%s: %d allocations, %d did not matter" % (extension, total, tolerated))
    return runs, wrong


def fixed_addresses():
    """So that a call path is the same in the next run."""
    LIBC.personality(ADDR_NO_RANDOMIZE)


class Live:
    """One command of a daemon, played with one failing allocation after the other."""

    def __init__(self, shim, name, target):
        self.shim, self.name, self.target = shim, name, target
        self.folder = shim.file("live")
        self.paths_file = shim.file("paths")
        self.met_file = shim.file("met")
        self.crash_file = shim.file("crash")

    def play(self, **settings):
        """(exit code, stderr, stdout); the code is None when it hangs."""
        os.mkdir(self.folder)
        words = [str(self.target.pid) if word == "PID" else word.replace("FOLDER", self.folder)
                 for word in COMMANDS[self.name]]
        terminal = kill_daemon.Terminal() if self.name == "top" else None
        # It may say more than a pipe holds, with nobody to read it.
        with open(self.shim.file("said"), "w+") as said, open(self.shim.file("shown"), "w+") as shown:
            process = subprocess.Popen(
                [harness.PIEPROFD] + words, preexec_fn=fixed_addresses, stderr=said, env=self.shim.environment(**settings),
                stdin=terminal.slave if terminal else subprocess.DEVNULL, stdout=terminal.slave if terminal else shown)
            if self.name == "serve":
                self.ask(process)
            try:
                code = process.wait(timeout=60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                code = None
            if terminal:
                terminal.close()
            for file in (said, shown):
                file.seek(0)
            answer = code, said.read(), shown.read()
        shutil.rmtree(self.folder)
        return answer

    def ask(self, process):
        """A client of serve, which is told to end afterwards."""
        address = os.path.join(self.folder, "socket")
        end = time.monotonic() + 20
        while not os.path.exists(address) and process.poll() is None and time.monotonic() < end:
            time.sleep(0.01)
        for path in REQUESTS:
            with socket.socket(socket.AF_UNIX) as client:
                client.settimeout(20)
                try:
                    client.connect(address)
                    client.sendall(b"GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n" % path)
                    while client.recv(65536):
                        pass
                except OSError:
                    pass  # without memory it may close, and end
        process.terminate()

    def paths(self):
        """The call paths of the allocations of a few runs, sorted; what was wrong in words."""
        paths, wrong = set(), []
        for _ in range(PATH_RUNS):
            code, said, shown = self.play(FAIL_MALLOC_PATHS=self.paths_file)
            problem = self.problem(code, said, shown)
            if code not in (0, 143) or problem:
                wrong.append("%s without failures: %s %s" % (self.name, code, said[-300:]))
            with open(self.paths_file) as file:
                paths.update(file.read().split())
        return sorted(paths), wrong

    def problem(self, code, said, shown):
        """What is wrong with this end, in words, or None."""
        # 2: top, where nothing can be learned of the terminal.
        if code not in (0, 1, 3, 4, 5, 6, 7) and (self.name, code) not in (("serve", 143), ("top", 2)):
            return "ended with %s: %s" % (code, said[-300:])
        if code and not (said + shown).strip():
            return "ended with %d without a word" % code
        if code == 0 and self.name == "a command" and "done" not in shown:
            return "code 0, and the command has not run"
        return None

    def crashed_library(self):
        """Whose function crashed, or called the C library's that did: a name, or None where it is ours."""
        with open(self.crash_file) as file:
            frames = [line.split() for line in file]
        called = None
        for name, function in frames:
            if name == os.path.basename(harness.PIEPROFD):
                return "%s of the C library" % called if called in C_LIBRARY_CRASHES else None
            if not name.startswith(NO_CALLERS):
                return name
            called = function
        return None

    def fail(self, path, rest, count):
        """Counts what becomes of it; what was wrong, in words, or None."""
        settings = {"FAIL_MALLOC_PATH": path, "FAIL_MALLOC_MET": self.met_file, "FAIL_MALLOC_CRASH": self.crash_file}
        if rest:
            settings["FAIL_MALLOC_REST"] = 1
        code, said, shown = self.play(**settings)
        library = self.crashed_library()
        problem = None if code in CRASHES and library else self.problem(code, said, shown)
        count.runs += 1
        count.met += os.path.getsize(self.met_file) > 0
        count.ended += code != 0
        count.wrong += problem is not None
        if code in CRASHES and library:
            count.crashed[library] += 1
        return problem and "%s, %s %s: %s" % (self.name, path, "and all that follow" if rest else "alone", problem)


class Count:
    """Of one command: the call paths of its allocations, and what became of runs in which they failed."""

    def __init__(self):
        self.paths = self.runs = self.met = self.ended = self.wrong = 0
        self.crashed = collections.Counter()  # in a library


def live(folder, names, sample=None, seed=1, progress=None, only=()):
    """
    Fails the first allocation by each call path of each command, alone and with all that follow; sample: only so many
    random ones of each; only: of these. A path is played once, in the first command that has it. (a Result, a Count for each command).
    """
    # Its cores are of no use.
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    shim = Shim(folder)
    generator = random.Random(seed)
    result = Result()
    counts, played = {}, set()
    for name in names:
        count = counts[name] = Count()
        with Subject(find_interpreters()[0], "fork" if name == "with children" else "workers", result) as target:
            command = Live(shim, name, target)
            paths, wrong = command.paths()
            result.other += wrong
            count.paths = len(paths)
            paths = [path for path in paths if path not in played]
            played.update(paths)
            if only:
                paths = [path for path in paths if path in only]
            if sample is not None:
                paths = generator.sample(paths, min(sample, len(paths)))
            for path in paths:
                for rest in (False, True):
                    wrong = command.fail(path, rest, count)
                    if wrong:
                        result.other.append(wrong)
                        if progress:
                            progress("  " + wrong)
                    target.inspect()
                    result.rounds += 1
            target.end()
        if progress:
            progress("%s: %s" % (name, vars(count)))
    return result, counts


def live_table(result, counts):
    rows = ["| %s | %d | %d | %d | %d | %s | %d |\n" % (
        name, count.paths, count.runs, count.met, count.ended,
        ", ".join("%d in %s" % (number, library) for library, number in sorted(count.crashed.items())) or "0", count.wrong)
        for name, count in counts.items()]
    return ("| command | call paths | runs | of them with a failure | ended otherwise than with 0 | crashed in a library | "
            "anything else |\n|---|---|---|---|---|---|---|\n" + "".join(rows) +
            "\n%d runs: deaths of the target %d, left stopped or traced %d, debug registers kept %d, EINTR %d, "
            "unexpected signals %d.\n" % (result.rounds, result.deaths, result.left_stopped + result.left_traced,
                                          result.breakpoints_taken, result.eintr, result.unexpected))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commands", nargs="*", help="offline, or live: %s" % ", ".join(COMMANDS))
    parser.add_argument("--stride", type=int, default=1)
    parser.add_argument("--offset", type=int, default=0)
    parser.add_argument("--sample", type=int, help="of live commands, only so many call paths of each")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--path", action="append", default=[], help="only this call path; may be given again")
    parser.add_argument("--write", metavar="FILE", help="put the table of the live commands there, between its markers")
    arguments = parser.parse_args()
    wanted = arguments.commands or ["offline"] + list(COMMANDS)
    names = [name for name in COMMANDS if name in wanted]
    if set(wanted) - set(names) - {"offline"}:
        parser.error("no such command: %s" % ", ".join(set(wanted) - set(names)))
    bad = 0
    folder = tempfile.mkdtemp(prefix="pieprofd-allocations-")

    def say(words):
        print(words, flush=True)

    try:
        if "offline" in wanted:
            runs, wrong = offline(folder, arguments.stride, arguments.offset, say)
            say("offline: %d runs, %d wrong" % (runs, len(wrong)))
            for words in wrong:
                say("  " + words)
            bad += len(wrong)
        if names:
            result, counts = live(folder, names, arguments.sample, arguments.seed, say, arguments.path)
            say("live: %s" % result)
            if arguments.write:
                write_table(arguments.write, "allocations", live_table(result, counts))
            bad += result.bad()
    finally:
        shutil.rmtree(folder)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
