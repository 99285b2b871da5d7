# SPDX-License-Identifier: Apache-2.0
"""What the kernel can forbid: each refusal names its cause and its cure, and the target is left alone.

The kernel's settings are not changed. What they forbid is refused by a seccomp
filter around the daemon instead, and the setting it then reads is a file over
/proc/sys/kernel in a mount namespace of its own.
"""
import contextlib
import ctypes
import os
import shutil
import struct
import subprocess
import tempfile

from harness import (NO_LEAK_DETECTION, PIEPROFD, Skip, Target, asan_options, check, check_equal, default_interpreter,
                     find_interpreters, nobody, pieprofd, show_to_everyone)

PTRACE, PERF_EVENT_OPEN, PROCESS_VM_READV = 101, 298, 310  # numbers of system calls, asm/unistd_64.h
EPERM, ENOSYS = 1, 38


def libc():
    return ctypes.CDLL(None, use_errno=True)


def checked(result):
    if result != 0:
        raise OSError(ctypes.get_errno(), "the restriction could not be set up")


def set_filter(program):
    """Of system calls: instructions of struct sock_filter, linux/filter.h."""
    buffer = ctypes.create_string_buffer(program)

    class Filter(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("program", ctypes.c_void_p))

    checked(libc().prctl(38, 1, 0, 0, 0))  # PR_SET_NO_NEW_PRIVS
    length = len(program) // 8
    checked(libc().prctl(22, 2, ctypes.byref(Filter(length, ctypes.addressof(buffer))), 0, 0))  # PR_SET_SECCOMP


def refuse_call(number, error):
    """From now on, in this process and its children, the system call fails."""
    # Load the number, compare, return.
    set_filter(b"".join(struct.pack("=HBBI", *instruction) for instruction in (
        (0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, 0x00050000 | error), (0x06, 0, 0, 0x7FFF0000))))


