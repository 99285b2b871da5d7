# SPDX-License-Identifier: Apache-2.0
"""What `make install` installs, and that what is packed says the same as what is built."""
import glob
import os
import re
import shutil
import struct
import subprocess
import tempfile

from harness import PIEPROFD, ROOT, Skip, Target, check, check_equal, check_sampled, default_interpreter, status_of
from test_refusals import EPERM, set_filter
from test_serve import Server

PACKAGING = os.path.join(ROOT, ".packaging")


def installed_files(root):
    return {os.path.relpath(os.path.join(folder, name), root)
            for folder, _, names in os.walk(root) for name in names}


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def make(target, root, prefix):
    run = subprocess.run(
        ["make", "--no-print-directory", "O=" + os.path.dirname(PIEPROFD), "DESTDIR=" + root, "PREFIX=" + prefix,
         "--old-file=" + PIEPROFD, target],
        cwd=ROOT, capture_output=True, text=True, check=False,
        env={name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")})
    check_equal(run.returncode, 0, "exit code of make %s, which said %r" % (target, run.stderr))


def test_install_and_uninstall():
    root = tempfile.mkdtemp(prefix="pieprofd-test-")
    pages = {"share/man/man%s/%s" % (path[-1], os.path.basename(path)) for path in glob.glob(ROOT + "/man/*.[58]")}
    check(len(pages) >= 8, "pages: %s" % pages)
    try:
        make("install", root, "/usr")
        wanted = pages | {
            "bin/pieprofd",
            "lib/systemd/system/pieprofd@.service",
            "share/bash-completion/completions/pieprofd",
            "share/fish/vendor_completions.d/pieprofd.fish",
            "share/pieprofd/seccomp.json",
            "share/zsh/site-functions/_pieprofd",
        }
        check_equal(installed_files(root), {"usr/" + name for name in wanted}, "the files installed")
        program = os.path.join(root, "usr/bin/pieprofd")
        for name in wanted:
            mode = os.stat(os.path.join(root, "usr", name)).st_mode & 0o777
            check_equal(mode, 0o755 if name.startswith("bin/") else 0o644, "mode of " + name)
        check("ExecStart=/usr/bin/pieprofd " in read(root, "usr/lib/systemd/system/pieprofd@.service"), "ExecStart")
        with Target(default_interpreter(), "conv_backprop.py", "--seconds", 60) as target:
            run = subprocess.run([program, "--pid", str(target.pid), "-d", "2", "--mode", "time"],
                                 capture_output=True, text=True, check=False)
            check_equal(run.returncode, 0, "exit code of the installed program, which said %r" % run.stderr)
            check_sampled("backprop" in run.stdout, "the installed program found nothing")
        make("uninstall", root, "/usr")
        check_equal(installed_files(root), set(), "what uninstall has left")
    finally:
        shutil.rmtree(root)


def test_version_is_one():
    version = re.search(r"^VERSION := (.*)$", read(ROOT, "Makefile"), re.M).group(1)
    run = subprocess.run([PIEPROFD, "--version"], capture_output=True, text=True, check=True)
    check_equal(run.stdout, "pieprofd %s\n" % version, "--version")
    for path in glob.glob(PACKAGING + "/kubernetes/*.yaml"):
        for tag in re.findall(r"/pieprofd:([\w.]+)", read(path)):
            check_equal(tag, version, "the image's version in " + os.path.basename(path))


def test_build_dependencies():
    wanted = re.search(r"^build='(.*)'$", read(ROOT, ".ci", "install-packages"), re.M).group(1).split()
    control = read(PACKAGING, "debian", "control")
    field = re.search(r"^Build-Depends:\n((?: .*\n)+)", control, re.M).group(1)
    packages = {word.split()[0] for word in field.replace("\n", "").split(",") if word.strip()}
    # Every Debian package may take build-essential for granted.
    check_equal(packages - {"debhelper-compat"}, set(wanted) - {"build-essential"}, "Build-Depends")


def permit_calls(numbers):
    """From now on, in this process and its children, all other system calls fail with EPERM."""
    # struct sock_filter of linux/filter.h: load the number; for each permitted one compare, return; EPERM.
    program = struct.pack("=HBBI", 0x20, 0, 0, 0)
    for number in sorted(numbers):
        program += struct.pack("=HBBI", 0x15, 0, 1, number) + struct.pack("=HBBI", 0x06, 0, 0, 0x7FFF0000)
    program += struct.pack("=HBBI", 0x06, 0, 0, 0x00050000 | EPERM)
    set_filter(program)


def calls_of_the_unit(unit):
    """Numbers of the system calls that systemd permits for it."""
    if not shutil.which("systemd-analyze"):
        raise Skip("needs root and systemd-analyze")
    with open("/usr/include/x86_64-linux-gnu/asm/unistd_64.h", encoding="ascii") as file:
        known = {name: int(number) for name, number in re.findall(r"#define __NR_(\w+) (\d+)", file.read())}
    permitted, todo = set(), re.search(r"^SystemCallFilter=(.*)$", unit, re.M).group(1).split() + ["@default"]
    while todo:
        word = todo.pop()
        if word in permitted:
            continue
        permitted.add(word)
        if word.startswith("@"):
            run = subprocess.run(["systemd-analyze", "syscall-filter", word], capture_output=True, text=True, check=True)
            todo += re.findall(r"^ +([@\w-]+)", run.stdout, re.M)
    return {known[word] for word in permitted if word in known}


def test_service_under_the_filter_of_the_unit():
    """The page is made by a thread that sets a filter of its own, which takes a system call, too."""
    numbers = calls_of_the_unit(read(PACKAGING, "systemd", "pieprofd@.service.in"))
    with Target(default_interpreter(), "conv_backprop.py", "--seconds", 60) as target:
        with Server(target.pid, prepare=lambda: permit_calls(numbers)) as server:
            check(b"<html" in server.get("/?seconds=1"), "the page")
            modes = set()
            for tid in os.listdir("/proc/%d/task" % server.process.pid):
                try:
                    modes.add(status_of(server.process.pid, tid)["Seccomp_filters"])
                except (FileNotFoundError, ProcessLookupError):
                    pass  # one that answered has ended
            check_equal(sorted(modes), ["1", "2"], "filters of its threads")
            server.finish()


def test_unit_permits_what_is_called():
    """The system calls, capabilities and options that the service would fail without, and no others."""
    unit = read(PACKAGING, "systemd", "pieprofd@.service.in")
    settings = dict(line.split("=", 1) for line in unit.splitlines() if re.match(r"[A-Z]\w+=", line))
    calls = set(settings["SystemCallFilter"].split())
    check({"ptrace", "process_vm_readv", "perf_event_open", "bpf", "mincore", "seccomp", "@system-service"} <= calls, "calls: %s" % calls)
    for name in ("CapabilityBoundingSet", "AmbientCapabilities"):
        check_equal(set(settings[name].split()), {"CAP_" + word for word in (
            "SYS_PTRACE", "PERFMON", "BPF", "SYS_NICE", "DAC_READ_SEARCH", "CHECKPOINT_RESTORE", "SETUID", "SETGID")}, name)
    for name in ("ProcSubset", "PrivateUsers", "RestrictRealtime", "CPUQuota"):
        check(name not in settings, "%s breaks it" % name)
