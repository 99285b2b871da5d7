# SPDX-License-Identifier: Apache-2.0
"""Real targets, the real daemon, and what can be asked of them afterwards."""
import copy
import ctypes
import fcntl
import functools
import glob
import json
import os
import pwd
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TARGETS = os.path.join(ROOT, "tests", "targets")
PIEPROFD = os.environ.get("PIEPROFD", os.path.join(ROOT, "build", "pieprofd"))

CACHE = os.environ.get("PIEPROFD_TEST_CACHE") or os.path.join(
    os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "pieprofd")

# Where Debian keeps numpy: a self-built interpreter of the same version can use it too.
DISTRIBUTION_PACKAGES = "/usr/lib/python3/dist-packages"

# Where an interpreter in a root tree of its own sees TARGETS; nobody outside has that folder.
TARGETS_IN_ROOT = "/opt/pieprofd-targets"

# First and last minor version that pieprofd supports.
MINORS = (6, 15)


# What is found is a matter of chance: where stops are dear, too few accesses are followed within the default limit.
MANY_SAMPLES = ("--max-overhead", "10")


class Failure(Exception):
    """A check did not hold."""


class Unlucky(Failure):
    """A check of what random samples found did not hold: that may be chance."""


class Skip(Exception):
    """A check cannot be made here, for the reason given."""


def check(condition, message):
    if not condition:
        raise Failure(message)


def check_sampled(condition, message):
    """For what a sound profiler finds nearly always; a test that fails here is run once more, and counted."""
    if not condition:
        raise Unlucky(message)


def alone(test):
    """
    Marks a test that no other runs beside: what it measures must hold at once (no `check_sampled`) and would be the
    other's, too, or it would keep the other from its processor.
    """
    test.alone = True
    return test


def check_equal(actual, expected, what):
    check(actual == expected, "%s: %r, expected %r" % (what, actual, expected))


class Interpreter:
    """
    A CPython to run targets on. problem: why it cannot be used, else None.
    own_numpy: it has numpy as it is installed. in_root: path runs it in a root
    tree and mount namespace of its own, where files have other names.
    """

    def __init__(self, path, version, built, environment, own_numpy, prefix, suite=None):
        self.path = path
        self.prefix = prefix
        self.version = version
        self.environment = environment
        self.own_numpy = own_numpy
        self.in_root = suite is not None
        self.problem = None
        self.name = "%d.%d.%d %s" % (version + (built,))
        if suite:
            self.name += " " + suite

    def command(self, script, *arguments):
        targets = TARGETS_IN_ROOT if self.in_root else TARGETS
        return [self.path, os.path.join(targets, script)] + [str(argument) for argument in arguments]

    def folder(self):
        """Where to start it: a root tree shows the folder that it is started in."""
        return "/" if self.in_root else None


# Says what an interpreter is, in words that are stable over machines.
PROBE = """
import sys
try:
    import numpy
    numpy = "numpy"
except ImportError:
    numpy = "none"
built = "shared" if "libpython" in open("/proc/self/maps").read() else "static"
gil = getattr(sys, "_is_gil_enabled", lambda: True)()
if sys.implementation.name == "cpython" and gil:
    print(sys.executable, sys.base_prefix, built, numpy, *sys.version_info[:3])
"""


def probe(candidate, extra):
    """What PROBE prints under an interpreter, in words; None when it does not run."""
    run = subprocess.run(
        [candidate, "-c", PROBE],
        env=dict(os.environ, **extra),
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
    )
    words = run.stdout.split()
    return words if run.returncode == 0 and len(words) == 7 else None


def examine(candidate, suite):
    """The Interpreter that a program runs, numpy not yet looked for; None."""
    words = probe(candidate, {})
    if words is None:
        return None
    path, prefix, built, numpy, major, minor, micro = words
    if not MINORS[0] <= int(minor) <= MINORS[1]:
        return None
    version = (int(major), int(minor), int(micro))
    own = numpy == "numpy"
    # A virtual environment's numpy is found by the name it was started by.
    path = candidate if suite else os.path.realpath(path) if own else path
    return Interpreter(path, version, built, {}, own, prefix, suite)


