# SPDX-License-Identifier: Apache-2.0
"""Python functions that are entered and left in all ways there are, and when: printed as JSON.

It says "ready", waits for a line, calls its functions, prints what they noted, and waits for another line. Notes are of
a name, a thread, and two times between which the function ran and had not been left.
"""
import asyncio
import contextlib
import ctypes
import json
import sys
import threading
import time

try:
    now = time.perf_counter_ns
except AttributeError:  # 3.6

    def now():
        return int(time.perf_counter() * 1e9)

try:
    me = threading.get_native_id
except AttributeError:  # 3.6, 3.7

    def me(gettid=ctypes.CDLL(None).syscall):
        return gettid(186)

notes = []
note = notes.append


def plain(count):
    begin = now()
    total = 0
    for i in range(count):
        total += i
    note(("plain", me(), begin, now()))
    return total


def recursive(depth):
    begin = now()
    if depth:
        recursive(depth - 1)
    note(("recursive", me(), begin, now()))


def raising(depth):
    begin = now()
    plain(20)
    if depth:
        note(("raising", me(), begin, now()))
        raising(depth - 1)
    note(("raising", me(), begin, now()))
    raise KeyError(depth)


def cleaning():
    begin = now()
    try:
        raising(0)
    finally:
        plain(50)
        note(("cleaning", me(), begin, now()))


def catching():
    begin = now()
    for depth in range(2):
        try:
            raising(depth)
        except KeyError:
            plain(30)
    try:
        cleaning()
    except KeyError:
        pass
    time.sleep(0.0002)
    note(("catching", me(), begin, now()))


class Odd:
    """Whose methods are called from C, where their exceptions end."""

    def __getattr__(self, name):
        begin = now()
        note(("Odd.__getattr__", me(), begin, now()))
        raise AttributeError(name)

    def __lt__(self, other):
        begin = now()
        plain(5)
        note(("Odd.__lt__", me(), begin, now()))
        return False

    def __del__(self):
        begin = now()
        note(("Odd.__del__", me(), begin, now()))


def called_from_c():
    begin = now()
    odds = [Odd(), Odd(), Odd()]
    for odd in odds:
        hasattr(odd, "absent")
    time.sleep(0.0002)
    sorted(odds)
    list(map(plain, (3, 4)))
    note(("called_from_c", me(), begin, now()))


def generator(count):
    begin = now()
    for i in range(count):
        plain(2)
        note(("generator", me(), begin, now()))
        yield i
        begin = now()
    note(("generator", me(), begin, now()))


def delegating(count):
    begin = now()
    note(("delegating", me(), begin, now()))
    yield from generator(count)
    begin = now()
    note(("delegating", me(), begin, now()))


@contextlib.contextmanager
def managed():
    begin = now()
    try:
        note(("managed", me(), begin, now()))
        yield
    finally:
        begin = now()
        plain(3)
        note(("managed", me(), begin, now()))


def generating():
    begin = now()
    for _ in generator(3):
        plain(4)
    left = generator(5)
    next(left)
    left.close()
    with contextlib.suppress(KeyError), managed():
        raising(0)
    note(("generating", me(), begin, now()))


async def awaited(count):
    begin = now()
    plain(count)
    note(("awaited", me(), begin, now()))
    await asyncio.sleep(0)
    begin = now()
    plain(count)
    note(("awaited", me(), begin, now()))
    if count == 7:
        raise KeyError(count)


async def awaiting():
    begin = now()
    plain(6)
    note(("awaiting", me(), begin, now()))
    await asyncio.gather(awaited(5), awaited(7), return_exceptions=True)


def all_of_them():
    begin = now()
    plain(1000)
    recursive(20)
    catching()
    called_from_c()
    generating()
    list(delegating(2))
    note(("all_of_them", me(), begin, now()))


def main():
    print("ready", flush=True)
    sys.stdin.readline()
    threads = [threading.Thread(target=all_of_them) for _ in range(3)]
    for thread in threads:
        thread.start()
    all_of_them()
    # By then a tracer has said which functions it wants.
    time.sleep(0.05)
    for _ in range(4):
        all_of_them()
    asyncio.new_event_loop().run_until_complete(awaiting())
    for thread in threads:
        thread.join()
    print(json.dumps(notes), flush=True)
    sys.stdin.readline()


main()
