# SPDX-License-Identifier: Apache-2.0
"""Targets that other programs have started: mpirun, tini, sh, make; and parents whose children do the work."""
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile

from harness import (NO_LEAK_DETECTION, PIEPROFD, Skip, asan_options, check, check_equal, check_sampled,
                     default_interpreter, find_interpreters, nobody, pieprofd, profile, wait_until)
from test_follow import run_command, time_of
from test_refusals import program_for_everyone

# Tells its number, works for so many seconds of CPU time, tells how many it has used.
RANK = """
import os, sys, time
print("began", os.getpid(), flush=True)
def working():
    while time.process_time() < float(sys.argv[1]):
        sum(range(1000))  # ranked
working()
print("ended", os.getpid(), time.process_time(), flush=True)
"""
# Open MPI's mpirun: as root, and on fewer processors than ranks.
MPI_ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                   "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_hwloc_base_binding_policy": "none"}


def program(name):
    path = shutil.which(name)
    if not path:
        raise Skip("no %s" % name)
    return path


def test_ranks_from_their_first_second():
    """The launcher is no Python, and has many libraries to search: it is not what is looked at first."""
    run, report = run_command(program("mpirun"), "-n", 2, default_interpreter().path, "-S", "-c", RANK, 2.5,
                              env=dict(os.environ, **MPI_ENVIRONMENT))
    check_equal(run.returncode, 0, "exit code, with %r" % run.stderr)
    used = {int(words[1]): float(words[2])
            for words in (line.split() for line in run.stdout.splitlines()) if words[0] == "ended"}
    check_equal(len(used), 2, "ranks in %r" % run.stdout)
    found = {process["pid"]: process for process in report["processes"]}
    for pid, seconds in used.items():
        check(pid in found, "rank %d is not among %s" % (pid, sorted(found)))
        check_sampled(time_of(found[pid]) / 1e9 > seconds - 1,
                      "rank %d used %.2f s, of which %.2f s are known" % (pid, seconds, time_of(found[pid]) / 1e9))


@contextlib.contextmanager
def launched(*words):
    """A launcher's process, and its Python child's number, said by that child."""
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True,
                               env={name: value for name, value in os.environ.items() if not name.startswith("MAKE")})
    child = 0
    try:
        said = process.stdout.readline().split()
        check_equal(said[:1], ["began"], "the child's first line")
        child = int(said[1])
        yield process.pid, child
        check_equal(process.poll(), None, "exit code of the launcher")
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        # tini's has a process group of its own.
        if child:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        process.communicate()


@contextlib.contextmanager
def launchers(seconds):
    """Command lines that start the same program: sh, make and, where it is installed, tini."""
    with tempfile.TemporaryDirectory(prefix="pieprofd-test-") as folder:
        script, makefile = os.path.join(folder, "ranked.py"), os.path.join(folder, "Makefile")
        with open(script, "w") as file:
            file.write(RANK)
        command = "%s %s %s" % (default_interpreter().path, script, seconds)
        with open(makefile, "w") as file:
            file.write("all:\n\t@%s; true\n" % command)
        yield [words for words in (["sh", "-c", command + "; true"], ["make", "-f", makefile],
                                   ["tini", "-s", "--"] + command.split()) if shutil.which(words[0])]


def test_error_names_the_python_child():
    with launchers(60) as commands:
        for words in commands:
            with launched(*words) as (pid, child):
                for command in ([], ["dump"], ["doctor"]):
                    said = pieprofd(*command, "--pid", pid, code=3).stderr
                    check("process %d is %s, not Python" % (pid, words[0]) in said, said)
                    # make starts a shell, which starts the interpreter.
                    check("%d (%s" % (child, default_interpreter().path) in said and "ranked.py" in said, said)
                    check("pieprofd %s--pid %d" % ("".join(word + " " for word in command), child) in said, said)
                    check_equal("--follow" in said, not command, "--follow in %r" % said)


def test_name_of_the_child_is_escaped():
    with launched("sh", "-c", "%s -S -c 'import os, time; print(\"began\", os.getpid(), flush=True); time.sleep(60)' "
                  "'\033[31m'; true" % sys.executable) as (pid, _):
        said = pieprofd("--pid", pid, code=3).stderr
        check("not Python" in said and "\033" not in said, repr(said))


def test_launcher_is_followed():
    with launchers(60) as commands:
        for words in commands:
            with launched(*words) as (pid, child):
                report, _ = profile(pid, "--follow", "--mode", "time", "-d", 1.5)
                check_equal(report["target"]["pid"], child, "the process that was profiled below %s" % words[0])
                check_sampled(any(line["function"] == "working" for line in report["lines"]), words[0])


