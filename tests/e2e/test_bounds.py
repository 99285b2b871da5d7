# SPDX-License-Identifier: Apache-2.0
"""Targets that have more than the daemon holds: it goes on, and says so (docs/SECURITY.md has the table)."""
import json
import os
import signal
import subprocess
import tempfile

from harness import (PIEPROFD, Daemon, Skip, check, check_equal, check_sampled, default_interpreter, pieprofd,
                     status_of, wait_until)

# Line tables of 4 MiB, of which 32 MiB are held.
CODES = """
import time
def make(number):
    space = {}
    exec("def work%%d(end):\\n    while time.thread_time() < end: sum(range(2000))" %% number, globals(), space)
    function = space["work%%d" %% number]
    code = function.__code__
    function.__code__ = code.replace(co_linetable=code.co_linetable + bytes(4 << 20))
    return function
for number in range(%d):
    make(number)(time.thread_time() + 0.15)
"""


def profile_of(script):
    with tempfile.TemporaryDirectory(prefix="pieprofd-bounds-") as folder:
        path = os.path.join(folder, "report.json")
        command = [PIEPROFD, "-q", "--mode", "time", "--rate", "199", "--max-overhead", "50", "-o", path, "--"]
        run = subprocess.run([*command, default_interpreter().path, "-c", script], capture_output=True, text=True,
                             timeout=120, check=False)
        check_equal(run.returncode, 0, "exit code, with %r" % run.stderr)
        with open(path) as file:
            return json.load(file)


def test_code_objects():
    for count in (4, 14):
        report = profile_of(CODES % count)
        names = {line["function"] for line in report["lines"]}
        check_sampled("work0" in names, "functions %s" % sorted(names))
        lost = report["losses"].get("target_limit", 0)
        if count == 4:
            check_equal(lost, 0, "code objects left out")
        else:
            check_sampled(lost > 0 and "work13" not in names,
                          "%d code objects left out, functions %s" % (lost, sorted(names)))


# Children that sleep until their parent has ended.
IDLE = """
import os, sys
ends = os.pipe()
for _ in range(%d):
    if not os.fork():
        os.close(ends[1])
        os.read(ends[0], 1)
        os._exit(0)
print("ready", flush=True)
sys.stdin.read()
"""
SESSIONS = 256
BEYOND = 20


