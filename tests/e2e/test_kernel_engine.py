# SPDX-License-Identifier: Apache-2.0
"""Time sampled by a program in the kernel: nobody is stopped, and what is found is what stops find."""
import contextlib
import ctypes
import gzip
import json
import math
import os
import shutil
import subprocess
import tempfile
import time

from harness import (PIEPROFD, Daemon, Skip, Target, alone, check, check_equal, check_sampled, default_interpreter,
                     line_text, pieprofd, profile, status_of, wait_until)
from test_blocked_signals import check_nothing_pending, cpu_ticks
from test_serve import served

KERNEL = ("--mode", "time", "--engine", "kernel")
PTRACE = ("--mode", "time", "--engine", "ptrace")
CLASSES = ("python_ns", "native_ns", "system_ns")
EXIT_USAGE, EXIT_PERMISSION = 2, 4
BPF, PROG_GET_FD_BY_ID = 321, 13  # asm/unistd_64.h, linux/bpf.h
# CAP_BPF, and CAP_SYS_ADMIN, which stands in for it.
WITHOUT_BPF = ("setpriv", "--bounding-set=-cap_39,-cap_21", "--inh-caps=-all")


def root_only():
    if os.geteuid() != 0:
        raise Skip("needs root to load a program into the kernel")


def own_time(entry):
    return sum(entry[name] for name in CLASSES)


def recorded(pid, *arguments):
    """The JSON report, and the depths of the stacks with the samples' time at each line."""
    folder = tempfile.mkdtemp(prefix="pieprofd-test-")
    try:
        paths = [os.path.join(folder, name) for name in ("p.json", "p.folded")]
        pieprofd("--pid", pid, "-o", paths[0], "-o", paths[1], *arguments)
        with open(paths[0]) as report, open(paths[1]) as stacks:
            return json.load(report), [[frame for frame in line.rpartition(" ")[0].split(";")
                                        if not frame.startswith("[container ")] for line in stacks]
    finally:
        shutil.rmtree(folder)


def check_kernel(report):
    check_equal(report["sampler"], "kernel", "the sampler")
    check_equal(report["losses"].get("ring_full", 0), 0, "samples for which there was no room")


# ---- the target ----


def watch_untraced(daemon, pid):
    """Looks at all its threads as long as the daemon runs; how often."""
    looks = 0
    while daemon.process.poll() is None:
        for tid in os.listdir("/proc/%d/task" % pid):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                status = status_of(pid, tid)
                check_equal(status["TracerPid"], "0", "tracer of thread %s" % tid)
                check(status["State"][0] in "RSD", "thread %s is %s" % (tid, status["State"]))
        looks += 1
        time.sleep(0.01)
    return looks


def test_nobody_is_stopped():
    """No tracer, no stop, no signal pending; a handler of the stop signal and epoll_wait(2) see nothing."""
    root_only()
    interpreter = default_interpreter()
    with Target(interpreter, "undisturbed.py", "--kind", "handle", "--seconds", 3) as target:
        with Daemon("--pid", target.pid, "-d", 2, *KERNEL) as daemon:
            check(watch_untraced(daemon, target.pid) > 20, "the daemon ended at once")
            daemon.finish()
        check_nothing_pending(target.pid)
        target.check_undisturbed()
        words = target.finish()
        check("eintr=0" in words and "unexpected=0" in words, words)
    with Target(interpreter, "sigurg_handler.py", "--seconds", 2) as target:
        report, _ = profile(target.pid, "-d", 1, *KERNEL)
        check("unexpected=0" in target.finish(), "the target saw signals of ours")
    check_kernel(report)
    check_sampled(report["samples"] > 10, "%d samples" % report["samples"])


def test_two_hundred_threads():
    """Each has the CPU time that /proc says, within what chance allows: most ran for a few samples, one or two for none."""
    root_only()
    with Target(default_interpreter(), "threads.py", "--threads", 200, "--seconds", 60) as target:
        before = cpu_ticks(target.pid)
        report, _ = profile(target.pid, "-d", 3, "-r", 900, "--max-overhead", 30, *KERNEL)
        after = cpu_ticks(target.pid)
        target.check_undisturbed()
        target.process.kill()
    check_kernel(report)
    tick = 1e9 / os.sysconf("SC_CLK_TCK")
    threads = {thread["tid"]: own_time(thread) for thread in report["threads"]}
    check(len(after) >= 200, "%d threads" % len(after))
    total, spent = sum(threads.values()), sum(after[tid] - before.get(tid, 0) for tid in after) * tick
    check_sampled(abs(total / report["cpu_ns"] - 1) < 0.03, "%d of %d ns" % (total, report["cpu_ns"]))
    worst = 0
    for tid in after:
        # /proc counts from before the daemon came until after it went.
        expected = (after[tid] - before[tid]) * tick * report["cpu_ns"] / spent
        chance = 5 * math.sqrt((expected + tick) * report["period_ns"]) + 2 * tick
        worst = max(worst, abs(threads.get(tid, 0) - expected) / chance)
    print("  %d threads, %.2f s of CPU time, the worst is %.2f of what chance allows" % (len(after), spent / 1e9, worst))
    check_sampled(worst < 1, "a thread is %.1f times off what chance allows" % worst)


