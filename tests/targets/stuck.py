#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An event loop that a call blocks, threads without work, and one that waits for a client.

    stuck.py [uvloop]

The loop is asyncio's, or uvloop's. Ends when its standard input does.
"""
import asyncio
import concurrent.futures
import os
import queue
import socket
import sys
import threading
import time

from support import ready


def slow_call():
    time.sleep(0.1)  # blocks the loop


async def handle():
    while True:
        slow_call()
        await asyncio.sleep(0.05)


def serve_loop():
    if "uvloop" in sys.argv:
        import uvloop
        loop = uvloop.new_event_loop()
    else:
        loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    loop.run_until_complete(handle())


def consume(work=queue.Queue()):
    work.get()  # has no work


def accept(listener=socket.socket()):
    listener.bind(("127.0.0.1", 0))
    listener.listen(1)
    listener.accept()  # has no client


def receive(pair=socket.socketpair()):
    pair[0].recv(1)  # waits for input


def main():
    pool = concurrent.futures.ThreadPoolExecutor(3)
    list(pool.map(time.sleep, [0.1] * 3))
    for function in (serve_loop, consume, accept, receive):
        threading.Thread(target=function, name=function.__name__, daemon=True).start()
    time.sleep(0.3)
    ready()
    sys.stdin.readline()
    print("ok stuck", flush=True)
    os._exit(0)


if __name__ == "__main__":
    main()
