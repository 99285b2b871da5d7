# SPDX-License-Identifier: Apache-2.0
"""Files that a target has mapped change while they are read: truncated, rewritten, grown, replaced, a sparse 1 TB."""
import concurrent.futures
import contextlib
import gzip
import json
import os
import random
import shutil
import signal
import struct
import subprocess
import tempfile
import threading
import time

from harness import (Child, Daemon, check, check_equal, check_sampled, default_interpreter, pieprofd, sanitized,
                     status_of, wait_attached)
from test_serve import Server
from test_serve_several import await_processes

# Enough functions that symbols and DWARF take many pages behind what the loader maps.
LIBRARY = """
static volatile unsigned long sink;
__attribute__((noinline)) unsigned long churn(unsigned long n)
{
    for (unsigned long i = 0; i < n; i++)
        sink += i * i;
    return sink;
}
%s
""" % "\n".join("unsigned long a_function_that_nobody_calls_%d(unsigned long x) { return x * %dul; }" % (i, i)
                for i in range(3000))

# `busy` runs in the first library, whose symbols are read at the end; the second is mapped executable, but never run.
TARGET = """
import ctypes, mmap, os, sys

def churn_forever():
    parent = os.getppid()
    while os.getppid() == parent:
        library.churn(100000)

def healthy_work():
    parent = os.getppid()
    while os.getppid() == parent:
        sum(range(1000))

def idle_mapping(path):
    # In a region of its own: mmap's own object would be sized by the file at each use.
    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
    with open(path, "rb") as file:
        libc.mmap(None, os.path.getsize(path), 5, 2, file.fileno(), 0)

library = ctypes.PyDLL(sys.argv[1])
idle_mapping(sys.argv[2])
if len(sys.argv) > 3:
    if os.fork() == 0:
        healthy_work()
        os._exit(0)
print("ready", flush=True)
churn_forever()
"""

TERABYTE = 1 << 40