def test_blocked_signals():
    """A thread that blocks all signals is like any other: all its time, by samples, in the same lines."""
    root_only()
    with Target(default_interpreter(), "blocked_signals.py", "--seconds", 60) as target:
        before = cpu_ticks(target.pid)
        report, text = profile(target.pid, "-d", 2, "--rate", 500, "--max-overhead", 20, *KERNEL)
        after = cpu_ticks(target.pid)
        target.check_undisturbed()
    check_kernel(report)
    threads = {thread["name"]: thread for thread in report["threads"]}
    both = sum(own_time(threads[name]) for name in ("blocked", "opened"))
    ticks = {name: after[threads[name]["tid"]] - before[threads[name]["tid"]] for name in ("blocked", "opened")}
    for name in ("blocked", "opened"):
        found, expected = own_time(threads[name]) / both, ticks[name] / sum(ticks.values())
        print("  %s: %.1f%% of the CPU time, %.1f%% by /proc" % (name, 100 * found, 100 * expected))
        check_sampled(abs(found - expected) < 0.06, "%s: %.3f of the CPU time, %.3f by /proc" % (name, found, expected))
        check_equal(threads[name]["unstopped_ns"], 0, "time that is said to be read without stops")
    check("stop_signal_blocked" not in report["losses"], report["losses"])
    check("blocks signals" not in text, text)


# ---- what is found ----


def kinds(report):
    """Self time by what lines say that they are."""
    times = {}
    for line in report["lines"]:
        kind = line["line"] and line_text(line).partition("# kind: ")[2]
        if kind:
            times[kind] = times.get(kind, 0) + own_time(line)
    return times


def check_depths(name, stacks):
    """A stack that shows the bottom of the recursion shows all of it."""
    deep = [stack for stack in stacks if stack[-1].startswith("recurse ") or any(f.startswith("recurse ") for f in stack)]
    check_sampled(deep, "%s: no recursion was seen" % name)
    whole = [stack for stack in deep
             if stack[0].startswith("<module>") and sum(frame.startswith("recurse ") for frame in stack) > 300]
    # It may have been on its way down or up.
    check_sampled(len(whole) >= 0.8 * len(deep), "%s: %d of %d deep stacks are whole" % (name, len(whole), len(deep)))


def test_same_shares(some_interpreter):
    """Stacks of every kind: each line's share is what it is with stops, and a recursion of 300 frames is whole."""
    root_only()
    with Target(some_interpreter, "stack_kinds.py", "--seconds", 60) as target:
        arguments = ("-d", 2.5, "-r", 400, "--max-overhead", 30)
        kernel, stacks = recorded(target.pid, *arguments, *KERNEL)
        ptrace, _ = recorded(target.pid, *arguments, *PTRACE)
        target.check_undisturbed()
    check_kernel(kernel)
    check_equal(ptrace["sampler"], "clock", "the sampler")
    found, expected = kinds(kernel), kinds(ptrace)
    for kind in ("plain", "generator", "coroutine", "called back", "deep", "native"):
        shares = [times.get(kind, 0) / sum(times.values()) for times in (found, expected)]
        chance = 4 * math.sqrt(0.17 * (1 / kernel["samples"] + 1 / ptrace["samples"]))
        print("  %s, %-11s %5.1f%%, %5.1f%% with stops" % (some_interpreter.name, kind, 100 * shares[0], 100 * shares[1]))
        check_sampled(abs(shares[0] - shares[1]) < chance, "%s, %s: %.3f and %.3f with stops" % (
            some_interpreter.name, kind, *shares))
    check_depths(some_interpreter.name, stacks)
    bad = sum(kernel["losses"].get(loss, 0) for loss in ("python_invalid", "python_truncated", "no_python_thread"))
    check_sampled(bad <= 0.02 * kernel["samples"], "%s: %s of %d samples" % (
        some_interpreter.name, kernel["losses"], kernel["samples"]))


