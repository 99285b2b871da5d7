# SPDX-License-Identifier: Apache-2.0
"""docs/PRIVILEGES.md, row by row: with what it says it works, with one less it is refused by name."""
import contextlib
import json
import os
import shutil
import subprocess
import tempfile
import time

from harness import (MANY_SAMPLES, NO_LEAK_DETECTION, PIEPROFD, TARGETS, Skip, Target, asan_options, check, check_equal,
                     check_sampled, default_interpreter, nobody, sanitized, show_to_everyone, status_of, wait_attached,
                     wait_until)
from test_refusals import ENOSYS, EPERM, PERF_EVENT_OPEN, program_for_everyone, refuse_call

SYS_PTRACE, PERFMON, BPF = "cap_19", "cap_38", "cap_39"  # linux/capability.h; older tools do not know all names
CHOWN, DAC_OVERRIDE, SYS_PTRACE_BIT = 1 << 0, 1 << 1, 1 << 19
SWITCHING, READING = 1 << 6 | 1 << 7, 1 << 1 | 1 << 2  # CAP_SETGID, CAP_SETUID; CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH

# Numbers of system calls, asm/unistd_64.h.
CAPGET, CAPSET, PRCTL, SECCOMP = 125, 126, 157, 317

STRANGER = 2  # a user who is neither root nor the target's


def limited(capabilities, user=None):
    """The command line that runs another with these capabilities and no more."""
    words = ["-all"] + ["+" + capability for capability in capabilities]
    command = ["setpriv", "--bounding-set=" + ",".join(words), "--inh-caps=-all"]
    if user is not None:
        # Those of an ordinary user outlive an exec when they are ambient.
        command = ["setpriv", "--reuid=%d" % user, "--regid=%d" % user, "--clear-groups",
                   "--inh-caps=" + ",".join(words), "--ambient-caps=" + ",".join(words)]
    return command


@contextlib.contextmanager
def strangers_target(*arguments):
    """A numpy program of nobody's, and a copy of pieprofd that every user may run."""
    user = nobody()
    if not shutil.which("setpriv"):
        raise Skip("needs root and setpriv")
    interpreter = default_interpreter()
    if not interpreter.path.startswith("/usr/"):
        raise Skip("needs root to show %s to an ordinary user" % interpreter.path)
    with program_for_everyone() as program:
        targets = shutil.copytree(TARGETS, os.path.join(os.path.dirname(program), "targets"))
        show_to_everyone(targets)
        script = os.path.join(targets, "conv_backprop.py")
        process = subprocess.Popen([interpreter.path, script, "--seconds", "60", *arguments], stdout=subprocess.PIPE,
                                   text=True, user=user, group=user, extra_groups=[], cwd="/",
                                   env={"PYTHONDONTWRITEBYTECODE": "1"})
        try:
            check_equal(process.stdout.readline(), "ready\n", "the target's first line")
            yield program, process.pid
            check_equal(process.poll(), None, "the target's exit code")
            check_equal(status_of(process.pid)["TracerPid"], "0", "tracer of the target")
        finally:
            process.kill()
            process.wait()
            process.stdout.close()


def run(program, capabilities, *arguments, user=None, code=0, prepare=None):
    result = subprocess.run(limited(capabilities, user) + [program, *map(str, arguments)], capture_output=True,
                            text=True, check=False, cwd="/", preexec_fn=prepare)
    check_equal(result.returncode, code, "exit code with %s, with %r" % (capabilities, result.stderr))
    return result


def recorded(program, capabilities, pid, *arguments, **keywords):
    result = run(program, capabilities, "--pid", pid, "--format", "json", *arguments, **keywords)
    return json.loads(result.stdout), result.stderr


def perf_event_paranoid():
    with open("/proc/sys/kernel/perf_event_paranoid") as file:
        paranoid = int(file.read())
    # Debian's and Ubuntu's kernels have 3 and 4.
    if paranoid > 2:
        raise Skip("perf_event_paranoid forbids perf without CAP_PERFMON")
    return paranoid