def loaded_size(path):
    """Where the part of a file ends that the loader has mapped, in whole pages."""
    with open(path, "rb") as file:
        header = file.read(64)
        offset, = struct.unpack_from("<Q", header, 32)
        count, = struct.unpack_from("<H", header, 56)
        file.seek(offset)
        headers = [struct.unpack_from("<IIQQQQ", file.read(56)) for _ in range(count)]
    return max(-(-(offset + size) // 4096) * 4096 for kind, _, offset, _, _, size in headers if kind == 1)


class Changing(Child):
    """A program busy in a library of its own; `path` and `idle` are its files, which nobody else uses."""

    def __init__(self, folder, *words):
        self.path = os.path.join(folder, "libchanging.so")
        self.idle = os.path.join(folder, "libidle.so")
        self.original = os.path.join(folder, "original.so")
        shutil.copy(self.original, self.path)
        shutil.copy(self.original, self.idle)
        self.loaded = loaded_size(self.path)
        self.process = subprocess.Popen([default_interpreter().path, "-c", TARGET, self.path, self.idle, *words],
                                        stdout=subprocess.PIPE, text=True)
        self.pid = self.process.pid
        check_equal(self.process.stdout.readline(), "ready\n", "the target's first line")

    def check_unharmed(self):
        check_equal(self.process.poll(), None, "the target's exit code")
        check_equal(status_of(self.pid)["TracerPid"], "0", "TracerPid")


@contextlib.contextmanager
def folder_of_library():
    with tempfile.TemporaryDirectory(prefix="pieprofd-changing-") as folder:
        source = os.path.join(folder, "library.c")
        with open(source, "w") as file:
            file.write(LIBRARY)
        subprocess.run(["cc", "-g", "-O1", "-shared", "-fPIC", "-o", os.path.join(folder, "original.so"), source],
                       check=True)
        yield folder


# What is done to the library that the target runs: all behind what the loader has mapped, so the target never notices.

def truncate(target):
    os.truncate(target.path, target.loaded)


def truncate_in_a_section(target):
    os.truncate(target.path, (target.loaded + os.path.getsize(target.path)) // 2 + 5)


def rewrite(target):
    size = os.path.getsize(target.path)
    with open(target.path, "r+b") as file:
        file.seek(target.loaded)
        file.write(random.Random(1).randbytes(size - target.loaded))


def grow(target):
    with open(target.path, "ab") as file:
        file.write(b"\xff" * (1 << 20))


def replace(target):
    other = target.path + ".new"
    with open(other, "wb") as file:
        file.write(b"\x7fELF")
    os.replace(other, target.path)


def make_sparse(target):
    os.truncate(target.path, TERABYTE)


# And to the one that is only mapped: any part of it.

def empty_idle(target):
    os.truncate(target.idle, 0)


def cut_idle_in_header(target):
    os.truncate(target.idle, 37)


CHANGES = (truncate, truncate_in_a_section, rewrite, grow, replace, make_sparse, empty_idle, cut_idle_in_header)
# Names are gone with these; with the others the profile is as if nothing had happened.
LOSING = (truncate, truncate_in_a_section)


def record_and_change(target, change, folder):
    path = os.path.join(folder, "x.json")
    with Daemon("--pid", target.pid, "-d", 2, "--native-lines", "--details", "-o", path, "-o",
                os.path.join(folder, "x.html")) as daemon:
        wait_attached(target.pid)
        change(target)
        daemon.finish()
    with open(path) as file:
        return json.load(file), daemon.stdout


def test_record():
    """A file changes between attaching, when it is mapped, and the end, when its names are read."""
    with folder_of_library() as folder:
        for change in CHANGES:
            with Changing(folder) as target:
                report, text = record_and_change(target, change, folder)
                target.check_unharmed()
            lost = report["losses"].get("file_lost", 0)
            check_equal(lost > 0, change in LOSING, "files lost by %s" % change.__name__)
            check_equal("cut short" in text, change in LOSING, "the text report says so")
            check_sampled(report["samples"] > 5, "%d samples with %s" % (report["samples"], change.__name__))
            if change not in LOSING + (rewrite,):
                check_sampled(any(line["function"] == "churn_forever" for line in report["lines"]), report["lines"][:5])


def test_changed_before():
    """What is wrong with a file when it is opened: refused at once, in little memory."""
    with folder_of_library() as folder:
        for change in CHANGES:
            with Changing(folder) as target:
                change(target)
                began = time.monotonic()
                with Daemon("--pid", target.pid, "-d", 1, "--native-lines", "--details") as daemon:
                    wait_attached(target.pid)
                    memory = int(status_of(daemon.process.pid)["VmHWM"].split()[0])
                    daemon.finish()
                check(time.monotonic() - began < 30, "%s: %g s" % (change.__name__, time.monotonic() - began))
                check(memory < 200000 or sanitized(), "%s: %d KB" % (change.__name__, memory))
                check("churn_forever" in pieprofd("dump", "--pid", target.pid).stdout, "no stack with " + change.__name__)
                target.check_unharmed()


@contextlib.contextmanager
def mutating(target):
    """A thread that goes on changing what the target does not run, as fast as it can."""
    chance = random.Random(7)
    with open(target.original, "rb") as file:
        whole = file.read()
    ends = threading.Event()
    counts = []

    def mutate(path, first):
        done = 0
        with open(path, "r+b", buffering=0) as file:
            while not ends.is_set():
                done += 1
                act = chance.randrange(6)
                at = chance.randrange(first, len(whole))
                if act == 0:
                    file.truncate(at)
                elif act == 1:
                    file.seek(first)
                    file.write(whole[first:])
                elif act == 2:
                    file.truncate(TERABYTE)
                    file.truncate(len(whole))
                else:
                    file.seek(at)
                    file.write(chance.randbytes(chance.choice((1, 8, 500))))
        counts.append(done)

    threads = [threading.Thread(target=mutate, args=(target.path, target.loaded)),
               threading.Thread(target=mutate, args=(target.idle, 0))]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        ends.set()
        for thread in threads:
            thread.join()
    check_equal(len(counts), len(threads), "writers that went on to the end")
    check(min(counts) > 100, "changes: %s" % counts)


def test_mutated():
    """Files that change all the time, under every command that reads them."""
    with folder_of_library() as folder, Changing(folder) as target:
        end = time.monotonic() + float(os.environ.get("PIEPROFD_TEST_MUTATE_SECONDS", "10"))
        with mutating(target):
            while time.monotonic() < end:
                check("churn_forever" in pieprofd("dump", "--pid", target.pid).stdout, "no stack")
                pieprofd("dump", "--pid", target.pid, "--json")
                with Daemon("--pid", target.pid, "-d", 0.5, "--native-lines", "--details", "-o", folder + "/x.html") as daemon:
                    _, said = daemon.process.communicate(timeout=120)
                    # A busy machine may give the target no time at all.
                    check(daemon.process.returncode in (0, 6), "code %d: %s" % (daemon.process.returncode, said))
                pieprofd("doctor", "--pid", target.pid)
                pieprofd("list")
        target.check_unharmed()


def test_serve():
    """Of two processes served, one cuts its library short; the server and the other one's profile know nothing of it."""
    with folder_of_library() as folder, Changing(folder, "with a child") as target:
        with Server(target.pid, "--follow", "--mode", "time", listen="unix:" + folder + "/s") as server:
            await_processes(server, 2)
            for change in (truncate_in_a_section, empty_idle, truncate, make_sparse):
                with concurrent.futures.ThreadPoolExecutor(1) as pool:
                    window = pool.submit(server.get, "/debug/pprof/profile?seconds=2")
                    time.sleep(0.5)
                    change(target)
                    # Not by go tool pprof: it would read the terabyte.
                    raw = gzip.decompress(window.result())
                check_sampled(b"healthy_work" in raw and b"churn_forever" in raw, "a process is not in the profile")
                check_equal(server.get("/healthz"), b"sampling\n", "/healthz")
                server.get("/")
            report = json.loads(server.get("/control/snapshot?format=json", method="POST"))
            check_equal(len(report["processes"]), 2, "processes")
            server.finish()
        target.check_unharmed()


def test_interpreter():
    """The interpreter's own file is replaced, and removed; the kernel lets nobody write it while it runs."""
    interpreter = default_interpreter()
    with tempfile.TemporaryDirectory(prefix="pieprofd-changing-") as folder:
        path = shutil.copy(interpreter.path, os.path.join(folder, "python"))
        with subprocess.Popen([path, "-c", "print('ready', flush=True)\nwhile True: sum(range(1000))"],
                              stdout=subprocess.PIPE, text=True,
                              env=dict(os.environ, PYTHONHOME=interpreter.prefix)) as process:
            try:
                check_equal(process.stdout.readline(), "ready\n", "the target's first line")
                for change in (lambda: shutil.move(folder + "/other", path), lambda: os.remove(path)):
                    shutil.copy("/dev/null", folder + "/other")
                    with Daemon("--pid", process.pid, "-d", 1, "--native-lines", "--details") as daemon:
                        wait_attached(process.pid)
                        change()
                        daemon.finish()
                    check_sampled("<module>" in daemon.stdout, daemon.stdout[:2000])
                    check("<module>" in pieprofd("dump", "--pid", process.pid).stdout, "no stack")
                    check_equal(process.poll(), None, "the target's exit code")
            finally:
                process.send_signal(signal.SIGKILL)