def give_numpy(interpreter):
    """Finds numpy for an interpreter that has none: Debian's, else from tests/tools/packages-for."""
    extra = {"PYTHONPATH": DISTRIBUTION_PACKAGES}
    words = None if interpreter.in_root else probe(interpreter.path, extra)
    if words and words[3] == "numpy":
        interpreter.environment = extra
        return
    folder, problem = find_packages(interpreter, "numpy")
    if problem:
        interpreter.problem = problem
    else:
        interpreter.environment = {"PYTHONPATH": folder}


def find_packages(interpreter, what):
    """The folder that tests/tools/packages-for has them in, and why there is none."""
    run = subprocess.run(
        [os.path.join(ROOT, "tests", "tools", "packages-for"), interpreter.path, what],
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
    )
    if run.returncode:
        return None, (run.stderr.strip().splitlines() or ["no %s for it" % what])[-1]
    return run.stdout.strip(), None


def with_packages(interpreter, what):
    """The same interpreter with greenlet or the like in place of numpy."""
    folder, problem = find_packages(interpreter, what)
    if problem:
        raise Skip(problem)
    other = copy.copy(interpreter)
    other.environment = {"PYTHONPATH": folder}
    return other


def copy_with(interpreter, **environment):
    """The same interpreter with more in its environment."""
    other = copy.copy(interpreter)
    other.environment = dict(interpreter.environment, **environment)
    return other


def newer_debian():
    """Programs of interpreters in root trees: those in the cache, or made now when asked for."""
    tool = os.path.join(ROOT, "tests", "tools", "newer-debian")
    problem = None
    if os.environ.get("PIEPROFD_TEST_NEWER", "1" if os.environ.get("CI") else "0") == "1":
        run = subprocess.run([tool], stderr=subprocess.PIPE, text=True, check=False)
        if run.returncode:
            problem = (run.stderr.strip().splitlines() or ["newer-debian failed"])[-1]
    run = subprocess.run([tool, "--list"], capture_output=True, text=True, check=True)
    programs = run.stdout.split()
    if not programs:
        problem = problem or "not made on this machine (PIEPROFD_TEST_NEWER=1 makes it)"
    elif os.geteuid() != 0:
        problem, programs = "needs root", []
    return programs, problem


@functools.lru_cache(maxsize=None)
def matrix():
    """
    Every CPython on this machine, by version, and what could not be had: a
    list of Interpreters, those that cannot be used included, and a list of
    (what, reason).

    They are the distribution's own, those on PATH, pyenv's, and those in the
    root trees of newer Debian releases that tests/tools/newer-debian made. The
    trees take two minutes and half a gigabyte, so a person's run makes them
    only when PIEPROFD_TEST_NEWER=1 says so; CI does, unless that is 0. Once
    there, they are used.
    PIEPROFD_TEST_INTERPRETERS="3.6 3.11.2": only those whose names begin so.
    numpy comes with the interpreter, or from Debian's package, or by pip into
    the same cache, which takes seconds.
    """
    candidates = [(sys.executable, None)]
    folders = ["/usr/bin"] + os.environ.get("PATH", "").split(":")
    folders += sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/*/bin")))
    for folder in folders:
        candidates += [(path, None) for path in sorted(glob.glob(os.path.join(folder, "python3.[0-9]*")))]
    programs, problem = newer_debian()
    candidates += [(path, path.split("/")[-3]) for path in programs]
    found = {}
    for candidate, suite in candidates:
        if not re.fullmatch(r"python[0-9.]*", os.path.basename(candidate)):
            continue  # python3.11-config and the like
        interpreter = examine(candidate, suite)
        # One of each version and build, one that has numpy rather than another.
        if interpreter and (interpreter.name not in found or
                            interpreter.own_numpy > found[interpreter.name].own_numpy):
            found[interpreter.name] = interpreter
    wanted = tuple(os.environ.get("PIEPROFD_TEST_INTERPRETERS", "").split())
    interpreters = sorted((interpreter for interpreter in found.values() if interpreter.name.startswith(wanted or "")),
                          key=lambda interpreter: (interpreter.version, interpreter.name))
    for interpreter in interpreters:
        if not interpreter.own_numpy:
            give_numpy(interpreter)
    return interpreters, [("newer Debian", problem)] if problem else []


@functools.lru_cache(maxsize=None)
def free_threaded_interpreters(numpy=True):
    """
    Free-threaded builds: python3.13t and later on PATH, and where pyenv and uv keep them. Not in matrix(): what is tested
    of all interpreters is more than is read of these. numpy: those that can import it alone.
    """
    folders = os.environ.get("PATH", "").split(":")
    folders += sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/*t/bin")))
    folders += sorted(glob.glob(os.path.expanduser("~/.local/share/uv/python/*/bin")))
    found = {}
    for path in [path for folder in folders for path in sorted(glob.glob(os.path.join(folder, "python3.[0-9]*t")))]:
        words = probe(path, {"PYTHON_GIL": "1"})
        if words is None or not MINORS[0] <= int(words[5]) <= MINORS[1]:
            continue
        version = tuple(map(int, words[4:]))
        interpreter = Interpreter(words[0], version, words[2] + " free-threaded", {}, words[3] == "numpy", words[1])
        if not interpreter.own_numpy:
            give_numpy(interpreter)
        if not interpreter.problem or not numpy:
            found.setdefault(interpreter.name, interpreter)
    wanted = tuple(os.environ.get("PIEPROFD_TEST_INTERPRETERS", "").split())
    chosen = [interpreter for name, interpreter in sorted(found.items()) if name.startswith(wanted or "")]
    if not chosen:
        raise Skip("no interpreter with free threads%s: python3.13t or later, by pyenv or uv" % (" and numpy" if numpy else ""))
    return chosen


