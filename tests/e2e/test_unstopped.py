# SPDX-License-Identifier: Apache-2.0
"""Where perf events are refused: time, sampled without stopping or tracing the target."""
import ctypes
import json
import os
import shutil
import subprocess
import tempfile

from harness import (NO_LEAK_DETECTION, PIEPROFD, Skip, Target, asan_options, check, check_equal, check_sampled,
                     default_interpreter, find_interpreters, line_text, nobody, pieprofd, profile, status_of)
from test_doctor import taken_breakpoints
from test_refusals import ENOSYS, EPERM, PERF_EVENT_OPEN, program_for_everyone, refuse_call, restricted


def profile_without_perf(target, error, *arguments, others=(), code=0):
    """
    The JSON report of a daemon that may not use perf events, nor the other
    system calls, and what it said; nothing traces the target.
    """
    def restrict():
        for number in (PERF_EVENT_OPEN, *others):
            refuse_call(number, error)

    folder = tempfile.mkdtemp(prefix="pieprofd-test-")
    try:
        path = os.path.join(folder, "profile.json")
        daemon = subprocess.Popen([PIEPROFD, "--pid", str(target.pid), "--details", "-o", path] +
                                  [str(argument) for argument in arguments], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True,
                                  preexec_fn=restrict, env=asan_options(NO_LEAK_DETECTION))
        looks = 0
        while True:
            try:
                stdout, stderr = daemon.communicate(timeout=0.02)
                break
            except subprocess.TimeoutExpired:
                looks += 1
            with open("/proc/%d/status" % target.pid) as file:
                check("TracerPid:\t0\n" in file.read(), "somebody traces the target")
        check_equal(daemon.returncode, code, "exit code, with %r" % stderr)
        check(looks > 10, "the daemon ended at once")
        with open(path) as file:
            return json.load(file), stdout, stderr
    finally:
        shutil.rmtree(folder)


def own_time(line):
    return line["python_ns"] + line["native_ns"] + line["system_ns"]


def interpreters_of_both_kinds():
    """To 3.10 and from 3.11 on frames are read in different ways."""
    found = [interpreter for interpreter in find_interpreters() if not interpreter.in_root]
    older = [interpreter for interpreter in found if interpreter.version < (3, 11)]
    newer = [interpreter for interpreter in found if interpreter.version >= (3, 11)]
    return older[-1:] + newer[-1:]


def test_hot_line():
    if not interpreters_of_both_kinds():
        raise Skip("no interpreter with numpy")
    for interpreter, error in zip(interpreters_of_both_kinds(), (EPERM, ENOSYS)):
        with Target(interpreter, "conv_backprop.py", "--seconds", 60) as target:
            report, stdout, stderr = profile_without_perf(target, error, "-d", 3)
            target.check_undisturbed()
        check_equal(report["sampler"], "unstopped", "sampler")
        check_equal(report["stop_ns"]["max"], 0, "longest stop")
        check("perf" in stderr and "PERFMON" in stderr and "without stopping" in stderr, stderr)
        check("time alone" in stdout and "unstopped" in stdout, stdout)
        total = sum(report["time_ns"].values())
        check_sampled(report["samples"] > 20, "%d samples" % report["samples"])
        hot = max(report["lines"], key=own_time)
        check_sampled("g[f] += d[i, j, f] * r" in line_text(hot), "the hottest line is %r" % hot)
        check_sampled(own_time(hot) > total / 2, "%s: it has %d of %d ns" % (interpreter.name, own_time(hot), total))
        check_equal(report["pairs"], [], "pairs")
        check_equal(sum(map(own_time, report["threads"])), total, "time of all threads")


# What Docker's default profile refuses and we might use: asm/unistd_64.h. Before Linux 4.8, ptrace and its kin, too.
DOCKER = (101, 310, 311, 312, 165, 166, 272, 308, 304, 321, 323, 250, 248)


def test_in_a_container_with_an_old_default_profile():
    """Neither perf events nor ptrace nor process_vm_readv: memory is read through /proc."""
    with Target(find_interpreters()[0], "conv_backprop.py", "--seconds", 60) as target:
        report, stdout, stderr = profile_without_perf(target, EPERM, "-d", 2, "--strict", others=DOCKER, code=7)
        target.check_undisturbed()
    check_equal(report["sampler"], "unstopped", "sampler")
    check("perf" in stderr and "without stopping" in stderr and "--strict" in stderr, stderr)
    check("time alone" in stdout, stdout)
    hot = max(report["lines"], key=own_time)
    check_sampled("g[f] += d[i, j, f] * r" in line_text(hot), "the hottest line is %r" % hot)


def test_command_and_strict():
    """What is limited is said also of what was started later; the exit code is the command's."""
    run = restricted(["--strict", "--", find_interpreters()[0].path, "-c", "sum(range(20000000))"],
                     lambda: refuse_call(PERF_EVENT_OPEN, EPERM))
    check_equal(run.returncode, 0, "exit code, with %r" % run.stderr)
    check("without stopping" in run.stderr and "--strict" in run.stderr, run.stderr)