def without_perf():
    refuse_call(PERF_EVENT_OPEN, EPERM)


def test_what_root_needs_for_a_strangers_process():
    perf_event_paranoid()
    with strangers_target() as (program, pid):
        # Everything: time and pairs.
        report, said = recorded(program, [SYS_PTRACE], pid, "-d", 4, *MANY_SAMPLES)
        check(report["sampler"] == "clock" or report["sampler"].startswith("pmu:"), "sampler %s" % report["sampler"])
        followed = sum(line[kind]["sampled"] for line in report["lines"] for kind in ("loads", "stores"))
        check_sampled(report["samples"] > 10 and followed, "%d samples, %d followed: %s" %
                      (report["samples"], followed, said))
        check_sampled("backprop" in {line["function"].split(".")[-1] for line in report["lines"]}, "functions")
        # A dump, of a thread that runs.
        dump = json.loads(run(program, [SYS_PTRACE], "dump", "--pid", pid, "--json").stdout)
        check_sampled(any("backprop" in frame["function"] for frame in dump["threads"][0]["frames"]), "frames %s" % dump)
        # Time without perf events.
        report, said = recorded(program, [SYS_PTRACE], pid, "-d", 1.5, prepare=without_perf)
        check_equal(report["sampler"], "unstopped", "sampler")
        check_sampled(report["samples"] > 3, "%d samples" % report["samples"])
        # One less.
        for arguments in (("--pid", pid), ("dump", "--pid", pid), ("--pid", pid, "--mode", "time")):
            said = run(program, [], *arguments, code=4).stderr
            check("CAP_SYS_PTRACE" in said and "doctor" in said, said)
        said = run(program, [], "--pid", pid, code=4, prepare=without_perf).stderr
        check("CAP_SYS_PTRACE" in said, said)


def test_kernel_time_needs_perfmon():
    paranoid = perf_event_paranoid()
    with strangers_target() as (program, pid):
        refused, _ = recorded(program, [SYS_PTRACE], pid, "--mode", "time", "-d", 1)
        granted, _ = recorded(program, [SYS_PTRACE, PERFMON], pid, "--mode", "time", "-d", 1)
    check_equal(granted["kernel_time_refused"], False, "kernel time with CAP_PERFMON")
    check_equal(refused["kernel_time_refused"], paranoid > 1, "kernel time without")


def test_what_the_kernels_engine_needs():
    """As any user, since nobody is signalled; nothing is said of stops that cannot be."""
    with strangers_target() as (program, pid):
        for user in (None, STRANGER):
            arguments = ("--mode", "time", "--engine", "kernel", "-d", 1)
            report, said = recorded(program, [SYS_PTRACE, PERFMON, BPF], pid, *arguments, "--strict", user=user)
            check_equal(report["sampler"], "kernel", "the sampler")
            check("stopp" not in said, said)
            refused = run(program, [SYS_PTRACE, PERFMON], "--pid", pid, *arguments, user=user, code=4)
            check("CAP_BPF" in refused.stderr, refused.stderr)
        # The target's own user needs no CAP_SYS_PTRACE.
        report, _ = recorded(program, [PERFMON, BPF], pid, "--mode", "time", "-d", 1, user=nobody())
        check_equal(report["sampler"], "kernel", "what auto takes")


def test_what_an_ordinary_user_gets_from_sys_ptrace():
    """He may read another user's process, but the kernel passes none of his signals to it."""
    with strangers_target() as (program, pid):
        report, said = recorded(program, [SYS_PTRACE], pid, "-d", 1.5, user=STRANGER)
        check("delivers no signals" in said and "CAP_SYS_PTRACE" in said, said)
        check_equal(report["sampler"], "unstopped", "sampler")
        check_sampled(report["samples"] > 3, "%d samples" % report["samples"])
        said = run(program, [SYS_PTRACE], "--pid", pid, "--mode", "redundancy", user=STRANGER, code=4).stderr
        check("delivers no signals" in said, said)
        dump = json.loads(run(program, [SYS_PTRACE], "dump", "--pid", pid, "--json", user=STRANGER).stdout)
        check_equal(dump["threads"][0]["name"], "MainThread", "the first thread of the dump")
        said = run(program, [], "--pid", pid, user=STRANGER, code=4).stderr
        check("belongs to user" in said, said)


