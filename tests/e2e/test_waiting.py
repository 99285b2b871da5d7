# SPDX-License-Identifier: Apache-2.0
"""--idle: what threads wait for; who has the GIL; the garbage collector."""
import contextlib
import json
import os
import resource

from harness import (MANY_SAMPLES, Skip, alone, check, check_equal, check_sampled, line_text, pieprofd, profile,
                     status_of, wait_until, with_packages)
from test_dump import waiting_target

KINDS = ("lock", "gil", "io", "sleep", "child", "other")
EXPECTED = {
    "wait_for_lock": "lock",
    "wait_for_pipe": "io",
    "wait_for_socket": "io",
    "wait_for_time": "sleep",
    "wait_for_child": "child",
    "MainThread": "io",
}


def truth_of(target):
    """What waiting.py said in the end."""
    words = target.last_words.split()[2:]
    return {name: float(share) for name, share in (word.split("=") for word in words)}


def sleep_counts(pid, names):
    """How often each of these threads went to sleep, or was put off its CPU, by tid."""
    counts = {}
    for tid in os.listdir("/proc/%d/task" % pid):
        status = status_of(pid, tid)
        counts[tid] = (status["voluntary_ctxt_switches"], status["nonvoluntary_ctxt_switches"])
    return {tid: counts[str(tid)] for tid in names}


def check_cpu_alone(report):
    """CPU time is what its classes add up to, with no waiting in it."""
    for kind in ("python", "native", "system"):
        check_equal(sum(thread["%s_ns" % kind] for thread in report["threads"]), report["time_ns"][kind],
                    "%s time of all threads" % kind)
    for entry in report["lines"] + report["functions"]:
        own = entry["python_ns"] + entry["native_ns"] + entry["system_ns"]
        check(own <= entry["total_ns"], "own time %d of %d in all: %s" % (own, entry["total_ns"], entry))
    for kind in KINDS:
        for part in ("threads", "lines", "functions"):
            found = sum(entry["waiting_ns"][kind] for entry in report[part])
            check_equal(found, report["waiting_ns"][kind], "waiting for %s, all %s" % (kind, part))


@alone
def test_kinds(some_interpreter):
    with waiting_target(some_interpreter, "waiting.py", "--busy") as (target, _):
        before, text = profile(target.pid, "-d", 0.2, "--mode", "time", "-r", 200, *MANY_SAMPLES)
        check("waiting_ns" not in before, "waiting without being asked for")
        check("WAITING" not in text, "waiting without being asked for")
        sleepers = [thread for thread in all_threads(target.pid) if thread["name"] in EXPECTED]
        tids = [thread["tid"] for thread in sleepers]
        counts = sleep_counts(target.pid, tids)
        report, text = profile(target.pid, "-d", 2.5, "--mode", "time", "-r", 200, "--idle", *MANY_SAMPLES)
        check_equal(sleep_counts(target.pid, tids), counts, "times that sleeping threads went to sleep")
        names = {thread["tid"]: thread["name"] for thread in sleepers}
    check_cpu_alone(report)
    check("WAITING" in text, "no waiting in the text")
    threads = {names.get(thread["tid"], thread["name"]): thread for thread in report["threads"]}
    for name, kind in EXPECTED.items():
        waiting = threads[name]["waiting_ns"]
        check_sampled(waiting[kind] > 0.95 * report["duration_ns"],
                      "%s: %s of %d" % (name, waiting, report["duration_ns"]))
        check_equal(sum(waiting.values()), waiting[kind], "all that %s waited for" % name)
    for line in report["lines"]:
        text = line_text(line)
        for mark, kind in (("# waits for a lock", "lock"), ("# waits for input", "io"),
                           ("# waits for a time", "sleep"), ("# waits for a child", "child")):
            if mark in text:
                check_sampled(line["waiting_ns"][kind] > 0.95 * report["duration_ns"],
                              "%s: %s" % (text, line["waiting_ns"]))
    # Two threads want the GIL all the time: what they sleep is for it.
    held = 0
    for name in ("work", "collect"):
        waiting = threads[name]["waiting_ns"]
        check_sampled(waiting["gil"] > 0.1 * report["duration_ns"], "%s waited: %s" % (name, waiting))
        check_sampled(waiting["gil"] > 0.75 * sum(waiting.values()), "%s waited: %s" % (name, waiting))
        held += threads[name]["gil_ns"]
    check_equal(held, report["gil_ns"], "time with the GIL")
    cpu = sum(report["time_ns"].values())
    check_sampled(0.85 * cpu < held <= cpu, "%d of %d with the GIL" % (held, cpu))
    for name in EXPECTED:
        check_equal(threads[name]["gil_ns"], 0, "time of %s with the GIL" % name)
    # Half of the time of one of them is the collector's.
    collect = sum(threads["collect"]["%s_ns" % kind] for kind in ("python", "native", "system"))
    check_equal(sum(line["gc_ns"] for line in report["lines"]), report["gc_ns"], "the collector's time, all lines")
    share, expected = report["gc_ns"] / collect, truth_of(target)["collecting"]
    # Some 200 samples: four standard deviations are 14 points.
    check_sampled(abs(share - expected) < 0.15, "collector: %.3f, expected %.3f" % (share, expected))


