# SPDX-License-Identifier: Apache-2.0
"""A process whose main thread has ended while others go on: read and profiled as any other, and left as it was."""
import json
import os
import subprocess
import tempfile

from harness import (Daemon, Target, check, check_equal, check_sampled, check_verdict, find_interpreters, line_text,
                     pieprofd, profile, status_of, take_breakpoints, wait_attached, wait_until)
from test_unstopped import EPERM, own_time, profile_without_perf

HOTTEST = ("for i in range(n):", "x = x * 3 % 1000003  # the worker's line")


def interpreters():
    """The kinds of frames there are: to 3.10, 3.11 and 3.12, later; one in a mount namespace of its own."""
    found = find_interpreters()
    chosen = [[each for each in found if low <= each.version < high][:1]
              for low, high in (((3, 6), (3, 11)), ((3, 11), (3, 13)), ((3, 13), (3, 99)))]
    chosen.append([each for each in found if each.in_root][-1:])
    return {each.name: each for each in sum(chosen, [])}.values()


def main_has_ended(target):
    return status_of(target.pid)["State"].startswith("Z")


def ended_target(interpreter, *arguments):
    return Target(interpreter, "ended_main.py", *arguments, stdin=subprocess.PIPE)


def check_profile(name, report):
    hot = max(report["lines"], key=own_time, default=None)
    check_sampled(hot and line_text(hot) in HOTTEST, "%s: the hottest line is %s" % (name, hot))


def check_left(pid):
    """As check_undisturbed(), of the threads that are left."""
    for tid in os.listdir("/proc/%d/task" % pid):
        if int(tid) == pid:
            continue
        status = status_of(pid, tid)
        check_equal(status["TracerPid"], "0", "TracerPid of thread %s" % tid)
        check(status["State"][0] in "RSD", "thread %s is %s" % (tid, status["State"]))
        take_breakpoints(int(tid))


def test_read_and_profiled():
    for interpreter in interpreters():
        with ended_target(interpreter) as target:
            check(main_has_ended(target), target.status())
            dump = json.loads(pieprofd("dump", "--pid", target.pid, "--json").stdout)
            working = [thread for thread in dump["threads"] if any(frame["function"].endswith("multiply")
                                                                   for frame in thread["frames"])]
            check_sampled(len(working) == 1, "%s: %s" % (interpreter.name, dump))
            check(all(thread["tid"] != target.pid for thread in dump["threads"]), "the main thread is shown: %s" % dump)
            report, _ = profile(target.pid, "-d", 1)
            check_profile(interpreter.name, report)
            check("worker" in {thread["name"] for thread in report["threads"]}, report["threads"])
            check_left(target.pid)
            target.finish()


def test_ends_while_profiled():
    """The daemon goes on with the other threads, and ends with the last of them."""
    for interpreter in list(interpreters())[-1:]:
        with tempfile.TemporaryDirectory(prefix="pieprofd-test-") as folder, ended_target(
                interpreter, "--wait") as target:
            path = os.path.join(folder, "p.json")
            with Daemon("--pid", target.pid, "-d", 60, "-o", path) as daemon:
                wait_attached(target.pid)
                target.process.stdin.write("end\n")
                target.process.stdin.flush()
                wait_until(lambda: main_has_ended(target), what="the end of the main thread")
                # Code that is new to the daemon is read from then on, and files are opened.
                wait_until(lambda: cpu_seconds(target.pid) > 2, seconds=60, what="work without the main thread")
                target.finish()
                daemon.finish()
            with open(path) as file:
                report = json.load(file)
        check_verdict(report, daemon.stdout)
        check_profile(interpreter.name, report)


def cpu_seconds(pid):
    with open("/proc/%d/stat" % pid) as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_found():
    word = "found-by-%d" % os.getpid()
    with ended_target(next(iter(interpreters())), "--word", word) as target:
        processes = json.loads(pieprofd("list", "--json").stdout)["processes"]
        found = [process for process in processes if process["pid"] == target.pid]
        check(found and "ended_main.py" in " ".join(found[0]["command"]), "the list: %s" % found)
        run = pieprofd("--name", word, "-d", "0.5", "--mode", "time")
        check("pid %d" % target.pid in run.stdout, run.stdout)
        doctor = pieprofd("doctor", "--pid", target.pid).stdout
        check("its memory can be read" in doctor and "Profiles can be taken of this process" in doctor, doctor)
        target.finish()


def test_without_stops():
    """As where perf events are refused: its threads are read while they run."""
    with ended_target(next(iter(interpreters()))) as target:
        report, _, _ = profile_without_perf(target, EPERM, "-d", 1)
        check_equal(report["sampler"], "unstopped", "sampler")
        check_profile("unstopped", report)
        target.finish()