def test_no_breakpoint_is_free():
    """Somebody else has all four: time alone, which is said."""
    with Target(find_interpreters()[0], "conv_backprop.py", "--seconds", 60) as target:
        with taken_breakpoints(target.pid):
            report, stdout = profile(target.pid, "-d", 1.5)
            run = pieprofd("--pid", target.pid, "-d", 0.5, "--strict", code=7)
            refused = pieprofd("--pid", target.pid, "--mode", "redundancy", code=4)
        target.check_undisturbed()
    check_equal(report["pairs"], [], "pairs")
    check_sampled(report["samples"] > 5, "%d samples" % report["samples"])
    check("all four debug registers" in run.stderr and "time alone" in run.stderr, run.stderr)
    check("all four debug registers" in refused.stderr, refused.stderr)


def test_split_is_not_claimed():
    """
    What of the time is native can only be guessed without a stop or a perf event: no number says it, every format says
    why; neither of numpy's calls, which the clock finds to be mostly native, nor of the interpreter alone.
    """
    interpreter = default_interpreter()
    for native, program in ((True, ("vectorised.py",)), (False, ("blocked_signals.py", "--work", "python"))):
        with Target(interpreter, *program, "--seconds", 60) as target:
            report, stdout, _ = profile_without_perf(target, EPERM, "-d", 1)
            by_clock, _ = profile(target.pid, "-d", 1, "--mode", "time")
            target.check_undisturbed()
        check_equal((report["native_known"], by_clock["native_known"]), (False, True), "native_known")
        check(report["time_ns"]["native"] == 0, "native time: %s" % report["time_ns"])
        check("not told apart" in stdout and "% native" not in stdout, stdout)
        check_sampled((by_clock["time_ns"]["native"] > by_clock["time_ns"]["python"]) == native, by_clock["time_ns"])


def test_target_ends(one_interpreter):
    with Target(one_interpreter, "threads.py", "--threads", 2, "--seconds", 2) as target:
        run = restricted(["--pid", target.pid, "-d", 30, "--details"], lambda: refuse_call(PERF_EVENT_OPEN, EPERM))
        target.finish()
    check_equal(run.returncode, 0, "exit code, with %r" % run.stderr)
    check("unstopped" in run.stdout and "exited" in run.stdout, run.stdout)


def test_snapshot(one_interpreter):
    """Sampling pauses for a report and goes on: time is not counted twice."""
    folder = tempfile.mkdtemp(prefix="pieprofd-test-")
    path = os.path.join(folder, "profile.json")
    try:
        with Target(one_interpreter, "conv_backprop.py", "--seconds", 60) as target:
            daemon = subprocess.Popen([PIEPROFD, "--pid", str(target.pid), "-q", "-o", path, "-d", "3"],
                                      stderr=subprocess.PIPE, text=True,
                                      preexec_fn=lambda: refuse_call(PERF_EVENT_OPEN, EPERM))
            times = []
            while daemon.poll() is None:
                if status_of(target.pid)["TracerPid"] != "0":
                    times.append("traced")
                try:
                    daemon.wait(timeout=1)
                except subprocess.TimeoutExpired:
                    daemon.send_signal(10)  # SIGUSR1
            stderr = daemon.stderr.read()
            daemon.stderr.close()
            with open("/proc/%d/schedstat" % target.pid) as file:
                cpu = int(file.read().split()[0])
            target.check_undisturbed()
        check_equal(daemon.returncode, 0, "exit code, with %r" % stderr)
        check_equal(times, [], "looks at TracerPid")
        with open(path) as file:
            report = json.load(file)
        total = sum(report["time_ns"].values())
        check(0 < total <= cpu, "%d ns of CPU time in the report, the target used %d" % (total, cpu))
        check_equal(len(report["threads"]), len({thread["tid"] for thread in report["threads"]}), "threads")
    finally:
        shutil.rmtree(folder)


def test_no_permission_at_all():
    """Neither perf events nor its memory: then it is the memory that is told about."""
    libc = ctypes.CDLL(None, use_errno=True)

    def restrict():
        check_equal(libc.prctl(38, 1, 0, 0, 0), 0, "prctl")
        refuse_call(PERF_EVENT_OPEN, EPERM)

    if os.geteuid() != 0:
        raise Skip("needs root to become somebody else")
    with Target(find_interpreters()[0], "conv_backprop.py", "--seconds", 30) as target:
        run = restricted(["--pid", target.pid, "-d", 2], restrict, 65534)
        target.check_undisturbed()
    check_equal(run.returncode, 4, "exit code, with %r" % run.stderr)
    check("belongs to user 0" in run.stderr, run.stderr)


def test_other_users_process():
    """Capabilities without root: the kernel keeps the signals of perf events from others' processes, and says nothing."""
    user = nobody()
    capabilities = "+sys_ptrace,+perfmon"
    become = ["setpriv", "--reuid=%d" % user, "--regid=%d" % user, "--clear-groups", "--inh-caps=" + capabilities,
              "--ambient-caps=" + capabilities]
    with program_for_everyone() as program, Target(default_interpreter(), "conv_backprop.py", "--seconds", 60) as target:
        for mode, code in (("all", 0), ("redundancy", 4)):
            run = subprocess.run(become + [program, "--pid", str(target.pid), "-d", "3", "--mode", mode, "--details"],
                                 capture_output=True, text=True, cwd="/", check=False)
            check_equal(run.returncode, code, "exit code, with %r" % run.stderr)
            check("delivers no signals of a clock from this user" in run.stderr, run.stderr)
            if not code:
                check("unstopped" in run.stdout, run.stdout)
                check_sampled("backprop" in run.stdout, "nothing was sampled")
        target.check_undisturbed()
