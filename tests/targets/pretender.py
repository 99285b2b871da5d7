# SPDX-License-Identifier: Apache-2.0
"""Runs code that says it comes from the files and lines named on the command line.

Each FILE:LINE is a function with that co_filename, at that line. They call each
other, so that every stack has all of them, and take turns as the innermost.
Ends with its standard input, or after --seconds.

--chroot and --drop: another root, and another user and group without further
groups, once all of them are compiled; --drop-after: so long after `ready`.
--fsuid: another user for files alone, in setfsuid(2)'s way. --lease: holds a lease on the file, which
an open(2) by anybody else has to wait for. --library: the innermost function
spins in the shared library's pretender_spin(); --unlink: which has no name any
more. --generated: it spins in memory that no file is mapped to.
"""
import argparse
import ctypes
import fcntl
import mmap
import os
import select
import signal
import sys
import time

import support

# One line of it is all there is: the line number is that of the whole function.
TEXT = "def pretended_%d(rest): return rest[0](rest[1:]) if rest else innermost(work)"

# mov ecx, edi; again: dec ecx; jnz again; ret
CODE = bytes.fromhex("89f9 ffc9 75fc c3")


def compiled(places, innermost, work):
    functions = []
    for number, place in enumerate(places):
        path, line = place.rsplit(":", 1)
        names = {"innermost": innermost, "work": work}
        exec(compile("\n" * (int(line) - 1) + TEXT % number, path, "exec"), names)  # pylint: disable=exec-used
        functions.append(names["pretended_%d" % number])
    return functions


def library_loop(path, unlink):
    spin = ctypes.CDLL(path).pretender_spin
    if unlink:
        os.unlink(path)
    return spin


def generated_loop():
    memory = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    memory.write(CODE)
    loop = ctypes.CFUNCTYPE(None, ctypes.c_uint32)(ctypes.addressof(ctypes.c_char.from_buffer(memory)))
    loop.memory = memory  # lives as long
    return loop


def drop(user):
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=0)
    parser.add_argument("--chroot")
    parser.add_argument("--drop", type=int)
    parser.add_argument("--drop-after", type=float, default=0)
    parser.add_argument("--fsuid", type=int)
    parser.add_argument("--lease")
    parser.add_argument("--library")
    parser.add_argument("--unlink", action="store_true")
    parser.add_argument("--generated", action="store_true")
    parser.add_argument("places", nargs="*", metavar="FILE:LINE")
    arguments = parser.parse_args()
    # A builtin: the file and line that time is charged to are the pretended ones.
    innermost, work = sum, range(400000)
    if arguments.library:
        innermost, work = library_loop(arguments.library, arguments.unlink), 2000000
    if arguments.generated:
        innermost, work = generated_loop(), 2000000
    functions = compiled(arguments.places, innermost, work)
    if arguments.lease:
        # What tells the holder of a lease that somebody wants the file would end it.
        signal.signal(signal.SIGIO, signal.SIG_IGN)
        file = os.open(arguments.lease, os.O_RDWR)
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
    if arguments.chroot:
        os.chroot(arguments.chroot)
        os.chdir("/")
    if arguments.fsuid is not None:
        ctypes.CDLL(None).setfsuid(arguments.fsuid)
    drop_at = time.monotonic() + arguments.drop_after
    if arguments.drop is not None and not arguments.drop_after:
        drop(arguments.drop)
    support.ready()
    end = time.monotonic() + (arguments.seconds or 300)
    while time.monotonic() < end and (arguments.seconds or not select.select([sys.stdin], [], [], 0)[0]):
        functions = functions[1:] + functions[:1]
        functions[0](functions[1:])
        if arguments.drop_after and time.monotonic() > drop_at:
            arguments.drop_after = 0
            drop(arguments.drop)
    support.finish("pretender", [])


main()