def pretend_settings(settings):
    """Files over /proc/sys/kernel, which only this process and its children see."""
    checked(libc().unshare(0x00020000))  # CLONE_NEWNS
    checked(libc().mount(b"none", b"/", None, 0x44000, None))  # MS_REC | MS_PRIVATE
    checked(libc().mount(b"none", b"/proc/sys/kernel", b"tmpfs", 0, None))
    for name, value in settings.items():
        path = os.path.join("/proc/sys/kernel", name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write("%s\n" % value)


@contextlib.contextmanager
def program_for_everyone():
    folder = tempfile.mkdtemp(prefix="pieprofd-refusal-")
    try:
        program = shutil.copy(PIEPROFD, folder)
        show_to_everyone(folder)
        yield program
    finally:
        shutil.rmtree(folder)


def restricted(arguments, restrict, user=None):
    """A daemon whose process was restricted before it began, when it has ended."""

    def prepare():
        restrict()
        if user is not None:
            os.setgroups([])
            os.setgid(user)
            os.setuid(user)

    with program_for_everyone() as program:
        try:
            return subprocess.run([program] + [str(argument) for argument in arguments], capture_output=True,
                                  text=True, cwd="/", preexec_fn=prepare, check=False,
                                  env=asan_options(NO_LEAK_DETECTION))
        except subprocess.SubprocessError:
            raise Skip("needs root to restrict the daemon")


def refusal(pid, restrict, code, user=None, mode="all"):
    """What it says when it refuses."""
    run = restricted(["--pid", pid, "-d", 2, "--mode", mode], restrict, user)
    check_equal(run.returncode, code, "exit code, with %r" % run.stderr)
    check_equal(run.stdout, "", "stdout")
    if code == 4:
        check("pieprofd doctor" in run.stderr, run.stderr)
    return run.stderr


@contextlib.contextmanager
def sleeping_target(user):
    """The system's python as an ordinary user; attaching fails before anything of it is read."""
    python = next((i.path for i in find_interpreters() if i.path.startswith("/usr/")), None)
    if not python:
        raise Skip("needs root and an interpreter which every user may start")
    process = subprocess.Popen([python, "-c", "import time; print('ready', flush=True); time.sleep(60)"],
                               stdout=subprocess.PIPE, user=user, group=user, cwd="/")
    try:
        check_equal(process.stdout.readline(), b"ready\n", "the target's first line")
        yield process.pid
        check_equal(process.poll(), None, "the target's exit code")
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def test_perf_refused():
    with Target(find_interpreters()[0], "conv_backprop.py", "--seconds", 60) as target:
        said = refusal(target.pid, lambda: refuse_call(PERF_EVENT_OPEN, ENOSYS), 4, mode="redundancy")
        check("perf" in said and "seccomp" in said and "PERFMON" in said, said)
        target.check_undisturbed()


def test_perf_forbidden_to_users():
    user = nobody()
    with sleeping_target(user) as pid:
        said = refusal(pid, lambda: (pretend_settings({"perf_event_paranoid": 3}),
                                     refuse_call(PERF_EVENT_OPEN, EPERM)), 4, user, "redundancy")
    check("perf_event_paranoid=2 (it is 3)" in said, said)


def test_perf_forbidden_in_a_container():
    user = nobody()
    with sleeping_target(user) as pid:
        said = refusal(pid, lambda: (pretend_settings({"perf_event_paranoid": 2}),
                                     refuse_call(PERF_EVENT_OPEN, EPERM)), 4, user, "redundancy")
    check("--cap-add PERFMON" in said, said)


def test_yama():
    user = nobody()
    for scope, words in ((1, ("its ancestors", "kernel.yama.ptrace_scope=0")),
                         (2, ("CAP_SYS_PTRACE", "kernel.yama.ptrace_scope=0")),
                         (3, ("switched off", "reboot"))):
        with sleeping_target(user) as pid:
            settings = {"yama/ptrace_scope": scope, "perf_event_paranoid": 2}
            said = refusal(pid, lambda settings=settings: (pretend_settings(settings), refuse_call(PTRACE, EPERM)),
                           4, user)
        check(all(word in said for word in words), said)


def test_yama_refuses_memory():
    """As it does: the map of a process can be read, its memory by no system call and no file."""
    user = nobody()

    def restrict(pid):
        pretend_settings({"yama/ptrace_scope": 1, "perf_event_paranoid": 2})
        # Nobody may open what lies over the target's memory.
        secret = "/proc/sys/kernel/secret"
        os.close(os.open(secret, os.O_CREAT | os.O_WRONLY, 0o600))
        checked(libc().mount(secret.encode(), b"/proc/%d/mem" % pid, None, 0x1000, None))  # MS_BIND
        refuse_call(PTRACE, EPERM)
        refuse_call(PROCESS_VM_READV, EPERM)

    for mode in ("all", "time"):
        with sleeping_target(user) as pid:
            said = refusal(pid, lambda pid=pid: restrict(pid), 4, user, mode)
        check("its ancestors" in said and "kernel.yama.ptrace_scope=0" in said, said)


def test_ptrace_refused():
    with Target(find_interpreters()[0], "conv_backprop.py", "--seconds", 60) as target:
        said = refusal(target.pid, lambda: refuse_call(PTRACE, EPERM), 4)
        check("SYS_PTRACE" in said, said)
        target.check_undisturbed()


def program_of_32_bits(path):
    """An i386 ELF file which only calls pause(2), for ever."""
    code = b"\xb8\x1d\x00\x00\x00\xcd\x80\xeb\xf7"
    base, start = 0x08048000, 52 + 32
    header = struct.pack("<16sHHIIIIIHHHHHH", b"\x7fELF\x01\x01\x01", 2, 3, 1, base + start, 52, 0, 0, 52, 32, 1,
                         0, 0, 0)
    segment = struct.pack("<8I", 1, 0, base, base, start + len(code), start + len(code), 5, 0x1000)
    with open(path, "wb") as file:
        file.write(header + segment + code)
    os.chmod(path, 0o755)


def test_32_bit():
    folder = tempfile.mkdtemp(prefix="pieprofd-refusal-")
    try:
        path = os.path.join(folder, "small")
        program_of_32_bits(path)
        try:
            process = subprocess.Popen([path])
        except OSError as error:
            raise Skip("needs root or a kernel that runs 32-bit programs: %s" % error)
        try:
            said = refusal(process.pid, lambda: None, 3)
            check("not a 64-bit program" in said and "x86-64" in said, said)
            check_equal(process.poll(), None, "the target's exit code")
        finally:
            process.kill()
            process.wait()
    finally:
        shutil.rmtree(folder)


@contextlib.contextmanager
def evil_program(program, *words, **environ):
    """A copy of a program whose name clears the screen and goes on in another line."""
    with tempfile.TemporaryDirectory(prefix="pieprofd-refusal-") as folder:
        path = shutil.copy(program, os.path.join(folder, "\033[2J\npieprofd: all is well\u202e"))
        process = subprocess.Popen([path, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                   env=dict(os.environ, **environ))
        try:
            process.stdin.write("ready\n")
            process.stdin.flush()
            check_equal(process.stdout.readline(), "ready\n", "what it has read")
            yield process.pid
            check_equal(process.poll(), None, "its exit code")
        finally:
            process.kill()
            process.communicate()


def check_is_printable(said):
    check("all is well" in said, said)
    check("\033" not in said and "\u202e" not in said and "\npieprofd: all" not in said, repr(said))


def test_names_in_what_is_said():
    """Programs, and with -v interpreters: a terminal obeys none of their names."""
    with evil_program(shutil.which("cat")) as pid:
        check_is_printable(pieprofd("--pid", pid, code=3).stderr)
        check_is_printable(pieprofd("dump", "--pid", pid, code=3).stderr)
    python = os.path.realpath(default_interpreter().path)
    home = subprocess.run([python, "-c", "import sys; print(sys.base_prefix)"], capture_output=True, text=True,
                          check=True).stdout.strip()
    with evil_program(python, "-S", "-c", "print(input(), flush=True)\nwhile True: sum(range(1000))", PYTHONHOME=home) as pid:
        check_is_printable(pieprofd("-v", "--pid", pid, "-d", 0.2, "--mode", "time").stderr)
