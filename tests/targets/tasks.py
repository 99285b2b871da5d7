#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tasks of asyncio's that wait for one another, in a thread; with --spin one of them runs for ever.

Ends when its standard input does.
"""
import asyncio
import os
import sys
import threading
import time

from support import ready


async def sleep():
    await asyncio.sleep(3600)  # sleeps


async def wait_for_task(task):
    await task  # waits for a task


async def inner(event):
    await event.wait()  # waits for an event


async def outer(event):
    await inner(event)  # waits for inner


async def end():
    return 1


async def spin():
    while True:
        sum(range(1000))  # spins


async def run_spin():
    await spin()  # runs spin


async def main():
    loop = asyncio.get_event_loop()
    tasks = []

    def start(coroutine, name):
        tasks.append(loop.create_task(coroutine))
        if hasattr(tasks[-1], "set_name"):
            tasks[-1].set_name(name)
        return tasks[-1]

    start(wait_for_task(start(sleep(), "sleeper")), "waiter")
    start(outer(asyncio.Event()), "outer")
    start(end(), "ended")
    await asyncio.sleep(0.1)
    if "--spin" in sys.argv:
        start(run_spin(), "spinner")
    await asyncio.sleep(3600)  # main sleeps


def run():
    asyncio.set_event_loop(asyncio.new_event_loop())
    asyncio.get_event_loop().run_until_complete(main())


if __name__ == "__main__":
    threading.Thread(target=run, name="loop", daemon=True).start()
    time.sleep(0.5)
    ready()
    sys.stdin.read()
    print("ok tasks", flush=True)
    os._exit(0)
