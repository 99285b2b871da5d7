# SPDX-License-Identifier: Apache-2.0
"""`pieprofd list` and `pieprofd doctor`: what is there, what works, and what is said where it does not."""
import contextlib
import ctypes
import json
import os
import pwd
import shutil
import subprocess
import tempfile

from harness import (Skip, Target, check, check_equal, find_interpreters, nobody, pieprofd, status_of,
                     take_breakpoints, wait_until)
from test_refusals import (ENOSYS, EPERM, PERF_EVENT_OPEN, PTRACE, pretend_settings, refuse_call, restricted,
                           sleeping_target)

PROCESS_VM_READV, SCHED_SETSCHEDULER, BPF = 310, 144, 321
SLEEPS = "import time; print('ready', flush=True); time.sleep(120)"


@contextlib.contextmanager
def sleeping(*command, **options):
    """A process that has said `ready`, and sleeps."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **options)
    try:
        check_equal(process.stdout.readline(), "ready\n", "the first line of %r" % (command,))
        yield process.pid
        check_equal(process.poll(), None, "the target's exit code")
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def listed():
    found = json.loads(pieprofd("list", "--json").stdout)
    return {process["pid"]: process for process in found["processes"]}, found


def version_text(interpreter):
    return "%d.%d.%d" % interpreter.version


# ---- list


def test_list_every_interpreter():
    interpreters = [interpreter for interpreter in find_interpreters() if not interpreter.in_root]
    with contextlib.ExitStack() as stack:
        pids = {stack.enter_context(sleeping(i.path, "-c", SLEEPS, "two words")): i for i in interpreters}
        other = subprocess.Popen(["sleep", "60"])
        try:
            processes, found = listed()
        finally:
            other.kill()
            other.wait()
        text = pieprofd("list").stdout
    for pid, interpreter in pids.items():
        check(pid in processes, "%s is not in the list" % interpreter.name)
        process = processes[pid]
        check_equal(process["python"], version_text(interpreter), "version")
        check_equal(process["command"], [interpreter.path, "-c", SLEEPS, "two words"], "command")
        check_equal(process["user"], name_of(os.geteuid()), "user")
        check_equal(process["inner_pid"], pid, "inner pid")
        check(process["running_ns"] > 0, "it runs for %d ns" % process["running_ns"])
        row = [line for line in text.splitlines() if line.split()[:1] == [str(pid)]]
        check(len(row) == 1 and version_text(interpreter) in row[0], "row of %d in %r" % (pid, text))
    check(other.pid not in processes, "sleep(1) is no Python")
    check(found["seen"] > len(pids), "%d processes seen" % found["seen"])


def name_of(user):
    """Not everybody has one in a container."""
    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return str(user)


def test_list_busy():
    with Target(find_interpreters()[0], "conv_backprop.py", "--seconds", 30) as target:
        process = listed()[0][target.pid]
        check_equal(status_of(target.pid)["TracerPid"], "0", "TracerPid")
    check(process["cpu_ns"] > 0, "it used no CPU time: %s" % process)


def test_list_renamed():
    """By its files, not by its name."""
    python = next((i.path for i in find_interpreters() if "static" in i.name and i.path.startswith("/usr/")), None)
    if not python:
        raise Skip("no interpreter with everything in one file")
    folder = tempfile.mkdtemp(prefix="pieprofd-list-")
    try:
        program = shutil.copy(python, os.path.join(folder, "server"))
        with sleeping("another name", "-c", SLEEPS, executable=program,
                      env=dict(os.environ, PYTHONHOME="/usr")) as pid:
            process = listed()[0].get(pid)
    finally:
        shutil.rmtree(folder)
    check(process is not None, "the renamed interpreter is not in the list")
    check_equal(process["interpreter"], program, "file")


def test_list_embedded():
    """A program that is no python and holds one: gdb."""
    gdb = shutil.which("gdb")
    run = gdb and subprocess.run([gdb, "-q", "-nx", "-batch", "-ex", "python print('python')"], capture_output=True,
                                 text=True, check=False)
    if not run or "python" not in run.stdout:
        raise Skip("no interpreter with gdb around it")
    with sleeping(gdb, "-q", "-nx", "-batch", "-ex", "python " + SLEEPS) as pid:
        check(pid in listed()[0], "gdb is not in the list")


def test_list_in_a_pid_namespace():
    def enter():
        check_equal(ctypes.CDLL(None, use_errno=True).unshare(0x20000000), 0, "unshare")  # CLONE_NEWPID

    if os.geteuid() != 0:
        raise Skip("needs root to make a namespace")
    inside = []
    try:
        # The child of the process that unshares is number 1 in there.
        with sleeping("sh", "-c", '"$0" -c "$1" "$2"; true', find_interpreters()[0].path, SLEEPS, "inside",
                      preexec_fn=enter):
            processes, _ = listed()
            inside = [process for process in processes.values() if process["command"][-1:] == ["inside"] and
                      process["command"][0] != "sh"]
            check_equal(len(inside), 1, "processes found")
            check_equal(inside[0]["inner_pid"], 1, "inner pid")
            # Where these tests run in a container, that is what the text names.
            check(inside[0]["container"] or "pid 1 inside" in pieprofd("list").stdout, "the text has no inner pid")
            report = json.loads(pieprofd("doctor", "--pid", inside[0]["pid"], "--json").stdout)
            words = [line for line in report["lines"] if line["id"] == "namespaces"]
            check(words and "process ids" in words[0]["found"], "namespaces: %s" % words)
    finally:
        for process in inside:
            os.kill(process["pid"], 9)


def test_list_as_a_user():
    user = nobody()
    with sleeping_target(user) as own, sleeping(find_interpreters()[0].path, "-c", SLEEPS) as others:
        run = restricted(["list", "--json"], lambda: None, user)
        text = restricted(["list"], lambda: None, user).stdout
    check_equal(run.returncode, 0, "exit code, with %r" % run.stderr)
    found = json.loads(run.stdout)
    process = [process for process in found["processes"] if process["pid"] == own]
    check(process and process[0]["python"], "its own process is not in the list, or without version: %s" % process)
    check(others not in [process["pid"] for process in found["processes"]], "root's process is in the list")
    check(found["denied"] > 0, "nothing was denied")
    check(others in found["denied_pythons"] or len(found["denied_pythons"]) == 64, "root's python is not told")
    check("could not be looked at" in text and "CAP_SYS_PTRACE" in text, text)


# ---- doctor


def examined(*arguments, code=0, restrict=None, user=None):
    """The lines of doctor's report by their names, the last of each; and the report."""
    run = restricted(["doctor", "--json"] + list(arguments), restrict or (lambda: None), user)
    check_equal(run.returncode, code, "exit code, with %r %r" % (run.stdout, run.stderr))
    report = json.loads(run.stdout)
    check_equal(report["exit_code"], code, "exit code in the report")
    return {line["id"]: line for line in report["lines"]}, report