def test_pid_namespace():
    """The target's threads have other numbers inside, by which the interpreter knows them."""
    root_only()
    interpreter = default_interpreter()
    process = subprocess.Popen(["unshare", "--pid", "--fork", "--kill-child"] +
                               interpreter.command("stack_kinds.py", "--seconds", 60), stdout=subprocess.PIPE, text=True,
                               env=dict(os.environ, **interpreter.environment))
    try:
        check_equal(process.stdout.readline(), "ready\n", "the target's first line")
        with open("/proc/%d/task/%d/children" % (process.pid, process.pid)) as file:
            pid = int(file.read().split()[0])
        check_equal(status_of(pid)["NSpid"].split()[-1], "1", "its number inside")
        report, _ = profile(pid, "-d", 1.5, "-r", 200, "--max-overhead", 20, *KERNEL)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
    check_kernel(report)
    check_equal([thread["tid"] for thread in report["threads"]], [pid], "threads")
    check_equal(report["losses"].get("no_python_thread", 0), 0, "samples without Python state")
    check_sampled(sum(kinds(report).values()) > 0.4 * report["cpu_ns"], "%s of %d" % (kinds(report), report["cpu_ns"]))


def test_many_processes():
    """All by the same clocks: each has the CPU time that /proc says, and nobody is stopped."""
    root_only()
    with contextlib.ExitStack() as stack:
        targets = [stack.enter_context(Target(default_interpreter(), "stack_kinds.py", "--seconds", 60)) for _ in range(7)]
        before = {target.pid: sum(cpu_ticks(target.pid).values()) for target in targets}
        report, _ = profile(",".join(str(pid) for pid in before), "-d", 2.5, "-r", 300, "--max-overhead", 20, *KERNEL)
        after = {pid: sum(cpu_ticks(pid).values()) for pid in before}
        for target in targets:
            target.check_undisturbed()
    check_kernel(report)
    times = {process["pid"]: own_time(process) for process in report["processes"]}
    check_equal(set(times), set(before), "processes")
    spent = sum(after.values()) - sum(before.values())
    for pid, time_ns in times.items():
        share, expected = time_ns / sum(times.values()), (after[pid] - before[pid]) / spent
        print("  %d: %.3f of the CPU time, %.3f by /proc" % (pid, share, expected))
        check_sampled(abs(share - expected) < 0.06, "%d: %.3f of the CPU time, %.3f by /proc" % (pid, share, expected))
    check_sampled(sum(kinds(report).values()) > 0.4 * report["cpu_ns"], "%s of %d" % (kinds(report), report["cpu_ns"]))


# ---- refusals ----


def test_refused():
    """Without CAP_BPF the kernel's engine says why, and auto does with stops."""
    root_only()
    if not shutil.which("setpriv"):
        raise Skip("needs root and setpriv")
    with Target(default_interpreter(), "conv_backprop.py", "--seconds", 60) as target:
        command = [*WITHOUT_BPF, PIEPROFD, "--pid", str(target.pid), "-d", "1", "--mode", "time", "--format", "json"]
        run = subprocess.run(command + ["--engine", "kernel"], capture_output=True, text=True, check=False)
        check_equal(run.returncode, EXIT_PERMISSION, "exit code, with %r" % run.stderr)
        for words in ("no program may be loaded into the kernel", "CAP_BPF", "--cap-add BPF"):
            check(words in run.stderr, run.stderr)
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        check_equal(run.returncode, 0, "exit code, with %r" % run.stderr)
        check_equal(json.loads(run.stdout)["sampler"], "clock", "what auto took")
        # With it, auto takes the kernel's.
        report, _ = profile(target.pid, "-d", 1, "--mode", "time")
        check_kernel(report)
        target.check_undisturbed()


def test_usage():
    for arguments, words in (((), "add --mode time"), (("--mode", "all"), "add --mode time"),
                             (("--mode", "time", "--idle"), "does not go with --idle"),
                             (("--mode", "time", "--follow"), "--follow, which need ptrace")):
        run = pieprofd("--pid", os.getpid(), "--engine", "kernel", *arguments, code=EXIT_USAGE)
        check(words in run.stderr, "%s: %r" % (arguments, run.stderr))
    run = pieprofd("--pid", os.getpid(), "--engine", "perf", "--mode", "time", code=EXIT_USAGE)
    check("expected auto, ptrace or kernel" in run.stderr, run.stderr)


# ---- ends ----


def test_target_exits():
    root_only()
    with Target(default_interpreter(), "short_lived.py", "--wait", 0.2, "--seconds", 2.5, "--exit-code", 42) as target:
        report, text = profile(target.pid, "-d", 60, *KERNEL)
        target.finish(code=42)
    check_kernel(report)
    check(report["target_exited"] and "exited meanwhile" in text, text)
    check(0.5e9 < report["duration_ns"] < 30e9, "duration %d" % report["duration_ns"])


