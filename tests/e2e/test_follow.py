# SPDX-License-Identifier: Apache-2.0
"""Several processes in one profile: children, commands, several pids."""
import contextlib
import fcntl
import json
import os
import shutil
import signal
import subprocess
import tempfile
import termios
import sys
import time

from harness import (PIEPROFD, TARGETS, Daemon, Target, alone, check, check_equal, check_sampled,
                     default_interpreter, line_text, pieprofd, profile, status_of, wait_attached, wait_until)
from test_refusals import ENOSYS, EPERM, refuse_call
from test_serve import Server, metrics_of

SCRIPT = os.path.join(TARGETS, "processes.py")
FSTATFS, PIDFD_OPEN = 138, 434  # numbers of system calls, asm/unistd_64.h


@contextlib.contextmanager
def report_path():
    folder = tempfile.mkdtemp(prefix="pieprofd-follow-")
    try:
        yield os.path.join(folder, "profile.json")
    finally:
        shutil.rmtree(folder)


def run_command(*command, options=("--follow", "--mode", "time"), **keywords):
    """A command under pieprofd: how it ended, and the JSON report."""
    with report_path() as path:
        run = subprocess.run([PIEPROFD, *options, "-o", path, "--", *map(str, command)], capture_output=True,
                             text=True, timeout=120, check=False, **keywords)
        report = None
        if os.path.exists(path):
            with open(path) as file:
                report = json.load(file)
        return run, report


SIGNALS_ITSELF = '''
import os, signal, time
signal.signal(signal.SIGUSR1, lambda *_: None)
while time.process_time() < 1.5:
    os.kill(os.getpid(), signal.SIGUSR1)
print(time.process_time())
'''


def test_a_stop_is_not_the_commands_end():
    """Each signal stops it: whoever asks then whether it has ended is told of the stop."""
    run, report = run_command(default_interpreter().path, "-c", SIGNALS_ITSELF, options=("--mode", "time"))
    check_equal(run.returncode, 0, "exit code, with %r" % run.stderr)
    cpu_ns = 1e9 * float(run.stdout)
    check(report["cpu_ns"] > 0.8 * cpu_ns, "of %d ns of CPU time, %d were profiled" % (cpu_ns, report["cpu_ns"]))


def children(pid):
    with open("/proc/%d/task/%d/children" % (pid, pid)) as file:
        return [int(word) for word in file.read().split()]


def time_of(entry):
    return entry["python_ns"] + entry["native_ns"] + entry["system_ns"]


def totals(report):
    """Total time by the comment at the end of a source line."""
    found = {}
    for line in report["lines"]:
        text = line_text(line) if line["file"].endswith("processes.py") else ""
        if "  # " in text:
            comment = text.split("  # ")[1]
            found[comment] = found.get(comment, 0) + line["total_ns"]
    return found


def check_sums(report):
    whole = sum(report["time_ns"].values())
    # On a busy machine a child may end before it is met.
    check_sampled("processes" in report, "one process alone was profiled")
    check_equal(sum(time_of(process) for process in report["processes"]), whole, "time of all processes")
    check_equal(sum(process["samples"] for process in report["processes"]), report["samples"], "samples")
    check(all(thread["pid"] for thread in report["threads"]), "a thread without its process")