def find_interpreters():
    """Every CPython that can import numpy, one of each version and build; the system's own first, if there is one."""
    interpreters = [interpreter for interpreter in matrix()[0] if not interpreter.problem]
    return sorted(interpreters, key=lambda interpreter: (
        interpreter.in_root, not interpreter.own_numpy, not interpreter.path.startswith("/usr/")))


def installed_interpreters():
    """Those of them that have numpy without our doing, or Debian's."""
    return [
        interpreter
        for interpreter in find_interpreters()
        if not interpreter.in_root and
        interpreter.environment.get("PYTHONPATH", DISTRIBUTION_PACKAGES) == DISTRIBUTION_PACKAGES
    ]


def default_interpreter():
    """For what does not depend on the interpreter."""
    interpreters = find_interpreters()
    check(interpreters, "no interpreter with numpy found")
    return interpreters[0]


class Child:
    """A process that is ended with the block that it is used in."""

    process = None

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdout, self.process.stderr):
            if stream:
                stream.close()


class Target(Child):
    """A program of tests/targets, running; waits for its `ready`."""

    def __init__(self, interpreter, script, *arguments, user=None, stdin=None):
        self.process = subprocess.Popen(
            interpreter.command(script, *arguments),
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=dict(
                os.environ,
                OPENBLAS_NUM_THREADS="1",
                PYTHONDONTWRITEBYTECODE="1",
                PIEPROFD_TEST_BIND="%s:%s" % (TARGETS, TARGETS_IN_ROOT),
                **interpreter.environment
            ),
            cwd=interpreter.folder(),
            user=user,
            group=user,
        )
        self.pid = self.process.pid
        try:
            line = self.process.stdout.readline()
        except KeyboardInterrupt:
            self.process.kill()
            raise
        if line != "ready\n":
            self.process.kill()
            raise Failure("%s did not start: %s%s" % (script, line, self.process.stdout.read()))

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
        check_undisturbed(self.pid)


def status_of(pid, tid=None):
    path = "/proc/%d/status" % pid if tid is None else "/proc/%d/task/%s/status" % (pid, tid)
    with open(path) as status:
        return dict(line.rstrip("\n").split(":\t", 1) for line in status if ":\t" in line)


def check_undisturbed(pid):
    """No thread of it is traced or stopped, and all debug registers of each are free."""
    for tid in os.listdir("/proc/%d/task" % pid):
        try:
            status = status_of(pid, tid)
        except FileNotFoundError:
            continue
        check_equal(status["TracerPid"], "0", "TracerPid of thread %s" % tid)
        check(status["State"][0] in "RSDX", "thread %s is %s" % (tid, status["State"]))
        take_breakpoints(int(tid))


def wait_until(condition, seconds=10, what="a condition", interval=0.01):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return
        time.sleep(interval)
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