def verdict_text(text):
    """The verdict's part of a text report, on one line."""
    return " ".join(text[text.index("VERDICT  "):text.index("\nTIME ")].split())


def check_stuck(interpreter, *arguments):
    """Who blocks the event loop comes first; threads without work are idle, whatever their number."""
    with waiting_target(interpreter, "stuck.py", *arguments) as (target, _):
        report, text = profile(target.pid, "-d", 1.5, "--mode", "time", "--idle")
    words = verdict_text(text)
    check_equal(report["verdict"]["kind"], "waiting", "kind of %s" % words)
    place, rest = words.split(" time.sleep(0.1) # blocks the loop An event loop was blocked for ", 1)
    check(place.startswith("VERDICT an event loop was blocked by a call that waits "), words)
    check(place.split(" in slow_call")[0].endswith("stuck.py:%d" % report["verdict"]["line"]["line"]), words)
    blocked, rest = rest.split("wait meanwhile. Await asyncio.sleep() instead. ", 1)
    check_equal(line_text(report["verdict"]["line"]), "time.sleep(0.1)  # blocks the loop", "the line")
    # Two thirds of the time.
    share = int(blocked.split("% of the time")[0].rsplit("(", 1)[1])
    check_sampled(45 < share < 90, "blocked for %d%%" % share)
    check("waiting for input or output." in rest and "pair[0].recv(1)" in rest, words)
    idle = rest.split("Idle, which slows nothing down: ")[1]
    check_sampled("a pool without work, 4." in idle and "(as of 3 threads all the time)" in idle, words)
    for role in ("a queue without work", "an event loop with nothing ready", "a server without a client"):
        check(role in idle, "%s: %s" % (role, words))
    for mark in ("has no work", "has no client"):
        check(mark not in words, "%s: %s" % (mark, words))


def test_verdict(some_interpreter):
    check_stuck(some_interpreter)


def test_verdict_of_uvloop(one_interpreter):
    """A loop in native code: no frame of Python's says that it is one."""
    check_stuck(with_packages(one_interpreter, "uvloop"), "uvloop")


def test_deadlock(one_interpreter):
    """The circles that a dump shows (dump.circles, on every interpreter) are the first thing that a report says."""
    with waiting_target(one_interpreter, "circles.py") as (target, _):
        report, text = profile(target.pid, "-d", 0.5, "--mode", "time", "--idle")
        check_equal(report["verdict"]["kind"], "deadlock", "kind of the verdict")
    words = verdict_text(text)
    check(words.startswith("VERDICT probable deadlock: threads wait for each other's locks Thread "), words)
    check("There are more: pieprofd dump shows them." in words, words)
    check(words.count(" waits at ") == 6 and words.count(" has since ") >= 2, words)
    check("(lock\\nof two forwards) waits at " in words, "the name of a thread: %s" % words)
    with waiting_target(one_interpreter, "stuck.py") as (target, _):
        report, text = profile(target.pid, "-d", 0.5, "--mode", "time", "--idle")
    check("deadlock" not in text and report["verdict"]["kind"] == "waiting", text)


@contextlib.contextmanager
def quota():
    """A cgroup whose processes get a fifth of a CPU; moves a process into it."""
    for base, name, words in (("/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", "20000"),
                              ("/sys/fs/cgroup", "cpu.max", "20000 100000")):
        folder = os.path.join(base, "pieprofd-test-%d" % os.getpid())
        with contextlib.suppress(OSError):
            os.mkdir(folder)
            try:
                with open(os.path.join(folder, name), "w") as file:
                    file.write(words)
                break
            except OSError:
                os.rmdir(folder)
    else:
        raise Skip("needs root that may make a cgroup with a CPU quota")

    def enter(pid):
        with open(os.path.join(folder, "cgroup.procs"), "w") as file:
            file.write(str(pid))

    try:
        yield enter
    finally:
        wait_until(lambda: not open(os.path.join(folder, "cgroup.procs")).read(), what="an empty cgroup")
        os.rmdir(folder)


def test_throttled(one_interpreter):
    """A quota that is used up is told from a busy machine."""
    with quota() as enter:
        with waiting_target(one_interpreter, "waiting.py", "--busy") as (target, _):
            enter(target.pid)
            report, text = profile(target.pid, "-d", 1.5, "--mode", "time")
        check(report["throttled_ns"] > 0.2 * report["duration_ns"], "throttled for %d" % report["throttled_ns"])
        check("their control group had used up its quota, and was throttled for " in verdict_text(text), text)


def all_threads(pid):
    return json.loads(pieprofd("dump", "--pid", pid, "--json", "--no-native").stdout)["threads"]


