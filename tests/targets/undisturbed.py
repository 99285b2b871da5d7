# SPDX-License-Identifier: Apache-2.0
"""Does one kind of thing over and over, and says at its end whether somebody disturbed it.

Whatever it does, it computes the same checksum again and again, one of its
threads waits in epoll_wait(2), which is not restarted, and counts EINTR, and
handlers count every signal that nobody here has sent. It ends when its
standard input does (--until-eof), or after --seconds.
"""
import argparse
import ctypes
import errno
import os
import signal
import subprocess
import sys
import threading
import time

import conv_backprop
import support
from blocking_read import EpollEvent

libc = ctypes.CDLL(None, use_errno=True)
libc.epoll_wait.argtypes = [ctypes.c_int, ctypes.POINTER(EpollEvent), ctypes.c_int, ctypes.c_int]
libc.dlclose.argtypes = [ctypes.c_void_p]

# Default action: ignore. The daemon's stop signal is one of them.
HARMLESS = (signal.SIGURG, signal.SIGWINCH, signal.SIGCHLD, signal.SIGCONT)
OWN = (signal.SIGURG, signal.SIGTRAP, signal.SIGCHLD)
ALL = set(range(1, signal.NSIG)) - {32, 33}  # without the C library's own
PERF_EVENT_OPEN = 298  # number of the system call, asm/unistd_64.h
WAIT_ALL = 0x40000000  # __WALL: children of clone() that send no SIGCHLD, too


class Sleeper(threading.Thread):
    """Counts the calls that were interrupted."""

    def __init__(self):
        super().__init__(daemon=True)
        self.interrupted = 0
        self.ended = False

    def run(self):
        # What is sent to the process goes to others.
        signal.pthread_sigmask(signal.SIG_BLOCK, ALL)
        event = EpollEvent()
        epoll = libc.epoll_create1(0)
        while not self.ended:
            if libc.epoll_wait(epoll, ctypes.byref(event), 1, 50) < 0:
                self.interrupted += ctypes.get_errno() == errno.EINTR


class Plain:
    """What is done between two computations, and what must hold then; here nothing."""

    used = ()  # signals that it handles by itself

    def __init__(self, problems):
        self.problems = problems
        self.steps = 0

    def begin(self):
        pass

    def step(self):
        pass

    def end(self):
        pass

    def check(self, condition, message):
        if not condition and len(self.problems) < 10:
            self.problems.append(message)


