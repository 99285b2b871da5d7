# SPDX-License-Identifier: Apache-2.0
"""Threads that block all signals: they are read without stops, with all their time, and it is said."""
import json
import os
import shutil
import tempfile

from harness import (Skip, Target, check, check_equal, check_sampled, find_interpreters, line_text, pieprofd,
                     status_of)

MARK = "read without stops: it blocks signals"
CLASSES = ("python_ns", "native_ns", "system_ns")


def own_time(entry):
    return sum(entry[name] for name in CLASSES)


def cpu_ticks(pid):
    """What the kernel has counted of each thread's CPU time."""
    ticks = {}
    for tid in os.listdir("/proc/%d/task" % pid):
        with open("/proc/%d/task/%s/stat" % (pid, tid)) as file:
            fields = file.read().rpartition(")")[2].split()
        ticks[int(tid)] = int(fields[11]) + int(fields[12])
    return ticks


def check_nothing_pending(pid):
    for tid in os.listdir("/proc/%d/task" % pid):
        status = status_of(pid, tid)
        check_equal((status["SigPnd"], status["ShdPnd"]), ("0" * 16, "0" * 16), "pending signals of thread %s" % tid)


def profile_all(target, *arguments):
    """The JSON report, the text and the page, and each thread's part of the CPU time by the kernel's count."""
    folder = tempfile.mkdtemp(prefix="pieprofd-test-")
    try:
        paths = [os.path.join(folder, name) for name in ("p.json", "p.html")]
        before = cpu_ticks(target.pid)
        run = pieprofd("--pid", target.pid, "--details", "-o", paths[0], "-o", paths[1], *arguments)
        after = cpu_ticks(target.pid)
        with open(paths[0]) as file, open(paths[1]) as page:
            spent = {tid: after[tid] - before[tid] for tid in after}
            return json.load(file), run.stdout, page.read(), spent
    finally:
        shutil.rmtree(folder)


def interpreters():
    """Frames of a thread that runs are read in other ways to 3.10, to 3.12, and later."""
    found = [interpreter for interpreter in find_interpreters() if not interpreter.in_root]
    chosen = [[each for each in found if low <= each.version < high][:1]
              for low, high in (((3, 8), (3, 11)), ((3, 11), (3, 13)), ((3, 13), (3, 99)))]
    if not any(chosen):
        raise Skip("no interpreter with numpy")
    return sum(chosen, [])


def share(part, whole):
    return 100 * part / whole if whole else 0


def check_alike(name, report):
    """Line by line and class by class, the thread that is not stopped shows what its twin does."""
    times = {}
    for line in report["lines"]:
        owner, _, kind = line_text(line).partition("# ")[2].partition(": ")
        if kind:
            times[owner, kind] = times.get((owner, kind), 0) + own_time(line)
    for kind in ("python", "native", "system"):
        blocked, opened = (share(times.get((owner, kind), 0), sum(time for (whose, _), time in times.items()
                                                                  if whose == owner))
                           for owner in ("blocked", "open"))
        print("  %s, %s: %.1f%% of the lines of one, %.1f%% of the other's" % (name, kind, blocked, opened))
        check_sampled(abs(blocked - opened) < 15, "%s: %s lines: %.1f%% and %.1f%%" % (name, kind, blocked, opened))
    for time_class in CLASSES:
        parts = [share(each[time_class], own_time(each)) for each in report["threads"]
                 if each["name"] in ("blocked", "opened")]
        check_sampled(abs(parts[0] - parts[1]) < 15, "%s: %s of the threads: %s" % (name, time_class, parts))