def test_forked_workers_each_have_their_share():
    """Workers of 1, 2, 3 and 4 parts of the work, like a pre-fork server's, and one that only sleeps."""
    with Target(default_interpreter(), "processes.py", "fork", "--seconds", 2, "--wait", 20) as target:
        report, text = profile(target.pid, "--follow", "--mode", "time", "-d", 0)
        workers = [int(word) for word in target.finish().split()[2:]]
    check_sums(report)
    by_pid = {process["pid"]: process for process in report["processes"]}
    check_equal(sorted(pid for pid in by_pid if by_pid[pid]["end"] == {"signal": 9}),
                sorted(set(by_pid) - set(workers) - {target.pid}), "the sleeper")
    for number, pid in enumerate(workers):
        check(pid in by_pid, "worker %d is missing" % pid)
        check_equal(by_pid[pid]["end"], {"status": number}, "end of worker %d" % pid)
        check_equal(by_pid[pid]["parent"], target.pid, "parent of worker %d" % pid)
        # The beginning of each is missed: it is found by looking.
        expected = 2e9 * (number + 1) / 4
        check_sampled(0.5 * expected < time_of(by_pid[pid]) < 1.1 * expected,
                      "worker %d: %.2f s of %.2f" % (pid, time_of(by_pid[pid]) / 1e9, expected / 1e9))
    check_sampled(totals(report).get("forked", 0) > 0.9 * sum(report["time_ns"].values()),
                  "lines %s of %s" % (totals(report), report["time_ns"]))
    check_equal(report["target"]["pid"], target.pid, "the process that was there first")
    check("PROCESSES" in text and "exit 3" in text and "SIGKILL" in text, text)


def test_pool_and_child_interpreter():
    """multiprocessing's spawn, fork and a subprocess: new interpreters, found and read while they start."""
    python = default_interpreter().path
    for mode, comment, more in (("pool", "pooled", ()), ("pool", "pooled", ("--method", "forkserver")),
                                ("subprocess", "child", ())):
        run, report = run_command(python, SCRIPT, mode, "--seconds", 1, *more)
        check_equal(run.returncode, 0, "exit code, with %r" % run.stderr)
        lines = run.stdout.splitlines()
        check(lines[0] == "ready" and lines[1].startswith("ok "), "stdout is the command's: %r" % run.stdout)
        check_sums(report)
        workers = [int(word) for word in lines[1].split()[2:]]
        ended = {process["pid"]: process["end"] for process in report["processes"]}
        for pid in workers:
            check(pid in ended, "%s: process %d is missing in %s" % (mode, pid, ended))
        check_sampled(totals(report).get(comment, 0) > 0.75 * sum(report["time_ns"].values()),
                      "%s: %s of %s" % (mode, totals(report), report["time_ns"]))
        if mode == "subprocess":
            check_equal(ended[workers[0]], {"status": 7}, "end of the child")


def test_exec_of_itself():
    run, report = run_command(default_interpreter().path, SCRIPT, "exec", "--seconds", 1)
    check_equal(run.returncode, 0, "exit code, with %r" % run.stderr)
    check_sums(report)
    check_equal(len(report["processes"]), 2, "programs")
    check_equal(len({process["pid"] for process in report["processes"]}), 1, "processes")
    check_equal(sorted(str(process["end"]) for process in report["processes"]),
                ["{'exec': True}", "{'status': 0}"], "ends")
    found = totals(report)
    check_sampled(min(found.get("before exec", 0), found.get("executed", 0)) > 0.7e9, "lines %s" % found)


def test_short_lived_children():
    """They are not held up, none is left behind, and the report says how many were not profiled."""
    run, report = run_command(default_interpreter().path, SCRIPT, "many", "--count", 100, "--seconds", 1, "--wait", 30,
                              options=("--follow", "--mode", "time", "--details"))
    check_equal(run.returncode, 0, "exit code, with %r" % run.stderr)
    check(run.stdout.splitlines()[-1].startswith("ok "), run.stdout)
    profiled = len(report.get("processes", [])) or 1
    check_equal(report["losses"].get("process_unseen", 0) + profiled - 1, 100, "children")
    check("ended before they could be profiled" in run.stderr, run.stderr)


def test_nothing_is_left_traced():
    with Target(default_interpreter(), "processes.py", "pool", "--seconds", 8, "--method", "fork") as target:
        report, _ = profile(target.pid, "--follow", "--mode", "time", "-d", 2)
        check(len(report["processes"]) >= 3, "processes %s" % report["processes"])
        for process in report["processes"]:
            check_equal(process["end"], None, "end of %d" % process["pid"])
            check_equal(status_of(process["pid"])["TracerPid"], "0", "tracer of %d" % process["pid"])
        target.check_undisturbed()