def check_states(lines, **expected):
    for name, state in expected.items():
        name = name.replace("_", "-")
        check(name in lines, "there is no line %s" % name)
        check_equal(lines[name]["state"], state, "state of %s, which says %r" % (name, lines[name]["found"]))


def test_doctor_as_root():
    if os.geteuid() != 0:
        raise Skip("needs root")
    lines, report = examined()
    check_states(lines, ptrace="OK", memory="OK", clock="OK", kernel_engine="OK", breakpoints="OK", kernel="fact", pmu="fact",
                 debuginfod="fact", container="fact")
    check("a store and an instruction of a child stopped it" in lines["breakpoints"]["found"], lines["breakpoints"])
    check(os.uname().release in lines["kernel"]["found"], lines["kernel"])
    text = pieprofd("doctor").stdout
    check(report["verdict"].split(".")[0] in " ".join(text.split()), text)


def test_doctor_as_a_user():
    user = nobody()
    lines, _ = examined(user=user)
    check_states(lines, ptrace="limited", memory="OK", clock="OK", breakpoints="OK", priority="limited")
    check("CAP_SYS_PTRACE" in lines["ptrace"]["found"] and "sudo" in lines["ptrace"]["cure"], lines["ptrace"])
    check("CAP_SYS_NICE" in lines["priority"]["cure"], lines["priority"])
    check_states(lines, kernel_engine="limited")
    check("CAP_BPF" in lines["kernel-engine"]["cure"], lines["kernel-engine"])
    if lines["kernel-time"]["state"] != "OK":
        check("perf_event_paranoid=1" in lines["kernel-time"]["cure"], lines["kernel-time"])


def test_doctor_restricted():
    """What a filter of system calls refuses is found missing, with the words that grant it."""
    for number, error, name, code, state, words in (
            (PERF_EVENT_OPEN, ENOSYS, "clock", 4, "missing", "PERFMON"),
            (PERF_EVENT_OPEN, EPERM, "clock", 4, "missing", "seccomp"),
            (PTRACE, EPERM, "ptrace", 4, "missing", "SYS_PTRACE"),
            (BPF, EPERM, "kernel-engine", 0, "limited", "--cap-add BPF"),
            (BPF, ENOSYS, "kernel-engine", 0, "limited", "Linux 5.17"),
            (PROCESS_VM_READV, ENOSYS, "memory", 0, "limited", "SYS_PTRACE")):
        lines, report = examined(code=code, restrict=lambda number=number, error=error: refuse_call(number, error))
        check_states(lines, **{name: state})
        check(words in lines[name]["cure"], "%s is not in %r" % (words, lines[name]))
        check_states(lines, seccomp="fact")
        check(code == 0 or name in report["verdict"], report["verdict"])
        if name == "clock":
            check_states(lines, breakpoints="missing")