def mask_of(status, name="CapPrm"):
    return int(status[name], 16)


def test_given_up_while_recording():
    if os.geteuid() != 0:
        raise Skip("needs root to have anything to give up")
    all_held = mask_of(status_of(os.getpid()))
    with Target(default_interpreter(), "conv_backprop.py", "--seconds", 60) as target:
        with subprocess.Popen([PIEPROFD, "--pid", str(target.pid), "-d", "0", "-q"]) as daemon:
            try:
                wait_attached(target.pid)
                openers = 0
                for tid in os.listdir("/proc/%d/task" % daemon.pid):
                    status = status_of(daemon.pid, tid)
                    held = mask_of(status)
                    if status["Name"] == "impersonator":
                        # It opens files as the target's user, and has nothing for anything else.
                        openers += 1
                        check_equal(held & ~(SWITCHING | READING), 0, "of the thread that opens files")
                        check_equal(mask_of(status, "CapEff") & ~SWITCHING, 0, "effective there")
                        check_equal(held & SWITCHING, all_held & SWITCHING, "to open files")
                        continue
                    check_equal(held, mask_of(status, "CapEff"), "effective capabilities")
                    check_equal(status["NoNewPrivs"], "1", "NoNewPrivs")
                    if all_held & SYS_PTRACE_BIT:
                        check(held & SYS_PTRACE_BIT and held & DAC_OVERRIDE & all_held == DAC_OVERRIDE & all_held,
                              "kept: %x" % held)
                        # CAP_SYS_MODULE, CAP_NET_ADMIN, CAP_SETUID
                        check_equal(held & (1 << 16 | 1 << 12 | 1 << 7), 0, "given up")
                check_equal(openers, 1, "threads that open files")
            finally:
                daemon.terminate()
        target.check_undisturbed()


def test_command_keeps_all():
    script = ("print([line for line in open('/proc/self/status')"
              " if line.startswith(('Cap', 'NoNew', 'Seccomp', 'Uid', 'Groups'))])")
    command = [default_interpreter().path, "-c", script]
    bare = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    under = subprocess.run([PIEPROFD, "-q", "--", *command], capture_output=True, text=True, check=True).stdout
    check_equal(under, bare, "privileges of the command")


@contextlib.contextmanager
def recording():
    with tempfile.TemporaryDirectory(prefix="pieprofd-privileges-") as folder:
        path = os.path.join(folder, "x.pieprof")
        with Target(default_interpreter(), "conv_backprop.py", "--seconds", 60) as target:
            subprocess.run([PIEPROFD, "--pid", str(target.pid), "-d", "1", "-q", "-o", path], check=True)
        yield folder, path


def test_report_is_confined():
    """While it converts: no capability, and a filter; every format can be written all the same."""
    with recording() as (folder, path):
        outputs = []
        for name in ("txt", "html", "json", "folded", "pb.gz", "speedscope.json", "firefox.json", "sarif", "github.txt",
                     "md", "pieprof"):
            outputs += ["-o", os.path.join(folder, "y." + name)]
        subprocess.run([PIEPROFD, "report", path, *outputs], check=True)
        for output in outputs[1::2]:
            check(os.path.getsize(output) > 0, output)
        subprocess.run([PIEPROFD, "report", path, "--diff", outputs[-1]], check=True, stdout=subprocess.DEVNULL)
        # Sanitizers need more calls than a filter allows.
        filtered = "0" if sanitized() else "2"
        # It waits for somebody to read.
        fifo = os.path.join(folder, "fifo")
        os.mkfifo(fifo)
        with subprocess.Popen([PIEPROFD, "report", path, "--format", "json", "-o", fifo]) as converter:
            try:
                wait_until(lambda: status_of(converter.pid)["Seccomp"] == filtered and
                           status_of(converter.pid)["NoNewPrivs"] == "1" or
                           converter.poll() is not None, what="the filter")
                time.sleep(0.1)
                status = status_of(converter.pid)
            except BaseException:
                converter.kill()
                raise
            with open(fifo) as file:
                json.load(file)
            check_equal(converter.wait(), 0, "exit code")
        check_equal((mask_of(status), mask_of(status, "CapEff")), (0, 0), "capabilities")
        check_equal((status["NoNewPrivs"], status["Seccomp"]), ("1", filtered), "NoNewPrivs and Seccomp")