def test_half_asleep(one_interpreter):
    with waiting_target(one_interpreter, "waiting.py", "--half") as (target, _):
        report, _ = profile(target.pid, "-d", 6, "--mode", "time", "--idle")
    thread = next(thread for thread in report["threads"] if thread["name"] == "half")
    share, expected = sum(thread["waiting_ns"].values()) / report["duration_ns"], truth_of(target)["asleep"]
    check_sampled(abs(share - expected) < 0.08, "asleep for %.3f, expected %.3f" % (share, expected))
    line = next(line for line in report["lines"] if line_text(line).endswith("# sleeps"))
    check_sampled(line["waiting_ns"]["sleep"] > 0.95 * sum(thread["waiting_ns"].values()), "the line: %s" % line)


def daemon_cpu(pid, *arguments):
    """CPU time of pieprofd itself for a profile, and the report."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    report, _ = profile(pid, "-d", 4, "--mode", "time", *arguments)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, report


def test_many_sleepers(one_interpreter):
    with waiting_target(one_interpreter, "waiting.py", "--sleepers", 150, "--half") as (target, _):
        tids = [thread["tid"] for thread in all_threads(target.pid) if thread["name"] == "wait_for_lock"]
        check_equal(len(tids), 151, "threads that wait for a lock")
        counts = sleep_counts(target.pid, tids)
        without, _ = daemon_cpu(target.pid)
        spent, report = daemon_cpu(target.pid, "--idle")
        check_equal(sleep_counts(target.pid, tids), counts, "times that sleeping threads went to sleep")
    # A reading of every stack 20 times a second would take a quarter of a CPU and more.
    check_sampled(spent - without < 0.1 * report["duration_ns"] / 1e9, "pieprofd took %.3f s, %.3f without --idle" % (
        spent, without))
    waiting = [thread["waiting_ns"]["lock"] for thread in report["threads"] if thread["name"] == "wait_for_lock"]
    check_equal(len(waiting), 151, "threads in the report")
    check_sampled(min(waiting) > 0.9 * report["duration_ns"], "waited %d of %d" % (min(waiting), report["duration_ns"]))


def test_formats(one_interpreter):
    with waiting_target(one_interpreter, "waiting.py") as (target, _):
        run = pieprofd("--pid", target.pid, "-d", 1, "--mode", "time", "--idle", "--format", "collapsed")
    lines = [line for line in run.stdout.splitlines() if "wait_for_time" in line]
    check(len(lines) == 1 and ";[waiting: sleep] " in lines[0], "collapsed: %s" % run.stdout)
    check_sampled(abs(int(lines[0].rsplit(" ", 1)[1]) - 1e6) < 2e5, "microseconds: %s" % lines[0])


def task_lines(task):
    """Functions of a task's frames and the marks of their lines, outermost first, as far as they are the target's."""
    return [line_text(frame).split("# ")[-1] for frame in task["frames"] if frame["file"].endswith("tasks.py") and
            "asyncio/" not in frame["file"]]


def dump_of_all(take, has_all):
    """A dump in which no thread ran on unseen, which is allowed to happen on a busy machine, but not for ever."""
    for _ in range(5):
        dump = take()
        if has_all(dump):
            return dump
    return dump


def test_asyncio(interpreter):
    with waiting_target(interpreter, "tasks.py") as (target, _):
        waiting = json.loads(pieprofd("dump", "--pid", target.pid, "--json").stdout)
    with waiting_target(interpreter, "tasks.py", "--spin") as (target, _):
        dump = dump_of_all(lambda: json.loads(pieprofd("dump", "--pid", target.pid, "--json").stdout),
                           lambda report: not any(thread["moved"] for thread in report["threads"]))
        text = dump_of_all(lambda: pieprofd("dump", "--pid", target.pid).stdout,
                           lambda report: "It ran on" not in report)
    if interpreter.version < (3, 7):
        check_equal(dump["tasks"], None, "tasks")
        return
    loop = next(thread for thread in dump["threads"] if thread["name"] == "loop")
    running = [task for task in dump["tasks"] if task["running"]]
    check_equal(len(running), 1, "running tasks")
    check_equal(dump["tasks"][loop["task"]], running[0], "the thread's task")
    check_equal(task_lines(running[0]), ["runs spin", "spins"], "the running task's coroutines")
    check_equal([task for task in waiting["tasks"] if task["running"]], [], "running tasks")
    check_equal([thread["task"] for thread in waiting["threads"]], [None, None], "tasks of threads")
    names = interpreter.version >= (3, 8)
    expected = {
        ("main sleeps",): "Task-1",
        ("sleeps",): "sleeper",
        ("waits for a task",): "waiter",
        ("waits for inner", "waits for an event"): "outer",
    }
    for report, count in ((waiting, 4), (dump, 5)):
        check_equal(len(report["tasks"]), count, "tasks")
        for task in report["tasks"]:
            check_equal(task["tid"], loop["tid"] if report is dump else task["tid"], "the task's thread")
            if not task["running"]:
                check_equal(task["name"], expected[tuple(task_lines(task))] if names else None, "name of %s" % task)
            if task_lines(task) == ["waits for a task"]:
                check_equal(task_lines(report["tasks"][task["awaits"]]), ["sleeps"], "what the waiter waits for")
            else:
                check_equal(task["awaits"], None, "what %s waits for" % task)
    check(not names or 'asyncio: task "spinner"' in text, "the text has no task")