def test_launcher_is_searched_once_before_its_children():
    """That takes long where it has many libraries, and its children wait meanwhile."""
    strace = program("strace")
    with launchers(60) as commands, tempfile.TemporaryDirectory(prefix="pieprofd-test-") as folder:
        trace = os.path.join(folder, "trace")
        with launched(*commands[0]) as (pid, child):
            run = subprocess.run([strace, "-f", "-qq", "-e", "trace=openat,ptrace", "-o", trace, PIEPROFD, "--pid",
                                  str(pid), "--follow", "--mode", "time", "-d", "2"], capture_output=True, text=True,
                                 check=False, env=asan_options(NO_LEAK_DETECTION))
        check_equal(run.returncode, 0, "exit code, with %r" % run.stderr)
        with open(trace) as file:
            before, seized, _ = file.read().partition("PTRACE_SEIZE, %d," % child)
    check(seized, "the child was not attached to")
    # In each search.
    check_sampled(before.count("/proc/%d/exe" % pid) == 1, "the launcher was looked at %d times" %
                  before.count("/proc/%d/exe" % pid))


def test_launcher_of_another_user():
    """As the first process of a container often is: what it has started is profiled, and the refusal said."""
    user = nobody()
    python = next((i.path for i in find_interpreters() if i.path.startswith("/usr/bin/")), None)
    if not python:
        raise Skip("needs root and an interpreter which every user may start")
    with tempfile.TemporaryDirectory(prefix="pieprofd-test-") as folder, program_for_everyone() as program:
        os.chmod(folder, 0o755)
        script = os.path.join(folder, "ranked.py")
        with open(script, "w") as file:
            file.write(RANK)
        with launched("sh", "-c", "setpriv --reuid %d --regid %d --clear-groups %s %s 60; true" %
                      (user, user, python, script)) as (pid, child):
            run = subprocess.run([program, "--pid", str(pid), "--follow", "--mode", "time", "-d", "1.5", "-o", "-",
                                  "--format", "json"], capture_output=True, text=True, check=False, cwd="/", user=user,
                                 group=user, extra_groups=[])
    check_equal(run.returncode, 0, "exit code, with %r" % run.stderr)
    report = json.loads(run.stdout)
    check_equal(report["target"]["pid"], child, "the process that was profiled")
    check("belongs to user 0" in run.stderr, run.stderr)
    check_equal(report["losses"].get("process_refused"), 1, "processes refused")


# A parent that works itself, and a child that works as much.
PARENT = """
import os, subprocess, sys
work = "import time\\nwhile time.process_time() < %s: sum(range(1000))"
child = subprocess.Popen([sys.executable, "-S", "-c", work % sys.argv[1]])
print("began", os.getpid(), flush=True)
exec(work % sys.argv[1])
child.wait()
"""


def test_busy_parent_of_a_busy_child():
    with launched(default_interpreter().path, "-S", "-c", PARENT, "60") as (pid, _):
        with_hint = pieprofd("--pid", pid, "-d", 1, "--mode", "time").stderr
        followed = pieprofd("--pid", pid, "-d", 1, "--mode", "time", "--follow").stderr
    check_sampled("processes below %d (1 at the end), not profiled" % pid in with_hint, with_hint)
    check("--follow profiles them" in with_hint and "--follow profiles" not in followed, (with_hint, followed))


def test_command_whose_child_did_the_work():
    """Both have ended when it is told."""
    run, _ = run_command(default_interpreter().path, "-S", "-c", PARENT, 1.5, options=("--mode", "time"))
    check_equal(run.returncode, 0, "exit code, with %r" % run.stderr)
    check_sampled("not profiled, used " in run.stderr and "--follow profiles them, too" in run.stderr, run.stderr)


def test_quiet_child_is_no_hint():
    """It has all of the CPU time, and its child none."""
    script = ("import os, subprocess, sys\nsubprocess.Popen([sys.executable, '-S', '-c', 'input()'])\n"
              "print('began', os.getpid(), flush=True)\nwhile True: sum(range(1000))")
    with launched(default_interpreter().path, "-S", "-c", script) as (pid, _):
        wait_until(lambda: os.path.exists("/proc/%d" % pid), what="the process")
        said = pieprofd("--pid", pid, "-d", 1, "--mode", "time").stderr
    check("--follow" not in said, said)