def test_sessions_of_a_group():
    with tempfile.TemporaryDirectory(prefix="pieprofd-bounds-") as folder:
        path = os.path.join(folder, "report.json")
        with subprocess.Popen([default_interpreter().path, "-S", "-c", IDLE % (SESSIONS - 1 + BEYOND)],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as parent:
            check_equal(parent.stdout.readline(), "ready\n", "first line")
            with open("/proc/%d/task/%d/children" % (parent.pid, parent.pid)) as file:
                pids = [parent.pid, *map(int, file.read().split())]
            check_equal(len(pids), SESSIONS + BEYOND, "processes")
            with Daemon("--pid", parent.pid, "--follow", "--mode", "time", "-d", 0, "-q", "-o", path) as daemon:
                wait_until(lambda: sum(status_of(pid)["TracerPid"] != "0" for pid in pids) >= SESSIONS, seconds=120,
                           what="the daemon to attach")
                # Room that one leaves is another's.
                victim = next(pid for pid in pids[1:] if status_of(pid)["TracerPid"] != "0")
                before = {pid for pid in pids if status_of(pid)["TracerPid"] != "0"}
                os.kill(victim, signal.SIGKILL)
                wait_until(lambda: {pid for pid in pids if pid != victim and status_of(pid)["TracerPid"] != "0"}
                           - before, seconds=60, what="another one's session")
                check_equal(sum(status_of(pid)["TracerPid"] != "0" for pid in pids if pid != victim), SESSIONS,
                            "processes traced")
                daemon.signal(signal.SIGINT)
                daemon.process.wait()
            parent.stdin.close()
        with open(path) as file:
            report = json.load(file)
        check_equal(len(report["processes"]), SESSIONS + 1, "processes of the report")
        check_equal(report["losses"]["process_refused"], BEYOND - 1, "processes left out")


# Threads and tasks that wait; one task is 40 coroutines deep.
WAITING = """
import asyncio, threading
gate = threading.Lock()
gate.acquire()
threading.stack_size(64 << 10)
for _ in range(%(threads)d):
    threading.Thread(target=gate.acquire, daemon=True).start()
async def deep(depth, event):
    await (deep(depth - 1, event) if depth else event.wait())
async def main():
    event = asyncio.Event()
    # Their set keeps its size when they have ended.
    await asyncio.gather(*[asyncio.sleep(0) for _ in range(%(ended)d)])
    tasks = [asyncio.ensure_future(deep(40 * (number == 0), event)) for number in range(%(tasks)d)]
    await asyncio.sleep(0)
    print("ready", flush=True)
    await event.wait()
asyncio.run(main())
"""
PYTHON_THREADS = 4096
THREADS = 16384
TASKS = 4096
TASK_FRAMES = 32


def dump_of(threads, tasks, ended=0):
    # One thread and one task are the main ones.
    script = WAITING % {"threads": threads - 1, "tasks": tasks - 1, "ended": ended}
    with subprocess.Popen([default_interpreter().path, "-c", script], stdout=subprocess.PIPE, text=True) as target:
        try:
            check_equal(target.stdout.readline(), "ready\n", "first line")
            run = subprocess.run([PIEPROFD, "dump", "--pid", str(target.pid), "--json"], capture_output=True, text=True,
                                 timeout=120, check=False)
        finally:
            target.kill()
    check_equal(run.returncode, 0, "exit code, with %r" % run.stderr)
    return json.loads(run.stdout)


def test_dump():
    """What is left out of a dump is counted there, threads and tasks each."""
    for threads, tasks, left_out in ((10, TASKS, 0), (10, TASKS + 1, 1), (PYTHON_THREADS + 1, 10, 1),
                                     (THREADS + 1, 10, 2)):
        dump = dump_of(threads, tasks)
        check_equal(dump["target_limit"], left_out, "with %d threads, %d tasks: left out" % (threads, tasks))
        check_equal(len(dump["tasks"]), min(tasks, TASKS), "tasks")
        check_equal(max(len(task["frames"]) for task in dump["tasks"]), TASK_FRAMES, "frames of a task")
        check_equal(len(dump["threads"]), min(threads, THREADS), "threads")
        # One that is known may be the one that is left out.
        known = sum(bool(thread["python"]) for thread in dump["threads"])
        check(min(threads, PYTHON_THREADS) - (threads > THREADS) <= known <= min(threads, PYTHON_THREADS),
              "threads of Python: %d of %d" % (known, threads))


def test_set_of_tasks():
    """65,536 slots are read; a set that held 19,000 has 32,768, and one that held 20,000 has 131,072."""
    for ended, left_out in ((19000, 0), (20000, 1)):
        dump = dump_of(1, 40, ended)
        check_equal(dump["target_limit"], left_out, "left out of a set of %d" % ended)
        check_equal(len(dump["tasks"]) < 40, bool(left_out), "%d tasks of 40 are missing" % (40 - len(dump["tasks"])))


# Frames of twenty variables, one of a hundred, and one of a list of lists.
VARIABLES = """
import sys, time
def many():
    %s
    time.sleep(3600)
def deep(n):
    %s
    return deep(n - 1) if n else many()
def wide():
    own = [[[0] * 100] * 100] * 100
    deep(%d)
print("ready", flush=True)
wide()
"""


def test_local_variables():
    """64 of a frame, 512 of a stack; what is left out is counted."""
    assigned = ["; ".join("v%d = %d" % (number, number) for number in range(count)) for count in (100, 19)]
    for depth in (10, 40):
        command = [default_interpreter().path, "-c", VARIABLES % (*assigned, depth)]
        target = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            check_equal(target.stdout.readline(), "ready\n", "the target's first words")
            wait_until(lambda: status_of(target.pid)["State"][0] == "S", what="the target to sleep")
            run = pieprofd("dump", "--pid", target.pid, "--json", "--locals", "--no-native")
        finally:
            target.kill()
            target.communicate()
        dump = json.loads(run.stdout)
        frames = [frame["locals"] for frame in dump["threads"][0]["frames"]]
        check_equal(len(frames[-1]), 64, "variables of a frame")
        check_equal(sum(len(known) for known in frames if known), 64 + 20 * (depth + 1) + 1 if depth < 20 else 512,
                    "variables of a stack")
        check_equal(dump["target_limit"], 1, "stacks of which some were left out")
        check(max(len(variable["value"]) for known in frames if known for variable in known) < 256, "a value's length")


# The oldest thread is the last one in the list of its interpreter: not among those that are remembered.
BUSY = """
import threading
gate = threading.Lock()
gate.acquire()
threading.stack_size(64 << 10)
for _ in range(%d):
    threading.Thread(target=gate.acquire, daemon=True).start()
def work():
    while True:
        sum(range(2000))
print("ready", flush=True)
work()
"""


def test_thread_states():
    if os.geteuid() != 0:
        raise Skip("needs root: rings for so many threads are more than an ordinary user may lock in memory")
    for threads in (10, PYTHON_THREADS + 10):
        with tempfile.TemporaryDirectory(prefix="pieprofd-bounds-") as folder:
            path = os.path.join(folder, "report.json")
            with subprocess.Popen([default_interpreter().path, "-c", BUSY % (threads - 1)], stdout=subprocess.PIPE,
                                  text=True) as target:
                try:
                    check_equal(target.stdout.readline(), "ready\n", "first line")
                    run = subprocess.run([PIEPROFD, "-q", "--pid", str(target.pid), "--mode", "time", "-d", "1",
                                          "--rate", "199", "--max-overhead", "50", "-o", path], capture_output=True,
                                         text=True, timeout=120, check=False)
                finally:
                    target.kill()
            check_equal(run.returncode, 0, "exit code, with %r" % run.stderr)
            with open(path) as file:
                report = json.load(file)
        lost = report["losses"].get("no_python_thread", 0)
        named = any(line["function"] == "work" for line in report["lines"])
        check_sampled(named == (threads == 10), "functions %s" % {line["function"] for line in report["lines"]})
        if threads == 10:
            check_equal(lost, 0, "samples without Python")
        else:
            check_sampled(lost > 0, "samples without Python")