def test_two_pids():
    interpreter = default_interpreter()
    with Target(interpreter, "conv_backprop.py", "--seconds", 60) as one, \
            Target(interpreter, "processes.py", "many", "--count", 0, "--seconds", 60) as other:
        report, _ = profile("%d,%d" % (one.pid, other.pid), "--mode", "time", "-d", 3)
        check_sums(report)
        check_equal(sorted(process["pid"] for process in report["processes"]), sorted([one.pid, other.pid]),
                    "processes")
        check_sampled(all(time_of(process) > 0.2 * sum(report["time_ns"].values())
                          for process in report["processes"]), "times %s" % report["processes"])
        one.check_undisturbed()
        other.check_undisturbed()


def test_one_process_is_reported_as_without_follow():
    with Target(default_interpreter(), "conv_backprop.py", "--seconds", 60) as target:
        followed, _ = profile(target.pid, "--follow", "-d", 1)
        alone, _ = profile(target.pid, "-d", 1)
    check_equal(list(followed), list(alone), "members of the report")
    check("pid" not in followed["threads"][0], "threads %s" % followed["threads"])


def test_name():
    interpreter = default_interpreter()
    word = "pieprofd-name-%d" % os.getpid()
    targets = [subprocess.Popen([interpreter.path, "-c", "while True: pass", word + suffix])
               for suffix in ("-a", "-b")]
    try:
        wait_until(lambda: all(b"while" in open("/proc/%d/cmdline" % target.pid, "rb").read()
                               for target in targets), what="the targets")
        run = pieprofd("--name", word, code=2)
        check(all(str(target.pid) in run.stderr for target in targets), run.stderr)
        pieprofd("--name", word + "-[a]", "-d", 1, "-q")
        run = pieprofd("--name", word, "--all", "-d", 1, "--details")
        check("PROCESSES  2 profiled" in run.stdout, run.stdout)
        run = pieprofd("--name", word + "-c", code=3)
        check("no Python process" in run.stderr, run.stderr)
    finally:
        for target in targets:
            target.kill()
            target.wait()


