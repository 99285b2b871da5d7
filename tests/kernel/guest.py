#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
What is checked under another kernel: runs in the machine that tests/tools/check-kernel boots, and writes a JSON object for
each check to descriptor 3: its name, "ok", "FAILED", "absent" (this kernel lacks it, and pieprofd says so) or "skipped", and words.

    guest.py [WORD ...]     only checks whose name has one of the words

Checks are functions of this file, each with its own words, and tests of tests/e2e in which nothing is a matter of speed:
the machine may be emulated, 20 to 50 times slower than a real one. What chance may fail is run once more.
"""
import contextlib
import inspect
import json
import math
import os
import signal
import subprocess
import sys
import time
import traceback

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
for part in ("torture", "e2e"):
    sys.path.insert(0, os.path.join(ROOT, "tests", part))

import harness  # noqa: E402
from harness import (PIEPROFD, Daemon, Failure, Skip, Target, Unlucky, check, check_equal, check_sampled,  # noqa: E402
                     line_text, pieprofd, profile, take_breakpoints)

SLOWER = 10


def wait_until(condition, seconds=10, what="a condition", interval=0.01):
    wait_as_usual(condition, SLOWER * seconds, what, interval)


# Before the tests take it from there.
wait_as_usual, harness.wait_until = harness.wait_until, wait_until
# The interpreter that is there: nobody looks for others.
INTERPRETER = harness.examine("/usr/bin/python3.%d" % sys.version_info[1], None)
harness.matrix = lambda: ([INTERPRETER], [])

import kill_daemon  # noqa: E402
import test_dump  # noqa: E402
import test_heap  # noqa: E402
import test_kernel_engine  # noqa: E402
import test_kernel_frames  # noqa: E402
import test_memory  # noqa: E402
import test_trace  # noqa: E402

test_memory.SETTLE_SECONDS *= SLOWER
test_memory.ALLOCATING_SECONDS *= SLOWER

EXTENSIONS = os.path.join(ROOT, "extensions")
PLANTED = "g[f] += d[i, j, f] * r"
KINDS = ("one", "two", "four", "generator", "deep", "native")
KERNEL, PTRACE = test_kernel_engine.KERNEL, test_kernel_engine.PTRACE
KILLS, ROUNDS = 5, 14  # of the latter, one of each mode
LIMIT_SECONDS = 600
PARANOID = "/proc/sys/kernel/perf_event_paranoid"
# A stop costs many times what it does on a real machine.
DEARLY = ("--max-overhead", "60")
RELEASE = os.uname().release
VERSION = tuple(int(word) for word in RELEASE.split("-")[0].split(".")[:2])


class Absent(Exception):
    """This kernel does not have it, and pieprofd has said so."""


def doctor():
    """Both engines and the breakpoints have been tried by doing."""
    lines = {line["id"]: line for line in json.loads(pieprofd("doctor", "--json").stdout)["lines"]}
    for name in ("ptrace", "memory", "clock", "kernel-time", "kernel-engine", "breakpoints"):
        check_equal(lines[name]["state"], "OK", "state of %r" % lines[name])
    return "; ".join(lines[name]["found"] for name in ("kernel-engine", "breakpoints"))


def shares(report):
    times = test_kernel_engine.kinds(report)
    return [times.get(kind, 0) / max(sum(times.values()), 1) for kind in KINDS]


def time_by_line():
    """The same lines have the same shares with both engines, and the default is the one that stops nobody."""
    arguments = ("-d", 10, "-r", 200, *DEARLY)
    with Target(INTERPRETER, "weighed_lines.py", "--seconds", 900) as target:
        with Daemon("--pid", target.pid, "-d", 5, "-q", *KERNEL) as daemon:
            looks = test_kernel_engine.watch_untraced(daemon, target.pid)
            daemon.finish()
        kernel, _ = profile(target.pid, *arguments, *KERNEL)
        ptrace, _ = profile(target.pid, *arguments, *PTRACE)
        automatic, _ = profile(target.pid, "-d", 1, "--mode", "time")
        target.check_undisturbed()
    check(looks > 20, "%d looks" % looks)
    test_kernel_engine.check_kernel(kernel)
    check_equal((ptrace["sampler"], automatic["sampler"]), ("clock", "kernel"), "samplers of ptrace and auto")
    check_sampled(min(kernel["samples"], ptrace["samples"]) >= 100, "%d and %d samples" % (
        kernel["samples"], ptrace["samples"]))
    pairs = list(zip(KINDS, shares(kernel), shares(ptrace)))
    chance = 4 * math.sqrt(0.17 * (1 / kernel["samples"] + 1 / ptrace["samples"]))
    for kind, found, expected in pairs:
        check_sampled(abs(found - expected) < chance, "%s: %.3f and %.3f with stops" % (kind, found, expected))
    return "%d and %d samples; %s; nobody traced the target in %d looks" % (
        kernel["samples"], ptrace["samples"], ", ".join(
            "%s %.0f and %.0f%%" % (kind, 100 * found, 100 * expected) for kind, found, expected in pairs), looks)


@contextlib.contextmanager
def setting(value):
    with open(PARANOID) as file:
        before = file.read()
    try:
        with open(PARANOID, "w") as file:
            file.write(str(value))
        yield
    finally:
        with open(PARANOID, "w") as file:
            file.write(before)


def without_rights():
    """
    Without CAP_BPF, auto does with stops, where perf events are to be had. Where they are not, since the setting is above
    2 and CAP_SYS_ADMIN is missing, it reads the running threads, and says which setting.
    """
    command = [*test_kernel_engine.WITHOUT_BPF, PIEPROFD, "-d", "1", "--mode", "time", "--format", "json", "--pid"]
    took = []
    with Target(INTERPRETER, "weighed_lines.py", "--seconds", 900) as target:
        for value in (2, 3):
            with setting(value):
                refused = subprocess.run(command + [str(target.pid), "--engine", "kernel"], capture_output=True, text=True,
                                         check=False)
                check_equal(refused.returncode, test_kernel_engine.EXIT_PERMISSION, "exit code, with %r" % refused.stderr)
                check("no program may be loaded into the kernel" in refused.stderr, refused.stderr)
                run = subprocess.run(command + [str(target.pid)], capture_output=True, text=True, check=False)
                check_equal(run.returncode, 0, "exit code, with %r" % run.stderr)
                took.append(json.loads(run.stdout)["sampler"])
                target.check_undisturbed()
        check_equal(took[0], "clock", "what auto took")
        if took[1] == "unstopped":
            check("perf_event_paranoid=2" in refused.stderr, refused.stderr)
            with setting(3):
                refused = subprocess.run(command + [str(target.pid), "--engine", "ptrace", "--mode", "redundancy"],
                                         capture_output=True, text=True, check=False)
            check("perf_event_paranoid=2 (it is 3)" in refused.stderr, refused.stderr)
    return "auto took %s with perf_event_paranoid 2, %s with 3" % tuple(took)


def functions_in_the_kernel():
    with Target(INTERPRETER, "kernel_calls.py", "--seconds", 900) as target:
        report, _ = profile(target.pid, "-d", 10, "-r", 200, *DEARLY, *KERNEL)
        target.check_undisturbed()
    check_equal(report["losses"].get("kernel_unnamed", 0), 0, "samples without names")
    test_kernel_frames.check_sums(report)
    rows = test_kernel_frames.by_call(report)
    for kind in ("getrandom", "read", "write"):
        mine = rows.get(kind, [])
        right = sum(row["system_ns"] for row in mine if row["call"] == kind)
        check_sampled(mine and right > 0.7 * sum(row["system_ns"] for row in mine), "%s: %s" % (kind, mine))
    names = {function["function"] for mine in rows.values() for row in mine for function in row["functions"]}
    return "%d functions named, %s" % (len(names), ", ".join(sorted(rows)))


def planted_line():
    """Watched memory and compared arguments lead to the line in which the program wastes its time."""
    with Target(INTERPRETER, "conv_backprop.py", "--seconds", 900) as target:
        report, _ = profile(target.pid, "-d", 25, *DEARLY)
        target.check_undisturbed()
    loads = report["loads"]
    check_sampled(loads["reaccessed"] >= 20, "%d verdicts; lost: %s" % (loads["reaccessed"], report["losses"]))
    first = max(report["lines"], key=lambda line: line["avoidable_ns"])
    check_sampled(line_text(first).startswith(PLANTED), "first is %r; verdict: %s" % (first, report["verdict"]))
    return "%d of %d loads redundant; could save %.0f%% there" % (
        loads["redundant"], loads["reaccessed"], 100 * first["avoidable_ns"] / sum(report["time_ns"].values()))


def dial():
    """Shares of redundant accesses that are set are found."""
    said = []
    for kind, percent in [(kind, percent) for kind in ("load", "store") for percent in (50,)]:
        with Target(INTERPRETER, "dial.py", "--folder", EXTENSIONS, "--kind", kind, "--percent", percent,
                    "--seconds", 900) as target:
            report, _ = profile(target.pid, "-d", 20, "-r", 999, *DEARLY, "--%ss" % kind, "--include", "dial.so")
            target.check_undisturbed()
        counts = report["%ss" % kind]
        check_sampled(counts["reaccessed"] >= 30, "%s %d%%: only %d verdicts; lost: %s" % (
            kind, percent, counts["reaccessed"], report["losses"]))
        share = counts["redundant"] / counts["reaccessed"]
        chance = 3.5 * math.sqrt(percent / 100 * (1 - percent / 100) / counts["reaccessed"])
        check_sampled(abs(share - percent / 100) <= 0.03 + chance, "%s %d%%: %.3f of %d" % (
            kind, percent, share, counts["reaccessed"]))
        said.append("%ss of %d%%: %.1f%% of %d" % (kind, percent, 100 * share, counts["reaccessed"]))
    return ", ".join(said)


def is_armed(pid):
    """Not all debug registers of its first thread are to be had."""
    try:
        take_breakpoints(pid)
    except Failure:
        return True
    return False


def killed_while_armed():
    """Watches and stops end with the daemon, and the target works on."""
    with Target(INTERPRETER, "conv_backprop.py", "--seconds", 900) as target:
        for _ in range(KILLS):
            with Daemon("--pid", target.pid, "-d", 200, "-q", "-r", 999, *DEARLY) as daemon:
                wait_until(lambda: is_armed(target.pid), seconds=60, what="a watch", interval=0.001)
                daemon.process.kill()
                daemon.process.wait()
            wait_until(lambda: not is_armed(target.pid), what="debug registers that are free")
            target.check_undisturbed()
        before = ticks(target.pid)
        time.sleep(0.5)
        check(ticks(target.pid) > before, "the target does not go on")
        report, _ = profile(target.pid, "-d", 2, "-q", *DEARLY)
        check(report["samples"] > 0, "no samples after it")
    return "%d times; debug registers free, untraced, the target goes on" % KILLS


def ticks(pid):
    with open("/proc/%d/stat" % pid) as file:
        return sum(int(word) for word in file.read().rpartition(")")[2].split()[11:13])


def killed_while_tracing():
    """Killed with breakpoints in the interpreter's own code: the kernel takes them out."""
    def changed(pid):
        with open("/proc/%d/maps" % pid) as maps:
            line = next(line.split() for line in maps if " r-xp " in line and "/python3" in line)
        start, end = (int(word, 16) for word in line[0].split("-"))
        with open("/proc/%d/mem" % pid, "rb", 0) as memory, open(line[5], "rb") as file:
            memory.seek(start)
            file.seek(int(line[2], 16))
            return memory.read(end - start) != file.read(end - start)

    with Target(INTERPRETER, "stack_kinds.py", "--seconds", 900) as target:
        for _ in range(3):
            with Daemon("trace", target.pid, "-d", 200, "--functions", "*", "--max-overhead", "100%", "-q") as daemon:
                wait_until(lambda: changed(target.pid) or daemon.process.poll() is not None, seconds=60, what="breakpoints")
                check(daemon.process.poll() is None, "the tracer ended with %s: %s" % (
                    daemon.process.returncode, daemon.process.stderr.read() if daemon.process.poll() else ""))
                daemon.signal(signal.SIGKILL)
                daemon.process.wait()
            wait_until(lambda: not changed(target.pid), what="code as it was before")
        target.check_undisturbed()
    return "3 times; the interpreter's code is as it was"


