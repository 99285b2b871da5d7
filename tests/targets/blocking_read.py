# SPDX-License-Identifier: Apache-2.0
"""A thread that blocks in a system call nearly all the time, and must never see EINTR.

Calls the C library itself: Python would hide EINTR and call again (PEP 475).
The main thread works meanwhile and now and then writes a byte for the other.
"""
import argparse
import ctypes
import errno
import os
import threading
import time

import conv_backprop
import support

libc = ctypes.CDLL(None, use_errno=True)
libc.read.restype = ctypes.c_ssize_t
libc.read.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t]


class EpollEvent(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"  # what _pack_ means; 3.14 wants it said
    _fields_ = [("events", ctypes.c_uint32), ("data", ctypes.c_uint64)]


libc.epoll_wait.argtypes = [ctypes.c_int, ctypes.POINTER(EpollEvent), ctypes.c_int, ctypes.c_int]

EPOLLIN = 1
EPOLL_CTL_ADD = 1


def read_all(descriptor, call, result):
    buffer = ctypes.create_string_buffer(1)
    event = EpollEvent()
    epoll = libc.epoll_create1(0)
    event.events = EPOLLIN
    libc.epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, ctypes.byref(event))
    while True:
        # Unlike read(2), epoll_wait(2) is not restarted after a stop.
        if call == "epoll_wait":
            count = libc.epoll_wait(epoll, ctypes.byref(event), 1, -1)
            if count < 0:
                result["errors"].append(ctypes.get_errno())
                continue
        count = libc.read(descriptor, buffer, 1)
        if count < 0:
            result["errors"].append(ctypes.get_errno())
            if len(result["errors"]) > 1000:
                return
        elif count == 0:
            return
        else:
            result["bytes"] += 1


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--call", choices=["read", "epoll_wait"], default="read")
    arguments = parser.parse_args()

    read_end, write_end = os.pipe()
    result = {"bytes": 0, "errors": []}
    thread = threading.Thread(target=read_all, args=(read_end, arguments.call, result))
    thread.start()
    layer, d = conv_backprop.make()

    support.ready()
    written = 0
    end = time.monotonic() + arguments.seconds
    while written == 0 or time.monotonic() < end:
        for _ in range(10):
            layer.backprop(d)
        written += os.write(write_end, b"x")
    os.close(write_end)
    thread.join()

    problems = []
    interrupted = result["errors"].count(errno.EINTR)
    if interrupted:
        problems.append("%s saw EINTR %d times" % (arguments.call, interrupted))
    if len(result["errors"]) > interrupted:
        problems.append("other errors: %s" % sorted(set(result["errors"])))
    if result["bytes"] != written:
        problems.append("%d bytes written, %d read" % (written, result["bytes"]))
    support.finish("blocking_read", problems, "eintr=%d bytes=%d" % (interrupted, written))


if __name__ == "__main__":
    main()
