# SPDX-License-Identifier: Apache-2.0
"""Works in a thread, and from a given moment on in another one behind whose stack lies a page that nobody delivers.

Whoever reads it waits in the kernel, for ever, and no signal but a deadly one
ends that wait: the page is registered with a userfaultfd(2) that is not read.
The moment is the first line of standard input, the end of which is ours. The
target itself never touches the page.
"""
import ctypes
import os
import sys
import threading
import time

import support

STACK_BYTES, HELD_BYTES = 1 << 20, 64 << 10
PROT_READ_WRITE, MAP_PRIVATE_ANONYMOUS, MADV_DONTNEED = 3, 0x22, 4
SYS_USERFAULTFD = 323  # asm/unistd_64.h
UFFDIO_API, UFFDIO_REGISTER = 0xC018AA3F, 0xC020AA00  # linux/userfaultfd.h
UFFD_API, MODE_MISSING = 0xAA, 1

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
libc.ioctl.argtypes = [ctypes.c_int, ctypes.c_ulong, ctypes.c_void_p]
libc.pthread_attr_setstack.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]
libc.pthread_join.argtypes = [ctypes.c_ulong, ctypes.c_void_p]


def hold(address):
    """From now on nobody delivers these pages. False: not possible here."""
    descriptor = libc.syscall(SYS_USERFAULTFD, os.O_CLOEXEC)
    api = (ctypes.c_uint64 * 3)(UFFD_API, 0, 0)
    register = (ctypes.c_uint64 * 4)(address, HELD_BYTES, MODE_MISSING, 0)
    libc.madvise(address, HELD_BYTES, MADV_DONTNEED)
    return (descriptor >= 0 and libc.ioctl(descriptor, UFFDIO_API, api) == 0 and
            libc.ioctl(descriptor, UFFDIO_REGISTER, register) == 0)


def map_stack():
    """And what is to be held behind it."""
    return libc.mmap(None, STACK_BYTES + HELD_BYTES, PROT_READ_WRITE, MAP_PRIVATE_ANONYMOUS, -1, 0)


class Worker:
    """The same computation again and again, in a thread with a stack of our own making."""

    def __init__(self, stack):
        self.rounds = 0
        self.wrong = 0
        self.ended = False
        self.entry = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(self.run)
        self.thread = ctypes.c_ulong()
        attributes = ctypes.create_string_buffer(64)
        libc.pthread_attr_init(attributes)
        libc.pthread_attr_setstack(attributes, stack, STACK_BYTES)
        libc.pthread_create(ctypes.byref(self.thread), attributes, self.entry, None)

    def run(self, _):
        while not self.ended:
            self.wrong += sum(number * number for number in range(1000)) != 332833500
            self.rounds += 1


def main():
    workers = [Worker(map_stack())]
    support.ready()
    problems = []
    if sys.stdin.readline():
        stack = map_stack()
        print("held" if hold(stack + STACK_BYTES) else "refused", flush=True)
        workers.append(Worker(stack))
        sys.stdin.read()
        # Whoever was held up is gone: both must go on.
        before = [worker.rounds for worker in workers]
        end = time.monotonic() + 20
        while not all(worker.rounds > rounds for worker, rounds in zip(workers, before)) and time.monotonic() < end:
            time.sleep(0.01)
        if not all(worker.rounds > rounds for worker, rounds in zip(workers, before)):
            problems.append("a thread stands still")
    for worker in workers:
        worker.ended = True
        libc.pthread_join(worker.thread, None)
        if worker.wrong:
            problems.append("%d sums were wrong" % worker.wrong)
    support.finish("held_page", problems, "threads=%d" % threading.active_count())


if __name__ == "__main__":
    main()
