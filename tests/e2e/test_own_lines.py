# SPDX-License-Identifier: Apache-2.0
"""Programs that spend their time in libraries, in idle pools, or in their children: whose doing it is."""
import contextlib
import os
import subprocess
import tempfile

from harness import check, check_sampled, default_interpreter, pieprofd, status_of, wait_until

# The time is the standard library's; the line to go to is render's.
PROGRAM = """\
import sys, textwrap, threading
def render(text):
    return textwrap.fill(text, 40)  # OWN
def idle():
    threading.Event().wait()
for _ in range(9):
    threading.Thread(target=idle, daemon=True).start()
print(flush=True)
while len(sys.argv) < 2:
    render("some words to fill " * 40)
idle()
"""

PARENT = """\
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import sys; print(flush=True); sys.stdin.read()"])
sys.stdin.read()
"""


@contextlib.contextmanager
def program(text, *arguments):
    """A process that runs the text and has printed its first line."""
    with tempfile.TemporaryDirectory(prefix="pieprofd-test-") as folder:
        path = os.path.join(folder, "program.py")
        with open(path, "w") as file:
            file.write(text)
        process = subprocess.Popen([default_interpreter().path, path, *arguments], cwd=folder, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, env=dict(os.environ, PYTHONDONTWRITEBYTECODE="1"))
        try:
            process.stdout.readline()
            yield process
        finally:
            process.kill()
            process.communicate()


def verdict_of(text):
    return text.split("VERDICT", 1)[1].split("\nTIME ", 1)[0]


def test_own_line_of_library_time():
    with program(PROGRAM) as process:
        text = pieprofd("--pid", process.pid, "-d", "2", "--mode", "time").stdout
    verdict = verdict_of(text)
    own = " ".join(verdict.splitlines()[1:3])
    check_sampled("program.py:3" in own and "# OWN" in own, "verdict: %s" % verdict)
    check_sampled("program's own lines" in " ".join(verdict.split()), "verdict: %s" % verdict)
    check("slept otherwise" not in verdict, "it did not sleep: %s" % verdict)


def test_asleep_and_alike():
    with program(PROGRAM, "idle") as process:
        wait_until(lambda: status_of(process.pid)["State"].startswith("S"), what="a sleeping main thread")
        dump = pieprofd("dump", "--pid", process.pid, "--no-native").stdout
        run = pieprofd("--pid", process.pid, "-d", "1.5", "--mode", "time", code=6)
    check("\n9 THREADS  sleeping" in dump, "dump: %s" % dump)
    check_sampled(dump.count("threading.Event().wait()") == 2, "one stack for the pool, one for main: %s" % dump)
    check("--idle shows" in " ".join(run.stdout.split()), "no hint: %s" % run.stdout)
    check("child process" not in run.stderr, "there are no children: %s" % run.stderr)


def test_children_are_told_of():
    with program(PARENT) as process:
        run = pieprofd("--pid", process.pid, "-d", "0.5", "--mode", "time", code=6)
        check("has 1 child process, not profiled" in run.stderr, "standard error: %s" % run.stderr)