def test_name_matches_more_than_64():
    """All of them are told, and profiled."""
    word = "pieprofd-crowd-%d" % os.getpid()
    targets = [subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(1000)", word]) for _ in range(70)]
    try:
        wait_until(lambda: all(word.encode() in open("/proc/%d/cmdline" % target.pid, "rb").read()
                               for target in targets), seconds=60, what="the targets")
        run = pieprofd("--name", word, code=2)
        check("70 processes match" in run.stderr, run.stderr)
        check(all(" %d  " % target.pid in run.stderr for target in targets), run.stderr)
        with Daemon("--name", word, "--all", "--mode", "time", "--engine", "ptrace", "-d", 0, "-q") as daemon:
            wait_until(lambda: all(status_of(target.pid)["TracerPid"] != "0" for target in targets), seconds=60,
                       what="the daemon to attach to all")
            daemon.signal(signal.SIGINT)
            daemon.process.wait()
    finally:
        for target in targets:
            target.kill()
        for target in targets:
            target.wait()


# Children that sleep, one more for each line.
IDLE = """
import os, sys, time
def begin():
    pid = os.fork()
    if not pid:
        time.sleep(1000)
        os._exit(0)
    pids.append(pid)
pids = []
for _ in range(int(sys.argv[1])):
    begin()
print("ready", flush=True)
for line in sys.stdin:
    begin()
    print(pids[-1], flush=True)
for pid in pids:
    os.kill(pid, 9)
"""


@contextlib.contextmanager
def idle_children(count):
    parent = subprocess.Popen([sys.executable, "-S", "-c", IDLE, str(count)], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True)
    try:
        check_equal(parent.stdout.readline(), "ready\n", "first line")
        yield parent
    finally:
        parent.stdin.close()
        parent.wait()


def cpu_seconds(pid):
    with open("/proc/%d/stat" % pid) as file:
        words = file.read().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def cpu_shares(pid, limit):
    """Of a CPU, in 10 s each, until one is below the limit: on a machine that is busy, what is done takes longer."""
    shares = []
    while not shares or (shares[-1] >= limit and len(shares) < 3):
        began, spent = time.monotonic(), cpu_seconds(pid)
        time.sleep(10)
        shares.append((cpu_seconds(pid) - spent) / (time.monotonic() - began))
    return shares


def test_idle_children_cost_little():
    """The daemon's whole CPU time, once it has attached to as many as it may, is below 2% of a CPU."""
    count = 3000
    with idle_children(count) as parent, Daemon("--pid", parent.pid, "--follow", "-d", 0, "-q") as daemon:
        # 256 sessions (GROUP_SESSIONS_MAX).
        wait_until(lambda: len(os.listdir("/proc/%d/task" % daemon.process.pid)) > 256, seconds=120,
                   what="the daemon to attach")
        time.sleep(5)
        shares = cpu_shares(daemon.process.pid, 0.02)
        check_sampled(min(shares) < 0.02, "with %d children the daemon used these shares of a CPU: %s" % (count, shares))
        daemon.signal(signal.SIGINT)
        daemon.process.wait()


def seconds_to_find_a_child(count, prepare=None):
    """Until one more among so many is found, by the endpoint's count of those there is no session for; up to 4 times."""
    def watched(server):
        return metrics_of(server.get("/metrics").decode())[0]["pieprofd_processes_over_limit", None]

    with idle_children(count) as parent, \
            Server(parent.pid, "--follow", "--mode", "time", prepare=prepare) as server:
        # With the parent; 32 are profiled (SAMPLER_SESSIONS_MAX).
        wait_until(lambda: watched(server) == count + 1 - 32, seconds=120, what="all to be found")
        delays = []
        while not delays or (delays[-1] >= 1 and len(delays) < 4):
            before, began = watched(server), time.monotonic()
            parent.stdin.write("another\n")
            parent.stdin.flush()
            wait_until(lambda: watched(server) == before + 1, seconds=20, what="a new child to be found")
            delays.append(time.monotonic() - began)
        return delays


@alone
def test_new_child_among_many_is_found_within_a_second():
    delays = seconds_to_find_a_child(3000)
    check(min(delays) < 1, "new children among 3000 were found after these seconds: %s" % delays)


@alone
def test_new_child_is_found_where_the_kernel_tells_of_none():
    """Its /proc/loadavg cannot be known for the kernel's: every member's children are read, in turn."""
    delays = seconds_to_find_a_child(300, lambda: refuse_call(FSTATFS, ENOSYS))
    check(min(delays) < 1, "new children among 300 were found after these seconds: %s" % delays)


# Tells what it found, works, and ends as asked for.
WORK = """
import os, signal, sys, time
print(sys.stdin.read(), sorted(signal.pthread_sigmask(signal.SIG_BLOCK, [])),
      [signal.getsignal(number) for number in (signal.SIGPIPE, signal.SIGTSTP, signal.SIGCHLD)], flush=True)
while time.process_time() < %s:
    pass
%s
"""


def test_command_is_undisturbed():
    python = default_interpreter().path
    for end, code in (("sys.exit(7)", 7), ("os.kill(os.getpid(), signal.SIGTERM)", 128 + 15), ("", 0)):
        bare = subprocess.run([python, "-c", WORK % (0, end)], input="input", capture_output=True, text=True,
                              check=False)
        # On a busy machine the shorter one may end before anybody has looked.
        for seconds in (0.5, 3):
            run, report = run_command(python, "-c", WORK % (seconds, end), options=(), input="input")
            if "VERDICT" in run.stderr:
                break
        check_equal(run.returncode, code, "exit code, with %r" % run.stderr)
        check_equal(run.stdout, bare.stdout, "stdout")
        check("VERDICT" in run.stderr, "the summary is on stderr: %r" % run.stderr)
        check(report and "processes" not in report, "a report of one process")
    for command, code in (("/no/such/program", 127), ("/etc/passwd", 126)):
        check_equal(run_command(command)[0].returncode, code, command)
    run, report = run_command("sh", "-c", "exit 5")
    check_equal((run.returncode, report), (5, None), "what is no Python")
    check("CPython" in run.stderr, run.stderr)


def test_command_without_pidfd():
    """Some containers and valgrind refuse pidfd_open(2)."""
    python = default_interpreter().path
    for words, options, code in (([python, "-c", WORK % (0.5, "sys.exit(7)")], (), 7), (["sh", "-c", "exit 5"], (), 5),
                                 ([python, "-c", WORK % (0.5, "sys.exit(3)")], ("-d", "0.2"), 3)):
        run, _ = run_command(*words, options=options, preexec_fn=lambda: refuse_call(PIDFD_OPEN, EPERM))
        check_equal(run.returncode, code, "exit code, with %r" % run.stderr)


def test_interrupt_reaches_the_command():
    """^C on the terminal goes to both; the command decides, and the profile is written."""
    script = ("import time\nprint('ready', flush=True)\ntry:\n    while True: sum(range(1000))\n"
              "except KeyboardInterrupt:\n    print('caught', flush=True)\n    raise SystemExit(9)")
    with report_path() as path:
        for number, by_terminal in ((signal.SIGINT, True), (signal.SIGINT, False), (signal.SIGTERM, False)):
            # Of a real terminal: a signal of a process to both would be passed on, and come twice.
            keyboard, terminal = os.openpty()
            daemon = subprocess.Popen([PIEPROFD, "-q", "-o", path, "--", default_interpreter().path, "-c", script],
                                      stdin=terminal, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                      start_new_session=True,
                                      preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
            os.close(terminal)
            check_equal(daemon.stdout.readline(), "ready\n", "first line")
            time.sleep(1)
            if by_terminal:
                os.write(keyboard, b"\x03")
            else:
                daemon.send_signal(number)
            output, errors = daemon.communicate(timeout=60)
            os.close(keyboard)
            code = 9 if number == signal.SIGINT else 128 + number
            check_equal(daemon.returncode, code, "exit code, with %r" % errors)
            check_equal(output, "caught\n" if number == signal.SIGINT else "", "stdout")
            check(os.path.exists(path), "the profile was written")
            os.unlink(path)


def test_snapshot_of_several():
    with Target(default_interpreter(), "processes.py", "pool", "--seconds", 40, "--method", "fork") as target, \
            report_path() as path, \
            Daemon("--pid", target.pid, "--follow", "--mode", "time", "-d", 0, "-o", path) as daemon:
        wait_attached(target.pid)
        time.sleep(1.5)
        daemon.signal(signal.SIGUSR1)
        wait_until(lambda: os.path.exists(path), what="the snapshot")
        with open(path) as file:
            first = json.load(file)
        check_sums(first)
        time.sleep(1)
        daemon.signal(signal.SIGINT)
        daemon.finish()
        with open(path) as file:
            second = json.load(file)
        check_sums(second)
        check_sampled(second["samples"] > first["samples"], "samples %d, then %d" %
                      (first["samples"], second["samples"]))


def test_killed_daemon_leaves_all_running():
    with Target(default_interpreter(), "processes.py", "pool", "--seconds", 60, "--method", "fork") as target:
        wait_until(lambda: len(children(target.pid)) == 2, what="the workers")
        for round_number in range(8):
            with Daemon("--pid", target.pid, "--follow", "-r", 500, "-d", 0, "-q") as daemon:
                wait_attached(target.pid)
                time.sleep(0.05 * round_number)
                daemon.signal(signal.SIGKILL)
                daemon.process.wait()
            check_equal(len(children(target.pid)), 2, "workers")
            for pid in children(target.pid):
                status = status_of(pid)
                check_equal(status["TracerPid"], "0", "tracer of %d" % pid)
                check(status["State"][0] in "RSD", "worker %d is %s" % (pid, status["State"]))
            target.check_undisturbed()