def allocations():
    """Before 6.10 no kernel sets probes as they are needed here, and the report says so, and has all the rest."""
    if VERSION >= (6, 10):
        test_memory.test_allocations(INTERPRETER)
        test_memory.test_killed_in_a_window(INTERPRETER)
        return "rates and what is temporary; killed in a window: code as it was"
    with Target(INTERPRETER, "allocations.py", 0, stdin=subprocess.PIPE) as target:
        with Daemon("--pid", target.pid, "-d", 2, "--mode", "time", "--allocations", *DEARLY) as daemon:
            daemon.process.wait()
            said = daemon.process.stderr.read() + daemon.process.stdout.read()
        target.process.kill()
    check("6.10" in said, "code %d, and said was %r" % (daemon.process.returncode, said))
    raise Absent("exit code %d: %s" % (daemon.process.returncode, " ".join(
        next(line for line in said.splitlines() if "6.10" in line or "allocation" in line).split())))


def torture():
    """The daemon ends in many ways at random moments, in every mode."""
    result, _ = kill_daemon.torture([INTERPRETER], ROUNDS, 1)
    check(not result.bad(), str(result))
    return "%d daemons, %d while at work: no death, nothing left" % (result.rounds, result.while_attached)


def several(*tests):
    """Tests of tests/e2e."""
    def play():
        said = []
        for test in tests:
            test(*([INTERPRETER] if inspect.signature(test).parameters else []))
            said.append("%s.%s" % (test.__module__[len("test_"):], test.__name__[len("test_"):]))
        return ", ".join(said)

    return play