class Threads(Plain):
    """200 threads that are there at the same time, and end."""

    number = 200

    def step(self):
        done = []
        threads = [threading.Thread(target=lambda: done.append(sum(range(1000)))) for _ in range(self.number)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.check(done == [499500] * self.number, "threads computed something else")


class Workers(Plain):
    """Three more that do the same work all the time."""

    def begin(self):
        self.ended = False
        self.threads = [threading.Thread(target=self.work) for _ in range(3)]
        for thread in self.threads:
            thread.start()

    def work(self):
        compute = computation()
        while not self.ended:
            self.check(compute(), "a worker computed something else")

    def end(self):
        self.ended = True
        for thread in self.threads:
            thread.join()


class Fork(Plain):
    def step(self):
        pid = os.fork()
        if pid == 0:
            os._exit(sum(range(1000)) % 251)
        self.check(os.waitpid(pid, 0)[1] == (499500 % 251) << 8, "a child ended in another way")


class Spawn(Plain):
    """vfork(2) and exec, as the C library does it for posix_spawn."""

    def step(self):
        code = subprocess.call(["/bin/sh", "-c", "exit 7"], close_fds=False)
        self.check(code == 7, "a program ended with %r" % code)


class Clone(Plain):
    """Children by clone(2) itself, with and without a signal at their end."""

    # The child runs no Python: another thread may have held, or waited for, the GIL at its birth.
    stack = ctypes.create_string_buffer(1 << 16)

    def step(self):
        top = (ctypes.addressof(self.stack) + (1 << 16)) & ~15
        for flags in (signal.SIGCHLD, 0):
            pid = libc.clone(ctypes.cast(libc._exit, ctypes.c_void_p), ctypes.c_void_p(top), ctypes.c_int(flags),
                             ctypes.c_void_p(9))
            self.check(os.waitpid(pid, WAIT_ALL)[1] == 9 << 8, "a clone ended in another way")


class Exec(Plain):
    """Now and then becomes itself anew, from what it has counted."""

    def step(self):
        self.steps += 1
        if self.steps == 100:
            os.execv(sys.executable, [sys.executable] + [word for word in sys.argv if word != "--again"] + ["--again"])


class Signals(Plain):
    """All three interval timers, and a signal of its own to itself, a thousand times a second."""

    used = (signal.SIGALRM, signal.SIGVTALRM, signal.SIGPROF, signal.SIGUSR1)
    timers = (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF)

    def begin(self):
        self.handled = dict.fromkeys(self.used, 0)
        self.sent = 0
        for number in self.used:
            signal.signal(number, self.handle)
        for timer in self.timers:
            signal.setitimer(timer, 0.001, 0.001)

    def handle(self, number, frame):
        self.handled[number] += 1

    def step(self):
        # To a thread itself: handled before the call returns.
        signal.pthread_kill(threading.get_ident(), signal.SIGUSR1)
        self.sent += 1

    def end(self):
        for timer in self.timers:
            signal.setitimer(timer, 0)
        for number in self.used:
            self.check(self.handled[number], "no signal %d" % number)
        self.check(self.handled[signal.SIGUSR1] == self.sent,
                   "%d sent, %d handled" % (self.sent, self.handled[signal.SIGUSR1]))


class Handle(Plain):
    """Handles the signals that a tracer might use, and must see those of its own alone."""

    used = OWN

    def begin(self):
        self.read_end, write_end = os.pipe()
        os.set_blocking(self.read_end, False)
        os.set_blocking(write_end, False)
        for number in OWN:
            signal.signal(number, lambda number, frame: None)
        # A byte for each run of the handler in C.
        signal.set_wakeup_fd(write_end)

    def step(self):
        for number in OWN:
            signal.pthread_kill(threading.get_ident(), number)
        received = b""
        try:
            received = os.read(self.read_end, 4096)
        except BlockingIOError:
            pass
        self.check(received == bytes(OWN), "sent %r, received %r" % (bytes(OWN), received))


class Block(Plain):
    """Blocks them: what it sends stays pending, and nothing else does."""

    used = OWN

    def begin(self):
        signal.pthread_sigmask(signal.SIG_BLOCK, OWN)

    def step(self):
        number = OWN[self.steps % len(OWN)]
        self.steps += 1
        self.check(signal.sigpending() == set(), "pending: %r" % signal.sigpending())
        signal.pthread_kill(threading.get_ident(), number)
        self.check(signal.sigpending() == {number}, "pending: %r" % signal.sigpending())
        self.check(signal.sigwait([number]) == number, "another signal than was sent")


class Ignore(Plain):
    used = OWN

    def begin(self):
        # SIGCHLD ignored also means that children are not waited for.
        for number in OWN:
            signal.signal(number, signal.SIG_IGN)

    def step(self):
        for number in OWN:
            signal.pthread_kill(threading.get_ident(), number)


class Perf(Plain):
    """Counts with perf events of its own: two breakpoints and a clock.

    Where a hypervisor loses what a debug exception was for (attach/signal_origin.h), its own hits may be SIGTRAP,
    whether it is profiled or not.
    """

    used = (signal.SIGTRAP,)

    def begin(self):
        self.strays = 0
        signal.signal(signal.SIGTRAP, self.stray)
        self.value = ctypes.c_uint64(0)
        self.breakpoints = [self.open(5, 0, 3, ctypes.addressof(self.value)) for _ in range(2)]
        self.clock = self.open(1, 1, 0, 0)
        self.writes = [0, 0]
        self.time = 0

    def open(self, kind, config, breakpoint_type, address):
        attributes = bytearray(128)
        attributes[0:8] = kind.to_bytes(4, "little") + (128).to_bytes(4, "little")
        attributes[8:16] = config.to_bytes(8, "little")
        attributes[40:48] = (1 << 5 | 1 << 6).to_bytes(8, "little")  # exclude_kernel, exclude_hv
        attributes[52:56] = breakpoint_type.to_bytes(4, "little")
        attributes[56:64] = address.to_bytes(8, "little")
        attributes[64:72] = (8 if address else 0).to_bytes(8, "little")
        descriptor = libc.syscall(PERF_EVENT_OPEN, (ctypes.c_char * 128).from_buffer(attributes), 0, -1, -1, 0)
        self.check(descriptor >= 0, "no perf event: %s" % os.strerror(ctypes.get_errno()))
        return descriptor

    def stray(self, number, frame):
        self.strays += 1

    def step(self):
        strays = self.strays
        self.value.value += 1
        counts = [int.from_bytes(os.read(descriptor, 8), "little") for descriptor in self.breakpoints]
        now = int.from_bytes(os.read(self.clock, 8), "little")
        self.check(all(count > before for count, before in zip(counts, self.writes)) or self.strays > strays,
                   "a breakpoint was lost")
        self.check(now > self.time, "the clock stands still")
        self.writes, self.time = counts, now


class Trace(Plain):
    """Is a tracer by itself: stops a child of its own, lets it go on, ends it."""

    seize, interrupt, go_on = 0x4206, 0x4207, 7  # requests of linux/ptrace.h

    def ask(self, request, pid):
        result = libc.ptrace(ctypes.c_long(request), pid, ctypes.c_void_p(0), ctypes.c_void_p(0))
        self.check(result == 0, "ptrace: %s" % os.strerror(ctypes.get_errno()))

    def step(self):
        pid = os.fork()
        if pid == 0:
            while True:
                time.sleep(1)
        self.ask(self.seize, pid)
        self.ask(self.interrupt, pid)
        self.check(os.WIFSTOPPED(os.waitpid(pid, WAIT_ALL)[1]), "the child has not stopped")
        self.ask(self.go_on, pid)
        os.kill(pid, signal.SIGKILL)
        self.check(os.waitpid(pid, WAIT_ALL)[1] == signal.SIGKILL, "the child ended in another way")


class Load(Plain):
    """Loads a library and unloads it."""

    def step(self):
        library = ctypes.CDLL("libz.so.1" if os.path.exists("/lib/x86_64-linux-gnu/libz.so.1") else "libm.so.6")
        self.check(libc.dlclose(library._handle) == 0, "dlclose failed")


KINDS = {"plain": Plain, "threads": Threads, "workers": Workers, "fork": Fork, "spawn": Spawn, "clone": Clone,
         "exec": Exec, "signals": Signals, "handle": Handle, "block": Block, "ignore": Ignore, "perf": Perf,
         "trace": Trace, "load": Load, "leader": Plain}


def computation():
    """Computes the same thing at each call; whether it was the same."""
    layer, d = conv_backprop.make(size=8)
    expected = layer.backprop(d).tobytes()
    return lambda: layer.backprop(d).tobytes() == expected


def at_end():
    try:
        return os.read(0, 64) == b""
    except BlockingIOError:
        return False


def work(arguments, unexpected, sleeper):
    problems = []
    compute = computation()
    kind = KINDS[arguments.kind](problems)
    kind.begin()
    if arguments.until_eof:
        os.set_blocking(0, False)
    if not arguments.again:
        support.ready()
    end = time.monotonic() + arguments.seconds
    passes = 0
    while time.monotonic() < end and not (arguments.until_eof and at_end()):
        passes += 1
        kind.check(compute(), "computed another gradient")
        kind.step()
    kind.end()
    sleeper.ended = True
    sleeper.join()
    if unexpected:
        problems.append("unexpected signals: %s" % sorted(set(unexpected)))
    support.finish(arguments.kind, problems, "passes=%d eintr=%d unexpected=%d" % (
        passes, sleeper.interrupted, len(unexpected)))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kind", choices=sorted(KINDS), default="plain")
    parser.add_argument("--seconds", type=float, default=100000)
    parser.add_argument("--until-eof", action="store_true")
    parser.add_argument("--again", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()

    unexpected = []
    used = set(KINDS[arguments.kind].used) | set(HARMLESS) | {signal.SIGKILL, signal.SIGSTOP}
    for number in ALL - used:
        signal.signal(number, lambda number, frame: unexpected.append(number))
    sleeper = Sleeper()
    sleeper.start()
    if arguments.kind == "leader":
        # The process goes on without its first thread.
        def go_on():
            try:
                work(arguments, unexpected, sleeper)
                sys.stdout.flush()
                os._exit(0)
            except SystemExit:
                os._exit(1)

        threading.Thread(target=go_on).start()
        time.sleep(0.1)
        libc.pthread_exit(None)
    work(arguments, unexpected, sleeper)


if __name__ == "__main__":
    main()
