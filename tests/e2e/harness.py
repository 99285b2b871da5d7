# SPDX-License-Identifier: Apache-2.0
"""Real targets, the real daemon, and what can be asked of them afterwards."""
import ctypes
import glob
import json
import os
import pwd
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TARGETS = os.path.join(ROOT, "tests", "targets")
PIEPROFD = os.environ.get("PIEPROFD", os.path.join(ROOT, "build", "pieprofd"))

# Where Debian keeps numpy: a self-built interpreter of the same version can use it too.
DISTRIBUTION_PACKAGES = "/usr/lib/python3/dist-packages"


class Failure(Exception):
    """A check did not hold."""


class Skip(Exception):
    """A check cannot be made here, for the reason given."""


def check(condition, message):
    if not condition:
        raise Failure(message)


def check_equal(actual, expected, what):
    check(actual == expected, "%s: %r, expected %r" % (what, actual, expected))


class Interpreter:
    def __init__(self, path, version, environment):
        self.path = path
        self.version = version
        self.environment = environment
        self.name = "%d.%d.%d %s" % (version + (shared_or_static(path),))


def shared_or_static(path):
    """How an interpreter is built, in a word that is stable over machines."""
    listed = subprocess.run(["ldd", path], capture_output=True, text=True, check=False).stdout
    return "shared" if "libpython" in listed else "static"