def test_doctor_who_refuses_priority():
    """Root has CAP_SYS_NICE: a filter, or a control group of version 1, which has no time for real-time threads at first."""
    if os.geteuid() != 0:
        raise Skip("needs root")
    lines, _ = examined(restrict=lambda: refuse_call(SCHED_SETSCHEDULER, EPERM))
    check_states(lines, priority="limited")
    check("seccomp filter" in lines["priority"]["found"], lines["priority"])
    base = "/sys/fs/cgroup/cpu"
    if not os.path.exists(base + "/cpu.rt_runtime_us"):
        raise Skip("needs root and control groups of version 1 with real-time scheduling")
    folder = os.path.join(base, "pieprofd-doctor-%d" % os.getpid())
    os.mkdir(folder)

    def enter():
        with open(folder + "/cgroup.procs", "w") as file:
            file.write("%d\n" % os.getpid())

    try:
        lines, _ = examined(restrict=enter)
        check("control group" in lines["priority"]["found"], lines["priority"])
        check(folder + "/cpu.rt_runtime_us is 0" in lines["priority"]["cure"], lines["priority"])
    finally:
        wait_until(lambda: not open(folder + "/cgroup.procs").read(), what="an empty control group")
        os.rmdir(folder)


def test_doctor_yama():
    user = nobody()
    lines, _ = examined(code=4, user=user, restrict=lambda: pretend_settings(
        {"yama/ptrace_scope": 1, "perf_event_paranoid": 2, "perf_event_mlock_kb": 516}))
    check_states(lines, ptrace="missing")
    check("kernel.yama.ptrace_scope=0" in lines["ptrace"]["cure"], lines["ptrace"])
    # Root may all the same.
    lines, _ = examined(restrict=lambda: pretend_settings({"yama/ptrace_scope": 1, "perf_event_paranoid": 2}))
    check_states(lines, ptrace="OK")


def test_doctor_of_a_process(interpreter):
    with Target(interpreter, "conv_backprop.py", "--seconds", 30) as target:
        lines, report = examined("--pid", target.pid)
        check_equal(status_of(target.pid)["TracerPid"], "0", "TracerPid")
        target.check_undisturbed()
    check_equal(report["pid"], target.pid, "pid")
    check_states(lines, access="OK", python="OK", stop_signal="OK", breakpoints="OK", threads="fact", files="OK")
    check("CPython %s in" % version_text(interpreter) in lines["python"]["found"], lines["python"])
    for name in ("access", "python", "breakpoints"):
        check_equal(lines[name]["of"], "process", "what %s is of" % name)


def test_doctor_of_a_hard_case():
    if os.geteuid() != 0:
        raise Skip("needs root")
    with Target(find_interpreters()[0], "sigurg_handler.py") as target:
        lines, _ = examined("--pid", target.pid)
        check("SIGWINCH" in lines["stop-signal"]["found"], lines["stop-signal"])
    # All debug registers in use by another program, as perf or gdb would have them.
    with Target(find_interpreters()[0], "conv_backprop.py", "--seconds", 30) as target:
        with taken_breakpoints(target.pid):
            lines, _ = examined("--pid", target.pid, code=4)
        check_states(lines, breakpoints="missing", python="OK")
        target.check_undisturbed()
    with sleeping_target(nobody()) as pid:
        lines, _ = examined("--pid", pid, user=1, code=4)
        refusals = [line for line in lines.values() if line["state"] == "missing"]
        check_equal(len(refusals), 1, "lines that say so")
        check("belongs to user" in refusals[0]["found"] and "sudo" in refusals[0]["cure"], refusals)


@contextlib.contextmanager
def taken_breakpoints(pid):
    """A process that holds all four debug registers of another's main thread."""
    reader, writer = os.pipe()
    holder = os.fork()
    if holder == 0:
        real_close = os.close
        os.close = lambda descriptor: None  # take_breakpoints gives them back with it
        try:
            take_breakpoints(pid)
            os.write(writer, b"1")
            subprocess.run(["sleep", "60"], check=False)
        finally:
            os.close = real_close
            os._exit(0)
    os.close(writer)
    try:
        check_equal(os.read(reader, 1), b"1", "whether the debug registers could be taken")
        yield
    finally:
        os.close(reader)
        os.kill(holder, 9)
        os.waitpid(holder, 0)


def test_doctor_refuses():
    check("no process" in pieprofd("doctor", "--pid", 2 ** 22 - 1, code=3).stderr, "words")
    other = subprocess.Popen(["sleep", "60"])
    try:
        check("does not run CPython" in pieprofd("doctor", "--pid", other.pid, code=3).stderr, "words")
    finally:
        other.kill()
        other.wait()
    pieprofd("list", "--pid", 1, code=2)
