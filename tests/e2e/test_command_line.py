# SPDX-License-Identifier: Apache-2.0
"""What the person at the terminal gets: exit codes, refusals, files, signals."""
import contextlib
import json
import os
import shutil
import signal
import stat
import subprocess
import tempfile
import time

from harness import (MANY_SAMPLES, PIEPROFD, Daemon, Skip, Target, check, check_equal, check_sampled,
                     default_interpreter, nobody, pieprofd, profile, show_to_everyone, status_of, wait_attached,
                     wait_until)
from screens import on_terminal


@contextlib.contextmanager
def public_folder():
    """For an ordinary user, who may not look into the folder of the build."""
    folder = tempfile.mkdtemp(prefix="pieprofd-user-")
    os.chmod(folder, 0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def test_usage():
    for arguments in ((), ("--pid",), ("--pid", "x"), ("--pid", "1", "--what"), ("--pid", "1", "-d", "-3"),
                      ("--pid", "1", "--mode", "fast"), ("--pid", "1", "-o", "x.unknown")):
        run = pieprofd(*arguments, code=2)
        check(run.stderr.strip(), "no word on %r" % (arguments,))
        check_equal(run.stdout, "", "stdout for %r" % (arguments,))
    check("--pid" in pieprofd("--help").stdout, "--help")
    check_equal(pieprofd("help").stdout, pieprofd("--help").stdout, "help")
    check_equal(pieprofd("help", "dump").stdout, pieprofd("dump", "--help").stdout, "help dump")
    check(pieprofd("--version").stdout.startswith("pieprofd "), "--version")
    check_equal(pieprofd("-V").stdout, pieprofd("--version").stdout, "-V")
    check("did you mean record?" in pieprofd("recrod", "1", code=2).stderr, "what was meant")


def test_no_such_process():
    gone = subprocess.Popen(["true"])
    gone.wait()
    run = pieprofd("--pid", gone.pid, code=3)
    check("no process %d" % gone.pid in run.stderr, run.stderr)


def test_not_python():
    sleeper = subprocess.Popen(["sleep", "60"])
    try:
        run = pieprofd("--pid", sleeper.pid, code=3)
        check("CPython" in run.stderr, run.stderr)
    finally:
        sleeper.kill()
    # It has ended, and nobody has asked for its exit code.
    wait_until(lambda: status_of(sleeper.pid)["State"].startswith("Z"), what="the zombie")
    for command in ("record", "dump"):
        run = pieprofd(command, sleeper.pid, code=3)
        check("zombie" in run.stderr and "process %d" % os.getpid() in run.stderr, run.stderr)
    sleeper.wait()


def test_pypy():
    """By its name: a program that is no CPython."""
    with public_folder() as folder:
        program = shutil.copy(shutil.which("sleep"), os.path.join(folder, "pypy3.11"))
        with subprocess.Popen([program, "60"]) as process:
            try:
                for command in ("record", "dump"):
                    run = pieprofd(command, process.pid, code=3)
                    check("PyPy, which is not supported" in run.stderr and "CPython 3.6" in run.stderr, run.stderr)
            finally:
                process.kill()


def test_one_screen():
    """At most 20 lines; on a terminal the verdict is the last, and names the line and what to do."""
    with Target(default_interpreter(), "conv_backprop.py", "--seconds", 60) as target, public_folder() as folder:
        page, recording = os.path.join(folder, "x.html"), os.path.join(folder, "x.pieprof")
        text = pieprofd(target.pid, "-d", "3s", *MANY_SAMPLES, "-o", page, "-o", recording).stdout
        lines = text.splitlines()
        check(len(lines) <= 20, "%d lines: %s" % (len(lines), text))
        check(text.index("VERDICT  ") < text.index("TIME  "), "the verdict is not the first: %s" % text)
        check_sampled("conv_backprop.py:33" in " ".join(lines[:6]), "the line is not at the top: %s" % text)
        size = os.path.getsize(page)
        words = "Wrote %s (%s)" % (page, "%.0f KB" % (size / 1e3) if size < 999500 else "%.1f MB" % (size / 1e6))
        check(words in text, "%s: not in %s" % (words, text))
        screen = on_terminal("report", recording, "--color", "never")
        check(len(screen.splitlines()) <= 20, screen)
        check("\033" not in screen, "colours: %r" % screen)
        check(all(len(line) <= 80 for line in screen.splitlines()), "a line is too wide: %s" % screen)
        check(screen.index("TIME  ") < screen.index("VERDICT  "), "the verdict is not the last: %s" % screen)
        check_sampled("conv_backprop.py:33" in screen[screen.index("VERDICT  "):], screen)
        every = pieprofd("report", recording, "--details").stdout
        check("DATA QUALITY" in every and len(every.splitlines()) > 20, "--details: %s" % every)
        twice = os.path.join(folder, "twice.json")
        pieprofd("report", recording, recording, "-o", twice)
        with open(twice) as file:
            merged = json.load(file)
        once = json.loads(pieprofd("report", recording, "--format", "json").stdout)
        check_equal(merged["samples"], 2 * once["samples"], "samples of a recording and itself")
        check("processes" not in merged, "it is one process")
        began = time.monotonic()
        refused = pieprofd(target.pid, "-d", 60, "-o", os.path.join(folder, "no", "x.json"), code=1)
        check(time.monotonic() - began < 20 and "no/x.json cannot be written" in refused.stderr, refused.stderr)


def test_already_traced():
    if not shutil.which("gdb"):
        raise Skip("no gdb")
    with Target(default_interpreter(), "conv_backprop.py", "--seconds", 60) as target:
        debugger = subprocess.Popen(
            ["gdb", "-q", "-nx", "-p", str(target.pid), "-ex", "continue"],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            wait_until(lambda: target.status()["TracerPid"] != "0", 30, "gdb")
            run = pieprofd("--pid", target.pid, code=4)
            check("already traced" in run.stderr and "gdb" in run.stderr, run.stderr)
        finally:
            debugger.kill()
            debugger.wait()
            debugger.stdin.close()


def test_strangers_process():
    user = nobody()
    with public_folder() as folder, Target(default_interpreter(), "conv_backprop.py", "--seconds", 60) as target:
        program = shutil.copy(PIEPROFD, folder)
        show_to_everyone(folder)
        run = subprocess.run([program, "--pid", str(target.pid)], capture_output=True, text=True, user=user,
                             group=user, cwd="/", check=False)
        check_equal(run.returncode, 4, "exit code, with %r" % run.stderr)
        check("belongs to user" in run.stderr, run.stderr)


def test_ordinary_user():
    """One's own process, without any privilege, where the kernel allows it."""
    user = nobody()
    interpreter = default_interpreter()
    if not interpreter.path.startswith("/usr/"):
        raise Skip("needs root to show %s to an ordinary user" % interpreter.path)
    setting = "/proc/sys/kernel/yama/ptrace_scope"
    if os.path.exists(setting) and open(setting).read().strip() != "0":
        raise Skip("Yama does not let an ordinary user attach")
    with open("/proc/sys/kernel/perf_event_paranoid") as file:
        if int(file.read()) > 2:
            raise Skip("perf_event_paranoid forbids perf to an ordinary user")
    with public_folder() as folder:
        program = shutil.copy(PIEPROFD, folder)
        targets = shutil.copytree(os.path.join(os.path.dirname(__file__), "..", "targets"),
                                  os.path.join(folder, "targets"))
        show_to_everyone(folder)
        command = [interpreter.path, os.path.join(targets, "conv_backprop.py"), "--seconds", "20"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, user=user, group=user,
                                   cwd="/", env={"PYTHONDONTWRITEBYTECODE": "1"})
        try:
            check_equal(process.stdout.readline(), "ready\n", "the target's first line")
            run = subprocess.run([program, "--pid", str(process.pid), "-d", "4"], capture_output=True,
                                 text=True, user=user, group=user, cwd="/", check=False)
            check_equal(run.returncode, 0, "exit code, with %r" % run.stderr)
            check_sampled("g[f] += d[i, j, f] * r" in run.stdout, "the line is not in the report")
            check_equal(process.poll(), None, "the target's exit code")
        finally:
            process.kill()
            process.wait()
            process.stdout.close()


def test_interrupt_finishes():
    with Target(default_interpreter(), "conv_backprop.py", "--seconds", 60) as target:
        for number in (signal.SIGINT, signal.SIGTERM):
            with Daemon("--pid", target.pid, "-d", 0) as daemon:
                wait_attached(target.pid)
                time.sleep(2)
                daemon.signal(number)
                daemon.finish(0)
                check_sampled("backprop" in daemon.stdout, "nothing was reported")
            target.check_undisturbed()


def test_snapshot():
    folder = tempfile.mkdtemp(prefix="pieprofd-test-")
    path = os.path.join(folder, "profile.json")
    try:
        with Target(default_interpreter(), "conv_backprop.py", "--seconds", 60) as target:
            with Daemon("--pid", target.pid, "-d", 0, "-o", path) as daemon:
                wait_attached(target.pid)
                counts = []
                for _ in range(3):
                    time.sleep(1.5)
                    if os.path.exists(path):
                        os.unlink(path)
                    daemon.signal(signal.SIGUSR1)
                    wait_until(lambda: os.path.exists(path), what="the snapshot")
                    with open(path) as file:
                        counts.append(json.load(file)["samples"])
                check(0 < counts[0] < counts[1] < counts[2], "samples of the snapshots: %s" % counts)
                check_equal(target.process.poll(), None, "the target's exit code")
                daemon.signal(signal.SIGINT)
                daemon.finish(0)
            target.check_undisturbed()
    finally:
        shutil.rmtree(folder)


def test_files():
    folder = tempfile.mkdtemp(prefix="pieprofd-test-")
    try:
        path = os.path.join(folder, "profile.json")
        with open(path, "w") as file:
            file.write("old")
        with Target(default_interpreter(), "conv_backprop.py", "--seconds", 60) as target:
            quiet = pieprofd("--pid", target.pid, "-d", 0.5, "-o", path, "-q")
            check_equal(quiet.stdout, "", "stdout under -q")
            check_equal(stat.S_IMODE(os.stat(path).st_mode), 0o600, "the file's mode")
            with open(path) as file:
                check("lines" in json.load(file), "the report has no lines")
            check_equal(os.listdir(folder), ["profile.json"], "files left")
            piped = pieprofd("--pid", target.pid, "-d", 0.5, "-o", "-", "--format", "json")
            check("lines" in json.loads(piped.stdout), "JSON on stdout")
            refused = pieprofd("--pid", target.pid, "-d", 0.5, "-o", os.path.join(folder, "no", "x.json"), code=1)
            check("no/x.json" in refused.stderr, refused.stderr)
    finally:
        shutil.rmtree(folder)


def test_modes():
    with Target(default_interpreter(), "conv_backprop.py", "--seconds", 60) as target:
        # On a busy machine stops are dear, most of all to a daemon without real-time priority.
        report, text = profile(target.pid, "-d", 2, "--mode", "time", *MANY_SAMPLES)
        check_equal(report["pairs"], [], "pairs in time mode")
        check_sampled(report["samples"] > 8, "%d samples" % report["samples"])
        report, _ = profile(target.pid, "-d", 4, "--loads", *MANY_SAMPLES)
        check_equal({pair["kind"] for pair in report["pairs"]}, {"load"}, "kinds under --loads")
        report, _ = profile(target.pid, "-d", 4, "--stores", *MANY_SAMPLES)
        check("load" not in {pair["kind"] for pair in report["pairs"]}, "loads under --stores")


def test_sleeping_target_has_no_samples():
    with Target(default_interpreter(), "late_thread.py", "--wait", 2, "--seconds", 0.1) as target:
        os.kill(target.pid, signal.SIGSTOP)
        wait_until(lambda: target.status()["State"][0] == "T", what="the stop")
        run = pieprofd("--pid", target.pid, "-d", 0.5, code=6)
        check("sample" in run.stderr, run.stderr)
        # The kernel lets a stopped thread go from its tracer by waking it up, within the kernel.
        wait_until(lambda: target.status()["State"][0] == "T", what="the stop after the profile")
        os.kill(target.pid, signal.SIGCONT)
        target.finish()


def test_real_parent_learns_the_exit_code():
    """The target's own parent waits for it, also when it ends while traced."""
    with Target(default_interpreter(), "short_lived.py", "--seconds", 1.5, "--exit-code", 7) as target:
        with Daemon("--pid", target.pid, "-d", 30, "-q") as daemon:
            target.finish(code=7)
            daemon.finish()