class Daemon(Child):
    """pieprofd, running; used where a test acts while it runs."""

    def __init__(self, *arguments, user=None, environment=None, prepare=None):
        self.process = subprocess.Popen(
            [PIEPROFD] + [str(argument) for argument in arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
            user=user,
            group=user,
            env=environment,
            preexec_fn=prepare,
        )

    def finish(self, code=0, timeout=120):
        try:
            self.stdout, self.stderr = self.process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            raise Failure("pieprofd hangs")
        check_equal(self.process.returncode, code, "exit code of pieprofd, which said %r" % self.stderr)
        return self

    def signal(self, number):
        self.process.send_signal(number)


@functools.lru_cache(maxsize=None)
def sanitized():
    """Whether the daemon is built with AddressSanitizer, which has memory and time of its own."""
    with open(PIEPROFD, "rb") as file:
        return b"__asan_init" in file.read()


def asan_options(*options):
    """Our environment, with more options for a daemon built with AddressSanitizer."""
    return dict(os.environ, ASAN_OPTIONS=":".join((os.environ.get("ASAN_OPTIONS", ""),) + options))


# Where a daemon may not use ptrace, or is traced itself: LeakSanitizer stops the daemon's threads by it.
NO_LEAK_DETECTION = "detect_leaks=0"


def pieprofd(*arguments, code=0, user=None):
    with Daemon(*arguments, user=user) as daemon:
        return daemon.finish(code)


def check_verdict(report, text):
    """Of any profile: the verdict denies nothing that the lines say."""
    verdict, total = report["verdict"], sum(report["time_ns"].values())
    most = max((line["avoidable_ns"] for line in report["lines"]), default=0)
    # Of the line that leads nothing is known, which is said.
    leads = [(line["file"], line["line"]) for line in (verdict["line"], verdict["own_line"]) if line]
    unknown = any("could save is not known" in sentence for sentence in verdict["sentences"])
    highest = max((line["avoidable_high_ns"] for line in report["lines"]
                   if not (unknown and (line["file"], line["line"]) in leads)), default=0)
    denied = any("no single line could save" in sentence for sentence in verdict["sentences"])
    check(verdict["kind"] not in ("nothing", "time-only") or most < 0.05 * total, "%s; %d of %d" % (verdict, most, total))
    check(not denied or highest < 0.05 * total, "%s; up to %d of %d" % (verdict, highest, total))
    check_equal(verdict["few_samples"], report["samples"] < 100, "few samples")
    if text.startswith("pieprofd "):
        check("VERDICT  " + verdict["headline"] in text, "%s in %s" % (verdict, text))
        check_equal("shares are rough" in text, 0 < report["samples"] < 100, "what the first lines say")


def profile(pid, *arguments, user=None):
    """Profile a process: the JSON report and what was on stdout, all of it."""
    folder = tempfile.mkdtemp(prefix="pieprofd-test-")
    if user is not None:
        os.chown(folder, user, user)
    try:
        path = os.path.join(folder, "profile.json")
        run = pieprofd("--pid", pid, "--details", "-o", path, *arguments, user=user)
        with open(path) as file:
            report = json.load(file)
        check_verdict(report, run.stdout)
        return report, run.stdout
    finally:
        shutil.rmtree(folder)


def wait_attached(pid):
    wait_until(lambda: status_of(pid)["TracerPid"] != "0", what="the daemon to attach")


def nobody():
    """An ordinary user's id, when we may become one."""
    if os.geteuid() != 0:
        raise Skip("needs root to become somebody else")
    return pwd.getpwnam("nobody").pw_uid


@functools.lru_cache(maxsize=None)
def go_pprof():
    """The program behind `go tool pprof`. Newer Go compiles it when it is first asked for: however long that takes."""
    if not shutil.which("go"):
        raise Skip("no go: install golang-go")
    os.makedirs(CACHE, exist_ok=True)
    # Once: tests that run side by side would each compile it.
    with open(os.path.join(CACHE, "go-pprof.lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        run = subprocess.run(["go", "tool", "-n", "pprof"], capture_output=True, text=True, check=False)
    check_equal(run.returncode, 0, "exit code of go tool -n pprof, which said %r" % run.stderr[-400:])
    return run.stdout.strip()


def show_to_everyone(folder):
    """Whatever the umask was with which we were checked out and built."""
    subprocess.run(["chmod", "-R", "a+rX", folder], check=True)


def line_text(entry):
    """The source line of a report's line entry."""
    path = entry["file"]
    if path.startswith(TARGETS_IN_ROOT + "/"):
        path = TARGETS + path[len(TARGETS_IN_ROOT):]
    try:
        with open(path, errors="replace") as file:
            return file.read().splitlines()[entry["line"] - 1].strip()
    except (OSError, IndexError):
        return ""