def test_shares():
    """As much time as the kernel says, in the same lines as in a thread that is stopped, and nothing left."""
    for interpreter in interpreters():
        with Target(interpreter, "blocked_signals.py", "--seconds", 60) as target:
            report, _, page, spent = profile_all(target, "-d", 2, "--mode", "time", "--engine", "ptrace", "--rate", 500,
                                                 "--max-overhead", 20)
            target.check_undisturbed()
            check_nothing_pending(target.pid)
        total = sum(map(own_time, report["threads"]))
        check_equal(total, sum(report["time_ns"].values()), "time of all threads")
        threads = {thread["name"]: thread for thread in report["threads"]}
        for name in ("blocked", "opened"):
            thread = threads[name]
            by_kernel = share(spent[thread["tid"]], sum(spent.values()))
            found = share(own_time(thread), total)
            print("  %s, %s: %.1f%% of the CPU time, %.1f%% by /proc" % (interpreter.name, name, found, by_kernel))
            check_sampled(abs(found - by_kernel) < 5, "%s, %s: %.1f%% of the CPU time, %.1f%% by /proc" %
                          (interpreter.name, name, found, by_kernel))
        check_alike(interpreter.name, report)
        check_equal(threads["opened"]["unstopped_ns"], 0, "time without stops of the thread that blocks none")
        check(threads["blocked"]["unstopped_ns"] > 0.9 * own_time(threads["blocked"]), threads["blocked"])
        check_equal(report["losses"]["stop_signal_blocked"], 1, "threads read without stops")
        check("stop_signal_pending" not in report["losses"], report["losses"])
        check(MARK in page, "the page does not say it")


def test_split():
    """
    How much of the time is Python's is told by where the clock found the thread: of numpy's calls of microseconds, and of
    the interpreter alone, as in the thread that is stopped, within 12 points.
    """
    for work in ("numpy", "python"):
        with Target(interpreters()[-1], "blocked_signals.py", "--seconds", 60, "--work", work) as target:
            report, _, _, _ = profile_all(target, "-d", 2, "--mode", "time", "--engine", "ptrace", "--rate", 500, "--max-overhead", 20)
            target.check_undisturbed()
        shares = {thread["name"]: share(thread["python_ns"], thread["python_ns"] + thread["native_ns"])
                  for thread in report["threads"]}
        print("  %s: %.1f%% of the user time is Python's, %.1f%% of the other's" %
              (work, shares["blocked"], shares["opened"]))
        check_sampled(abs(shares["blocked"] - shares["opened"]) < 12, "%s: %s" % (work, shares))


def test_redundancy_is_said():
    """Its memory is not watched: that is said beside its time, and what others repeat is found as ever."""
    interpreter = interpreters()[-1]
    with Target(interpreter, "blocked_signals.py", "--seconds", 60) as target:
        report, text, _, _ = profile_all(target, "-d", 1.5, "--engine", "ptrace")
        target.check_undisturbed()
        check_nothing_pending(target.pid)
    check(MARK in text, text)
    check("redundancy is not watched" in " ".join(text.split()), text)
    for pair in report["pairs"]:
        check(not any("blocked" in line_text(frame) for frame in pair["first"] if "file" in frame), pair)


def test_comes_to_block():
    """One signal had been sent by then, and nobody but the thread can take it: it is counted."""
    with Target(interpreters()[-1], "blocked_signals.py", "--seconds", 60, "--after", 1.8) as target:
        report, text, _, _ = profile_all(target, "-d", 2.5, "--mode", "time", "--engine", "ptrace", "--rate", 250, "--max-overhead", 20)
        target.check_undisturbed()
        pending = {int(tid): int(status_of(target.pid, tid)["SigPnd"], 16)
                   for tid in os.listdir("/proc/%d/task" % target.pid)}
    threads = {thread["name"]: thread for thread in report["threads"]}
    check_sampled(0 < threads["blocked"]["unstopped_ns"] < 0.9 * own_time(threads["blocked"]), threads["blocked"])
    check("read without stops for a part of its time" in text, text)
    check_equal(report["losses"].get("stop_signal_pending"), 1, "signals left")
    check_equal([tid for tid, signals in pending.items() if signals], [threads["blocked"]["tid"]],
                "threads with a pending signal")
    check_sampled(abs(own_time(threads["blocked"]) - own_time(threads["opened"])) < 0.1 * report["cpu_ns"],
                  "%s and %s" % (threads["blocked"], threads["opened"]))


def test_doctor_says_it():
    with Target(interpreters()[-1], "blocked_signals.py", "--seconds", 60) as target:
        run = pieprofd("doctor", "--pid", target.pid)
        check_nothing_pending(target.pid)
    check("1 of its threads block SIG" in run.stdout, run.stdout)
