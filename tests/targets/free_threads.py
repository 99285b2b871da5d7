# SPDX-License-Identifier: Apache-2.0
"""
Threads that compute beside each other, in functions of their own and in one that they share, and threads that wait
in the middle of it. Says of each that waits where it does, a line of JSON, before it is ready.
"""
import json
import sys
import threading
import time
import traceback

import support

over = threading.Event()
stacks = {}


def shared(n):
    x = 0
    for i in range(n):
        x += i * i % 7  # shared
    return x


def items(n):
    for i in range(n):
        yield shared(50) + i


class Work:
    def one(self):
        while not over.is_set():
            shared(5000)

    def two(self):
        x = 1
        while not over.is_set():
            for i in range(5000):
                x = x * 3 % 1000003  # two
            sum(items(20))


def wait_here(depth):
    """Specialised by then, in this thread's copy of the bytecode, where there is one."""
    shared(20000)
    if depth:
        return wait_here(depth - 1) + 1
    name = threading.current_thread().name
    stacks[name] = [[frame.name, frame.lineno] for frame in traceback.extract_stack()]; over.wait()  # noqa: E702
    return 0


def wait_in_generator():
    for depth in (1, 2):
        yield wait_here(depth) if depth == 2 else depth


def main():
    work = Work()
    waits = {"deep": lambda: wait_here(5), "generator": lambda: sum(wait_in_generator()), "plain": lambda: wait_here(0)}
    threads = [threading.Thread(target=function, name=function.__name__) for function in (work.one, work.two)]
    threads += [threading.Thread(target=function, name=name) for name, function in waits.items()]
    for thread in threads:
        thread.start()
    while len(stacks) < len(waits):
        time.sleep(0.01)
    support.ready()
    print(json.dumps(stacks), flush=True)
    sys.stdin.read()
    over.set()
    for thread in threads:
        thread.join()
    support.finish("free_threads", [])


main()