CHECKS = {
    "doctor": doctor,
    "time by line, kernel and ptrace": time_by_line,
    "--engine auto without rights": without_rights,
    "functions in the kernel": functions_in_the_kernel,
    "redundant accesses, planted line first": planted_line,
    "redundant accesses, dial": dial,
    "kill -9, watches armed": killed_while_armed,
    "kill -9, programs loaded": several(test_kernel_engine.test_killed),
    "kill -9, functions probed": killed_while_tracing,
    "daemon ended in every mode": torture,
    "dump": several(test_dump.test_deadlock, test_dump.test_circles),
    "trace --functions": several(test_trace.test_some_python_functions),
    "trace --probe, --events": several(test_trace.test_spans),
    "--memory": several(test_memory.test_growth),
    "--allocations": allocations,
    "heap": several(test_heap.test_shapes),
}


def outcome(play):
    """The result and its words."""
    for again in (True, False):
        try:
            return "ok", play()
        except Unlucky as problem:
            print("unlucky: %s" % problem, flush=True)
            if not again:
                return "FAILED", str(problem)
        except Absent as words:
            return "absent", str(words)
        except Skip as reason:
            return "skipped", str(reason)
        except Exception as problem:  # whatever it is: the others are to run
            traceback.print_exc()
            return "FAILED", "%s: %s" % (type(problem).__name__, problem)


def run(name, play, results):
    """In a process of its own, which ends with all that it has started."""
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        signal.alarm(LIMIT_SECONDS)
        began = time.monotonic()
        result, words = outcome(play)
        row = {"check": name, "result": result, "words": words.replace("\n", " ")[:600],
               "seconds": round(time.monotonic() - began)}
        os.write(results, (json.dumps(row) + "\n").encode())
        os._exit(0)
    _, status = os.waitpid(child, 0)
    try:
        os.killpg(child, signal.SIGKILL)
    except ProcessLookupError:
        pass
    if status:
        row = {"check": name, "result": "FAILED", "words": "ended by signal %d" % (status & 127), "seconds": LIMIT_SECONDS}
        os.write(results, (json.dumps(row) + "\n").encode())


def main():
    results, words = 3, sys.argv[1:]
    for name, play in CHECKS.items():
        if not words or any(word in name for word in words):
            print("---- %s" % name, flush=True)
            run(name, play, results)
    os.write(results, b'{"finished": true}\n')


if __name__ == "__main__":
    main()