EXEC = """
import os, sys, time
print("ready", flush=True)
end = time.monotonic() + 1
while time.monotonic() < end:
    sum(range(1000))
os.execv(sys.argv[1], sys.argv[1:])
"""


def check_exec(interpreter, program):
    process = subprocess.Popen([interpreter.path, "-c", EXEC, *program], stdout=subprocess.PIPE, text=True)
    try:
        check_equal(process.stdout.readline(), "ready\n", "the target's first line")
        report, text = profile(process.pid, "-d", 60, *KERNEL)
        check_equal(process.poll(), None, "the target's exit code")
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
    check_kernel(report)
    check(report["target_exited"], text)


def test_target_calls_exec():
    """Another program, and the same interpreter anew, as servers do to load their code again."""
    root_only()
    interpreter = default_interpreter()
    check_exec(interpreter, ["/bin/sleep", "60"])
    check_exec(interpreter, [interpreter.path, "-c", "while True: sum(range(1000))"])


def test_command():
    """The exit code of the command is ours."""
    root_only()
    work = "import os, sys, time\nend = time.monotonic() + 1\nwhile time.monotonic() < end: sum(range(1000))\n"
    for end, code in (("sys.exit(7)", 7), ("os.kill(os.getpid(), 9)", 128 + 9), ("", 0)):
        run = pieprofd(*KERNEL, "--details", "--", default_interpreter().path, "-c", work + end, code=code)
        check("sampler: kernel" in run.stderr, run.stderr)


def programs_of(pid):
    """Ids of the BPF programs that it holds."""
    found = set()
    for name in os.listdir("/proc/%d/fdinfo" % pid):
        with contextlib.suppress(FileNotFoundError):
            with open("/proc/%d/fdinfo/%s" % (pid, name)) as file:
                found |= {int(line.split()[1]) for line in file if line.startswith("prog_id:")}
    return found


def is_loaded(program):
    libc = ctypes.CDLL(None, use_errno=True)
    attributes = ctypes.create_string_buffer(program.to_bytes(4, "little") + bytes(8))
    descriptor = libc.syscall(BPF, PROG_GET_FD_BY_ID, attributes, 12)
    if descriptor < 0:
        check_equal(ctypes.get_errno(), 2, "errno")
        return False
    os.close(descriptor)
    return True


@alone
def test_killed():
    """The kernel takes away what a killed daemon has loaded."""
    root_only()
    with Target(default_interpreter(), "conv_backprop.py", "--seconds", 60) as target:
        with Daemon("--pid", target.pid, "-d", 60, *KERNEL) as daemon:
            wait_until(lambda: programs_of(daemon.process.pid), what="the program")
            programs = programs_of(daemon.process.pid)
            check(all(map(is_loaded, programs)), "%s are not loaded" % programs)
            daemon.process.kill()
            daemon.process.wait()
        wait_until(lambda: not any(map(is_loaded, programs)), what="the program to be gone")
        target.check_undisturbed()
        report, _ = profile(target.pid, "-d", 1, *KERNEL)
        check_sampled(report["samples"] > 10, "%d samples" % report["samples"])


def test_one_after_another():
    """Clocks and program come and go with the daemon."""
    root_only()
    with Target(default_interpreter(), "conv_backprop.py", "--seconds", 60) as target:
        for _ in range(4):
            report, _ = profile(target.pid, "-d", 0.5, *KERNEL)
            check_kernel(report)
            check_sampled(report["samples"] > 5, "%d samples" % report["samples"])
            check_sampled(abs(sum(report["time_ns"].values()) / report["cpu_ns"] - 1) < 0.2, "%s of %d" % (
                report["time_ns"], report["cpu_ns"]))
        target.check_undisturbed()


def test_served():
    """A window, a pause by request and another session after it; nobody traces the target all the while."""
    root_only()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "socket")
        with served(*KERNEL, listen="unix:" + path) as (target, server):
            for _ in range(2):
                check(gzip.decompress(server.get("/debug/pprof/profile?seconds=1")), "no profile")
                check_equal(target.status()["TracerPid"], "0", "tracer")
                report = json.loads(server.get("/control/snapshot?format=json", method="POST"))
                check_kernel(report)
                check_sampled(report["samples"] > 10, "%d samples" % report["samples"])
                check_sampled(abs(sum(report["time_ns"].values()) / report["cpu_ns"] - 1) < 0.15, "%s of %d" % (
                    report["time_ns"], report["cpu_ns"]))
                check_equal(json.loads(server.get("/control/stop", method="POST"))["state"], "stopped", "state")
                check(not programs_of(server.process.pid), "a program is left after the stop")
                check_equal(json.loads(server.get("/control/start", method="POST"))["state"], "sampling", "state")
            check(b"ring_full" in server.get("/metrics"), "metrics do not know the counter")