def test_report_of_somebody_elses_files():
    """Root reads a user's recording, and leaves the report to who called sudo; a user needs nothing."""
    user = nobody()
    with recording() as (folder, path), program_for_everyone() as program:
        shutil.chown(folder, user, user)
        shutil.chown(path, user, user)
        os.chmod(path, 0o600)
        for number, keywords in enumerate(({}, {"env": dict(os.environ, SUDO_UID=str(user), SUDO_GID=str(user))},
                                           {"user": user, "group": user, "extra_groups": []})):
            output = os.path.join(folder, "%d.json" % number)
            subprocess.run([program, "report", path, "-o", output], check=True, cwd="/", **keywords)
            check_equal(os.stat(output).st_uid, 0 if number == 0 else user, "owner of report %d" % number)


def refused(number, *arguments, error=EPERM):
    """How pieprofd ends where what it gives its privileges up with is refused; the call's name is among the cures."""
    run = subprocess.run([PIEPROFD, *map(str, arguments)], capture_output=True, text=True, timeout=60, check=False,
                         stdin=subprocess.DEVNULL, preexec_fn=lambda: refuse_call(number, error),
                         env=asan_options(NO_LEAK_DETECTION))
    check("privileges could not be given up: %s" % os.strerror(error) in run.stderr and "seccomp profile" in run.stderr,
          "%s: %d, %r" % (arguments, run.returncode, run.stderr))
    return run


def test_nothing_is_done_with_privileges_kept():
    """Who cannot give up what he may do ends, and says what to allow."""
    if os.geteuid() != 0:
        raise Skip("needs root to have anything to give up")
    python = default_interpreter().path
    with recording() as (folder, path), Target(default_interpreter(), "conv_backprop.py", "--seconds", 60) as target:
        output = os.path.join(folder, "out.json")
        # Filters may say that a call does not exist, too.
        for number in (CAPGET, CAPSET, PRCTL):
            refused(number, "list", error=ENOSYS)
        for number in (CAPSET, PRCTL):
            for arguments in (("--pid", target.pid, "-d", 1, "-o", output), ("dump", "--pid", target.pid), ("list",),
                              ("report", path, "-o", output),
                              ("serve", "--pid", target.pid, "--listen", "unix:" + os.path.join(folder, "socket"))):
                run = refused(number, *arguments)
                check_equal((run.returncode, run.stdout), (1, ""), "what %s ends with" % (arguments,))
                check_equal(os.listdir(folder), ["x.pieprof"], "files written")
            # A command has begun by then: it is not ended, and not left alone.
            for code, ours in ((7, 7), (0, 1)):
                run = refused(number, "-q", "--", python, "-c", "print('whole'); raise SystemExit(%d)" % code)
                check_equal((run.returncode, run.stdout), (ours, "whole\n"), "the command's end")
        if not sanitized():
            for arguments in (("report", path, "-o", output),
                              ("serve", "--pid", target.pid, "--listen", "unix:" + os.path.join(folder, "socket"))):
                check_equal(refused(SECCOMP, *arguments).returncode, 1, "exit code without a filter")
        target.check_undisturbed()
