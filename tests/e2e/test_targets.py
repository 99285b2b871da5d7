# SPDX-License-Identifier: Apache-2.0
"""Targets of every kind go on as if nobody had looked."""
import os
import subprocess
import tempfile
import time

from harness import (MANY_SAMPLES, TARGETS, TARGETS_IN_ROOT, Daemon, Skip, Target, check, check_equal, check_sampled,
                     profile, wait_attached, wait_until)


def functions(report):
    return {line["function"].split(".")[-1] for line in report["lines"]}


def test_eight_threads(some_interpreter):
    with Target(some_interpreter, "threads.py", "--threads", 8, "--seconds", 8) as target:
        report, _ = profile(target.pid, "-d", 4, *MANY_SAMPLES)
        target.check_undisturbed()
        check("threads=8" in target.finish(), "the target's last line")
    check_sampled("backprop" in functions(report), "functions seen: %s" % functions(report))
    check_sampled(report["pairs"], "no pair was found")


def test_thread_that_starts_late(some_interpreter):
    with Target(some_interpreter, "late_thread.py", "--seconds", 6.5) as target:
        report, _ = profile(target.pid, "-d", 4, *MANY_SAMPLES)
        target.check_undisturbed()
        check("traced=yes" in target.finish(), "the target was not traced when its thread started")
    check_sampled("backprop" in functions(report), "the late thread was not seen: %s" % functions(report))
    check_sampled(report["pairs"], "no pair was found in the late thread")


def test_target_that_exits(some_interpreter):
    with Target(some_interpreter, "short_lived.py", "--seconds", 1.5, "--exit-code", 42) as target:
        report, text = profile(target.pid, "-d", 60)
        target.finish(code=42)
    check_sampled("backprop" in functions(report), "functions seen: %s" % functions(report))
    check(0.5e9 < report["duration_ns"] < 30e9, "duration %d" % report["duration_ns"])


def test_blocking_calls(some_interpreter):
    # epoll_wait(2) is not restarted after a stop, read(2) is.
    for call in ("read", "epoll_wait"):
        with Target(some_interpreter, "blocking_read.py", "--call", call, "--seconds", 1.8) as target:
            profile(target.pid, "-d", 1)
            target.check_undisturbed()
            check("eintr=0" in target.finish(), "the target saw EINTR")


def test_handler_of_the_stop_signal(one_interpreter):
    with Target(one_interpreter, "sigurg_handler.py", "--seconds", 5) as target:
        for number in ("SIGURG", "SIGWINCH"):
            profile(target.pid, "-d", 1, "--stop-signal", number)
        profile(target.pid, "-d", 1)
        target.check_undisturbed()
        check("unexpected=0" in target.finish(), "the target saw signals of ours")


def test_thousand_signals_a_second(one_interpreter):
    with Target(one_interpreter, "signals_1khz.py", "--seconds", 4) as target:
        profile(target.pid, "-d", 2)
        target.check_undisturbed()
        target.finish()


def test_stopped_and_continued(one_interpreter):
    """A third party stops and continues the target while we are attached."""
    with Target(one_interpreter, "conv_backprop.py", "--seconds", 6) as target:
        with Daemon("--pid", target.pid, "-d", 4) as daemon:
            wait_attached(target.pid)
            for _ in range(10):
                os.kill(target.pid, 19)
                # Under a tracer a group-stop shows as 't', after it as 'T'.
                wait_until(lambda: target.status()["State"][0] in "tT", what="the stop")
                time.sleep(0.05)
                check(target.status()["State"][0] in "tT", "the stop did not last")
                os.kill(target.pid, 18)
                wait_until(lambda: target.status()["State"][0] in "RS", what="the continuation")
            daemon.finish()
        target.check_undisturbed()
        target.finish()


def test_memory_does_not_grow(one_interpreter):
    def resident_kib():
        return int(target.status()["VmRSS"].split()[0])

    with Target(one_interpreter, "conv_backprop.py", "--seconds", 6) as target:
        time.sleep(1)
        before = resident_kib()
        profile(target.pid, "-d", 3)
        check(resident_kib() <= before + 512, "from %d to %d KiB" % (before, resident_kib()))
        target.finish()


def test_twice_in_a_row(one_interpreter):
    with Target(one_interpreter, "conv_backprop.py", "--seconds", 12) as target:
        for _ in range(5):
            report, _ = profile(target.pid, "-d", 0.5)
            check_sampled(report["samples"] > 2, "%d samples" % report["samples"])
            target.check_undisturbed()
        check_equal(target.process.poll(), None, "the target's exit code")


def test_files_of_another_mount_namespace(one_interpreter):
    """The target's executable and its program are where nobody else has any."""
    if os.geteuid() != 0:
        raise Skip("needs root to make a mount namespace")
    if one_interpreter.in_root:
        # Where everything is in a namespace of its own, and not to be had from here.
        with Target(one_interpreter, "conv_backprop.py", "--seconds", 6) as target:
            check(not os.path.exists(TARGETS_IN_ROOT), "%s is seen from here" % TARGETS_IN_ROOT)
            report, text = profile(target.pid, "-d", 4)
            target.finish()
        check_sampled("g[f] += d[i, j, f] * r" in text, "the line is not in the report")
        check_sampled("backprop" in functions(report), "functions seen: %s" % functions(report))
        return
    hidden = tempfile.mkdtemp(prefix="pieprofd-hidden-")
    program = (
        'mount -t tmpfs tmpfs "$1" && cp "$2" "$1/python3" && mkdir "$1/targets" && '
        'mount --bind "$3" "$1/targets" && exec "$1/python3" "$1/targets/conv_backprop.py" --seconds 6'
    )
    command = ["unshare", "--mount", "sh", "-c", program, "sh", hidden, one_interpreter.path, TARGETS]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                               env=dict(os.environ, PYTHONDONTWRITEBYTECODE="1",
                                        PYTHONHOME=one_interpreter.prefix, **one_interpreter.environment))
    try:
        line = process.stdout.readline()
        if line.startswith("unshare:"):
            raise Skip("needs root that may make a mount namespace")
        check_equal(line, "ready\n", "the target's first line")
        check_equal(os.listdir(hidden), [], "files seen from here")
        report, text = profile(process.pid, "-d", 4)
        check_sampled("g[f] += d[i, j, f] * r" in text, "the line is not in the report")
        check_sampled("backprop" in functions(report), "functions seen: %s" % functions(report))
        output, _ = process.communicate(timeout=60)
        check(process.returncode == 0 and output.startswith("ok "), "the target said %r" % output)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        os.rmdir(hidden)