def find_interpreters():
    """Every CPython that can import numpy, one of each version and build."""
    candidates = [sys.executable]
    candidates += sorted(glob.glob("/usr/bin/python3.[0-9]*"))
    for folder in os.environ.get("PATH", "").split(":"):
        candidates += sorted(glob.glob(os.path.join(folder, "python3.[0-9]*")))
    candidates += sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/*/bin/python3.[0-9]*")))
    program = (
        "import sys, numpy\n"
        "assert sys.implementation.name == 'cpython'\n"
        "print(sys.executable, *sys.version_info[:3])\n"
    )
    found = {}
    for candidate in candidates:
        if not re.fullmatch(r"python[0-9.]*", os.path.basename(candidate)):
            continue  # python3.11-config and the like
        for extra in ({}, {"PYTHONPATH": DISTRIBUTION_PACKAGES}):
            run = subprocess.run(
                [candidate, "-c", program],
                env=dict(os.environ, **extra),
                capture_output=True,
                text=True,
                check=False,
            )
            if run.returncode:
                continue
            path, major, minor, micro = run.stdout.split()
            interpreter = Interpreter(
                os.path.realpath(path) if not extra else path, (int(major), int(minor), int(micro)), extra
            )
            found.setdefault(interpreter.name, interpreter)
            break
    return sorted(found.values(), key=lambda interpreter: interpreter.name)


class Target:
    """A program of tests/targets, running; waits for its `ready`."""

    def __init__(self, interpreter, script, *arguments, user=None):
        self.process = subprocess.Popen(
            [interpreter.path, os.path.join(TARGETS, script)] + [str(argument) for argument in arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=dict(
                os.environ,
                OPENBLAS_NUM_THREADS="1",
                PYTHONDONTWRITEBYTECODE="1",
                **interpreter.environment
            ),
            user=user,
            group=user,
        )
        self.pid = self.process.pid
        line = self.process.stdout.readline()
        if line != "ready\n":
            self.process.kill()
            raise Failure("%s did not start: %s%s" % (script, line, self.process.stdout.read()))

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def finish(self, code=0, timeout=120):
        """Let it end by itself; its last line."""
        try:
            output, _ = self.process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            raise Failure("the target hangs: %s" % self.status())
        check_equal(self.process.returncode, code, "exit code of the target, which said %r" % output)
        lines = output.splitlines()
        check(lines and lines[-1].startswith("ok "), "the target said %r" % output)
        return lines[-1]

    def status(self):
        return status_of(self.pid)

    def check_undisturbed(self):
        check(self.process.poll() is None, "the target is dead: %s" % self.process.returncode)
        for tid in os.listdir("/proc/%d/task" % self.pid):
            try:
                status = status_of(self.pid, tid)
            except FileNotFoundError:
                continue
            check_equal(status["TracerPid"], "0", "TracerPid of thread %s" % tid)
            check(status["State"][0] in "RSDX", "thread %s is %s" % (tid, status["State"]))
            take_breakpoints(int(tid))


def status_of(pid, tid=None):
    path = "/proc/%d/status" % pid if tid is None else "/proc/%d/task/%s/status" % (pid, tid)
    with open(path) as status:
        return dict(line.rstrip("\n").split(":\t", 1) for line in status if ":\t" in line)


def wait_until(condition, seconds=10, what="a condition"):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return
        time.sleep(0.01)
    raise Failure("waited %g s for %s" % (seconds, what))


def take_breakpoints(tid):
    """Take all four debug registers of a thread, and give them back."""
    # perf_event_attr of linux/perf_event.h: an execution breakpoint at address 8.
    attributes = bytearray(128)
    attributes[0:8] = (5).to_bytes(4, "little") + (128).to_bytes(4, "little")  # breakpoint, size
    flags = 1 | 1 << 5 | 1 << 6  # disabled, exclude_kernel, exclude_hv
    attributes[40:48] = flags.to_bytes(8, "little")
    attributes[52:56] = (4).to_bytes(4, "little")  # HW_BREAKPOINT_X
    attributes[56:64] = (8).to_bytes(8, "little")
    attributes[64:72] = (8).to_bytes(8, "little")
    libc = ctypes.CDLL(None, use_errno=True)
    buffer = (ctypes.c_char * 128).from_buffer(attributes)
    descriptors = []
    try:
        for slot in range(4):
            descriptor = libc.syscall(298, buffer, tid, -1, -1, 0)
            if descriptor < 0 and ctypes.get_errno() == 3:
                return  # the thread has ended
            check(descriptor >= 0, "debug register %d of thread %d is taken" % (slot, tid))
            descriptors.append(descriptor)
    finally:
        for descriptor in descriptors:
            os.close(descriptor)


class Daemon:
    """pieprofd, running; used where a test acts while it runs."""

    def __init__(self, *arguments, user=None):
        self.process = subprocess.Popen(
            [PIEPROFD] + [str(argument) for argument in arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
            user=user,
            group=user,
        )

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()

    def finish(self, code=0, timeout=120):
        try:
            self.stdout, self.stderr = self.process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            raise Failure("pieprofd hangs")
        check_equal(self.process.returncode, code, "exit code of pieprofd, which said %r" % self.stderr)
        return self

    def signal(self, number):
        self.process.send_signal(number)


def pieprofd(*arguments, code=0, user=None):
    with Daemon(*arguments, user=user) as daemon:
        return daemon.finish(code)


def profile(pid, *arguments, user=None):
    """Profile a process: the JSON report and what was on stdout."""
    folder = tempfile.mkdtemp(prefix="pieprofd-test-")
    if user is not None:
        os.chown(folder, user, user)
    try:
        path = os.path.join(folder, "profile.json")
        run = pieprofd("--pid", pid, "-o", path, *arguments, user=user)
        with open(path) as file:
            return json.load(file), run.stdout
    finally:
        shutil.rmtree(folder)


def wait_attached(pid):
    wait_until(lambda: status_of(pid)["TracerPid"] != "0", what="the daemon to attach")


def nobody():
    """An ordinary user's id, when we may become one."""
    if os.geteuid() != 0:
        raise Skip("needs root to become somebody else")
    return pwd.getpwnam("nobody").pw_uid


def line_text(entry):
    """The source line of a report's line entry."""
    try:
        with open(entry["file"]) as file:
            return file.read().splitlines()[entry["line"] - 1].strip()
    except (OSError, IndexError):
        return ""
