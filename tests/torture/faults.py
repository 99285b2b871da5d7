#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lets each system call of the daemon fail in turn, and asks after the target.

    tests/torture/faults.py [CALL ...] [--short] [--seed N] [--write FILE]

strace(1) makes the N-th call of each thread of the daemon fail, or all from
the N-th on. Whatever fails, the daemon must say what, or go on with less; it
must not crash or hang, and the target must not know. --short: as in CI.
--write: puts the table into a file between its two markers.
"""
import argparse
import itertools
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

from frame import Result, Subject, find_interpreters, harness, write_table

# Refused, ended, degraded; 127: the loader could not start it.
CODES = (0, 1, 3, 4, 5, 6, 7, 127)
CALLS_PER_TARGET = 8

# Which call, as which errors, at which occurrences ("4+": from the fourth on), in each thread. Left out: what cannot
# fail so (brk returns no error, of futex the C library ends the program), and the first mmap, which is the loader's.
FAULTS = (
    ("ptrace", ("EPERM", "ESRCH", "EIO"), ("1", "1+", "2", "4", "5", "6", "7", "8", "9", "20", "21", "22", "30+")),
    ("waitid", ("EINTR", "ECHILD"), ("1", "2", "3", "10", "50", "1+", "5+", "20+")),
    ("wait4", ("EINTR", "ECHILD"), ("1", "2", "3", "10", "50", "1+")),
    ("perf_event_open", ("EPERM", "EMFILE", "ENOSPC", "ENODEV", "EBUSY"), ("1", "2", "3", "5", "8", "1+", "4+")),
    ("perf_event_open", ("ENOSYS", "EOPNOTSUPP", "EINTR"), ("1+", "4+", "7+")),
    ("process_vm_readv", ("EPERM", "ESRCH", "EFAULT", "ENOMEM"), ("1", "2", "5", "20", "100", "1+", "30+")),
    ("process_vm_readv", ("ENOSYS", "EINTR", "EAGAIN"), ("1+", "30+", "210+")),
    ("ioctl", ("EINTR", "EAGAIN"), ("1+", "5+")),
    ("ioctl", ("EIO", "ENOSPC", "ESRCH"), ("1", "2", "3", "5", "9", "30", "1+")),
    ("fcntl", ("EINVAL", "EPERM"), ("1", "2", "4", "9", "1+")),
    ("mmap", ("ENOMEM",), ("2", "10", "20", "25", "30", "33", "36", "40", "45", "50", "60", "70", "80", "50+")),
    ("munmap", ("ENOMEM",), ("1", "5", "1+")),
    ("openat", ("EMFILE", "EACCES", "ENOENT", "EINTR"), ("5", "20", "25", "30", "35", "40", "45", "50", "60", "80",
                                                         "30+")),
    ("read", ("EIO", "EINTR"), ("15", "25", "30", "35", "40", "45", "50", "60", "80")),
    ("read", ("EIO", "EINTR", "EAGAIN"), ("25+", "40+", "60+", "80+")),
    ("pread64", ("EIO", "EINTR"), ("1", "2", "3", "4")),
    ("pread64", ("EIO", "EINTR", "EAGAIN"), ("1+", "3+")),
    ("openat", ("EINTR", "EAGAIN", "ENOMEM"), ("25+", "60+", "100+")),
    ("openat2", ("ENOSYS", "EINTR", "EAGAIN"), ("1", "1+")),
    ("close", ("EIO",), ("1", "20", "40", "1+")),
    ("newfstatat", ("EACCES", "ENOENT"), ("1", "10", "20", "30", "1+")),
    ("getdents64", ("EIO",), ("1", "2", "3", "1+")),
    ("readlink", ("EACCES",), ("1", "2", "1+")),
    ("clone3", ("EAGAIN",), ("1", "2", "1+")),
    ("clone3", ("ENOSYS",), ("1+",)),
    ("timer_create", ("EAGAIN",), ("1",)),
    ("timer_settime", ("EINVAL",), ("1", "1+")),
    ("sched_setscheduler", ("EPERM",), ("1",)),
    ("sched_setaffinity", ("EPERM", "EINVAL"), ("1", "1+")),
    ("sched_getaffinity", ("EINVAL",), ("1", "1+")),
    ("rt_sigaction", ("EINVAL",), ("1+",)),
    ("prlimit64", ("EPERM",), ("1", "1+")),
    ("write", ("EIO", "ENOSPC", "EINTR"), ("1", "2", "3")),
    ("write", ("EINTR", "EAGAIN"), ("1+",)),
    ("rt_sigtimedwait", ("EINTR",), ("1", "1+")),
    ("capset", ("EPERM",), ("1",)),
    ("pipe2", ("EMFILE",), ("1",)),
    ("getrandom", ("ENOSYS", "EINTR"), ("1+",)),
    ("mincore", ("ENOSYS",), ("1+",)),
    ("prctl", ("EINVAL",), ("1", "1+")),
    ("mprotect", ("ENOMEM",), ("25", "28")),
    ("linkat", ("EPERM", "EXDEV"), ("1", "1+")),
    ("rename", ("EACCES", "EIO"), ("1", "1+")),
)
SHORT = (
    ("ptrace", ("ESRCH",), ("1", "5", "7")), ("wait4", ("EINTR",), ("2",)),
    ("waitid", ("EINTR",), ("5+",)), ("read", ("EINTR",), ("60+",)),
    ("perf_event_open", ("EMFILE",), ("2", "4+")), ("process_vm_readv", ("EFAULT",), ("20",)), ("ioctl", ("EIO",), ("3",)),
    ("mmap", ("ENOMEM",), ("50",)), ("openat", ("EMFILE",), ("30",)), ("clone3", ("EAGAIN",), ("1", "2")),
)


class Counts:
    def __init__(self):
        self.runs = self.named = self.degraded = self.unused = 0


def run_one(target, folder, call, error, when, result, counts):
    """One daemon whose call fails, then the same questions as ever."""
    report = os.path.join(folder, "report.json")
    trace = os.path.join(folder, "trace")
    for path in (report, trace):
        if os.path.exists(path):
            os.remove(path)
    command = ["strace", "-f", "--seccomp-bpf", "-qq", "-o", trace, "-e", "trace=" + call, "-e", "signal=none",
               "-e", "inject=%s:error=%s:when=%s" % (call, error, when), harness.PIEPROFD, "--pid", str(target.pid),
               "-d", "0.3", "--rate", "499", "--max-overhead", "50", "-o", report]
    what = "%s %s at %s" % (call, error, when)
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
                               text=True, env=harness.asan_options(harness.NO_LEAK_DETECTION))
    try:
        _, said = process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        result.other.append("%s: the daemon hangs" % what)
        # strace would leave it running.
        with open("/proc/%d/task/%d/children" % (process.pid, process.pid)) as file:
            for child in file.read().split():
                os.kill(int(child), 9)
        process.kill()
        process.communicate()
        return
    code = process.returncode
    result.rounds += 1
    counts.runs += 1
    with open(trace) as file:
        injected = "(INJECTED)" in file.read()
    if not injected:
        counts.unused += 1
    if code not in CODES:
        result.other.append("%s: ended with %d: %s" % (what, code, said.strip()[-200:]))
    elif code in (0, 6, 7):
        counts.degraded += injected
        if code == 0:
            try:
                with open(report) as file:
                    json.load(file)
            except (OSError, ValueError) as problem:
                result.other.append("%s: no report, but code 0: %s" % (what, problem))
    else:
        counts.named += 1
        # It cannot when no write succeeds.
        if not said.strip() and not (call == "write" and when == "1+"):
            result.other.append("%s: ended with %d without a word" % (what, code))


def torture(faults, seed, progress=None):
    """A Result and {call: Counts}."""
    generator = random.Random(seed)
    result = Result()
    counts = {}
    interpreter = find_interpreters()[0]
    folder = tempfile.mkdtemp(prefix="pieprofd-faults-")
    try:
        for number in range(0, len(faults), CALLS_PER_TARGET):
            with Subject(interpreter, generator.choice(("workers", "plain")), result) as target:
                for call, errors, occurrences in faults[number:number + CALLS_PER_TARGET]:
                    counts.setdefault(call, Counts())
                    for error, when in itertools.product(errors, occurrences):
                        run_one(target, folder, call, error, when, result, counts[call])
                        target.inspect()
                    if progress:
                        progress("%s: %s" % (call, vars(counts[call])))
                target.end()
    finally:
        shutil.rmtree(folder)
    return result, counts


def table(result, counts):
    rows = ["| %s | %d | %d | %d | %d |\n" % (call, count.runs, count.named, count.degraded, count.unused)
            for call, count in counts.items()]
    return ("| call | runs | ended, saying why | went on | did not come to it |\n|---|---|---|---|---|\n" +
            "".join(rows) + "\n%d runs: crashes, hangs and ends without a word %d, deaths of the target %d, left stopped "
            "or traced %d, debug registers kept %d, EINTR %d, unexpected signals %d.\n" % (
                result.rounds, len(result.other), result.deaths, result.left_stopped + result.left_traced,
                result.breakpoints_taken, result.eintr, result.unexpected))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("calls", nargs="*")
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", metavar="FILE")
    arguments = parser.parse_args()
    faults = [fault for fault in (SHORT if arguments.short else FAULTS)
              if not arguments.calls or fault[0] in arguments.calls]
    result, counts = torture(faults, arguments.seed, lambda words: print(words, flush=True))
    print(table(result, counts))
    for words in result.other:
        print(words)
    if arguments.write:
        write_table(arguments.write, "faults", table(result, counts))
    sys.exit(1 if result.bad() else 0)


if __name__ == "__main__":
    main()
